"""How a person uses the pages: wait until a notebook can run, run it, open a tab of the explorer, click."""

from __future__ import annotations

import re
from contextlib import suppress

from playwright.sync_api import expect


def open_notebook(watched, url):
    """Open a notebook and wait for its kernel: a cell run before is dropped without a word."""
    page = watched.page
    page.goto(url)
    name = page.locator(".jp-KernelName").first
    expect(name).to_be_visible(timeout=90_000)
    expect(name).not_to_have_text(re.compile("No Kernel"), timeout=90_000)
    wait_idle(page)
    return page


def wait_idle(page):
    """Wait until the kernel has nothing to do."""
    page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first.wait_for(timeout=120_000)


def run_all(page):
    """Choose Run > Run All Cells, and wait until the last cell has a number."""
    first, last = (page.locator(".jp-CodeCell .jp-InputPrompt").nth(place) for place in (0, -1))
    for _ in range(5):  # a front end drops it, without a word, while its kernel is not quite there
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name=re.compile("Run All Cells")).first.click()
        with suppress(AssertionError):
            expect(first).to_have_text(re.compile(r"\[[*\d]+\]:"), timeout=10_000)
            break
    expect(last).to_have_text(re.compile(r"\[\d+\]:"), timeout=120_000)
    wait_idle(page)


def shut_down(page, sessions):
    """End every kernel, so that the next test begins with a new one."""
    for session in page.request.get(sessions).json():
        page.request.delete(sessions.replace("?", f"/{session['id']}?"))


def theme(page, name):
    """Choose a theme of JupyterLab or Notebook 7."""
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^JupyterLab {name}$")).click()
    light = "true" if name == "Light" else "false"
    page.locator(f'body[data-jp-theme-light="{light}"]').wait_for(state="attached")


def button(page, text):
    """Return a button of the explorer."""
    return page.locator("button.jupyter-button", has_text=text)


def tab(page, name):
    """Open a tab of the explorer."""
    page.locator(".lm-TabBar-tab, .p-TabBar-tab", has_text=name).click()


def write(page, text):
    """Write a message into the explorer."""
    page.locator(".widget-textarea textarea").fill(text)


def pane(page):
    """Return what the open tab holds."""
    return page.locator(".widget-tab .widget-html-content:visible").first

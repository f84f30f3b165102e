"""The tutorials, the views and the explorer in JupyterLab 4 and Notebook 7."""

from __future__ import annotations

import re

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.notebooks import VIEWS_SHOWN
from tests.browser.pages import (
    button,
    open_notebook,
    pane,
    run_all,
    shut_down,
    tab,
    theme,
    wait_idle,
    write,
)
from tests.browser.servers import ROOT

FRONT_ENDS = {"lab": "lab/tree/{}?reset", "notebook": "notebooks/{}"}
TUTORIALS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=FRONT_ENDS)
def opened(request, watched, address):
    """Open a notebook in one of the front ends; when the test is over, ask whether the page behaved."""

    def open_one(name):
        return open_notebook(watched, address(FRONT_ENDS[request.param].format(name)))

    open_one.name = request.param
    yield open_one
    shut_down(watched.page, address("api/sessions"))
    assert watched.page.evaluate("window.pwned") is None, "a script in somebody's data has run"
    assert watched.abroad == []
    assert watched.ours() == []


@pytest.mark.parametrize("tutorial", TUTORIALS)
def test_every_tutorial_runs_in_the_browser(tutorial, opened):
    saved = nbformat.read(ROOT / "notebooks" / tutorial, as_version=4)
    meant = [
        out.ename for cell in saved.cells for out in cell.get("outputs", []) if out.output_type == "error"
    ]
    page = opened(tutorial)
    run_all(page)
    errors = page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"]')
    assert errors.count() == len(meant)
    for place, name in enumerate(meant):
        expect(errors.nth(place)).to_contain_text(name)


def test_every_view_is_drawn_in_light_and_dark(opened, picture):
    page = opened("views.ipynb")
    run_all(page)
    html = '.jp-OutputArea-output[data-mime-type="text/html"]'
    outputs = page.locator(".jp-CodeCell").last.locator(html)
    assert page.locator(html).count() == 2 * len(VIEWS_SHOWN)
    assert page.locator(html).locator("script, svg, img, a").count() == 0
    assert outputs.count() == len(VIEWS_SHOWN)
    for name in ("Light", "Dark"):
        theme(page, name)
        for place, view in enumerate(VIEWS_SHOWN):
            picture(outputs.nth(place), f"{view}-{opened.name}-{name.lower()}")
    theme(page, "Light")


def test_the_explorer_composes_and_switches_tabs(opened, picture):
    page = opened("explorer.ipynb")
    run_all(page)
    expect(page.get_by_text("WEATHER").first).to_be_visible()
    write(page, "hello, nothing else")
    button(page, "Compose").click()
    expect(page.locator(".widget-dropdown select").first).to_contain_text("2: hello, nothing else")
    for name, held in (
        ("Text", "They said: hello"),
        ("Values", "place"),
        ("Data", "GREETING"),
        ("Timeline", "GREETING"),
        ("Compare", "WEATHER"),
        ("Why", "no keyword in message"),
    ):
        tab(page, name)
        expect(pane(page)).to_contain_text(held)
    write(page, "will it rain tomorrow?")
    button(page, "Compose").click()
    expect(page.locator(".widget-dropdown select").first).to_contain_text("3: will it rain tomorrow?")
    whole = page.locator(".widget-vbox").first
    for name in ("Light", "Dark"):
        theme(page, name)
        picture(whole, f"explorer-{opened.name}-{name.lower()}")
    theme(page, "Light")


def test_cancel_stays_alive_while_a_provider_runs(opened):
    page = opened("explorer.ipynb")
    run_all(page)
    write(page, "take it slow")
    button(page, "Compose").click()
    expect(page.get_by_text("Composing …")).to_be_visible()
    expect(button(page, "Compose")).to_be_disabled()
    button(page, "Cancel").click()
    expect(page.get_by_text("Cancelled; every provider was stopped.")).to_be_visible()
    expect(button(page, "Compose")).to_be_enabled()
    write(page, "will it rain again?")
    button(page, "Compose").click()
    expect(page.locator(".widget-dropdown select").first).to_contain_text("2: will it rain again?")


def test_a_provider_is_left_out_at_a_click(opened):
    page = opened("explorer.ipynb")
    run_all(page)
    tab(page, "Text")
    expect(pane(page)).to_contain_text("Rain until noon")
    page.locator(".widget-checkbox", has_text="WEATHER").locator("input").uncheck()
    expect(pane(page)).not_to_contain_text("Rain until noon")
    tab(page, "Compare")
    expect(pane(page)).to_contain_text(re.compile("WEATHER"))


def test_hostile_text_does_nothing_in_any_tab(opened):
    page = opened("explorer.ipynb")
    run_all(page)
    write(page, "something hostile <img src=x onerror='window.pwned=9'>")
    button(page, "Compose").click()
    expect(page.locator(".widget-dropdown select").first).to_contain_text("2: something hostile")
    for name in ("Text", "Values", "Data", "Timeline", "Compare", "Why"):
        tab(page, name)
        expect(pane(page)).to_contain_text("HOSTILE")
        assert pane(page).locator("script, svg, img, a").count() == 0
    wait_idle(page)

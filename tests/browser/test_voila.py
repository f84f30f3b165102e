"""The explorer as a page of its own, in Voila."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.pages import button, pane, tab, write
from tests.browser.servers import voila


def test_the_explorer_composes_in_voila(watched, notebooks, tmp_path, picture):
    with voila(tmp_path, notebooks / "explorer.ipynb") as here:
        page = watched.page
        page.goto(here)
        expect(button(page, "Compose")).to_be_visible(timeout=120_000)
        write(page, "hello there")
        button(page, "Compose").click()
        expect(page.locator(".widget-dropdown select").first).to_contain_text("2: hello there")
        tab(page, "Text")
        expect(pane(page)).to_contain_text("They said: hello there")
        picture(page.locator(".widget-vbox").first, "explorer-voila")
        assert page.evaluate("window.pwned") is None

"""A real browser, and pages that tell when one of them misbehaved."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.notebooks import write_notebooks
from tests.browser.servers import ROOT, jupyter

PICTURES = Path(os.environ.get("AGENTCTX_PICTURES", ROOT / "build" / "pictures"))
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
]  # fmt: skip
# What front ends say in the console by themselves, with none of our outputs on the page.
NOT_OURS = (
    "schema", "favicon", "require.js", "service-worker", "Content Security Policy", "deprecated", "not registered",
    "woff2",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "tests/browser needs a Chromium (Debian, Ubuntu: apt install chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project") / "notebooks"
    write_notebooks(folder)
    return folder


@pytest.fixture(scope="session")
def address(tmp_path_factory, notebooks):
    with jupyter(tmp_path_factory.mktemp("jupyter"), notebooks) as address:
        yield address


class Watched:
    """A page, what it asked of other machines, and what it complained of."""

    def __init__(self, page):
        self.page = page
        self.abroad = []
        self.complaints = []
        page.on("request", self._asked)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _asked(self, request):
        url = urlsplit(request.url)
        if url.scheme not in {"data", "blob", "about"} and url.hostname != "127.0.0.1":
            self.abroad.append(request.url)

    def _said(self, message):
        if message.type == "error":
            self.complaints.append(f"{message.text} {message.location.get('url', '')}")

    def ours(self):
        return [said for said in self.complaints if not any(word in said for word in NOT_OURS)]


@pytest.fixture
def watched(browser, request):
    context = browser.new_context(viewport={"width": 1400, "height": 1900})
    context.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)
    watched = Watched(context.new_page())
    yield watched
    PICTURES.mkdir(parents=True, exist_ok=True)
    name = request.node.name.replace("[", "-").replace("]", "").removeprefix("test_")
    watched.page.screenshot(path=PICTURES / f"end-{name}.png")
    context.close()


@pytest.fixture
def picture():
    """Save what a locator shows under a name, and return where."""

    def take(locator, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        locator.screenshot(path=path)
        assert path.stat().st_size > 5_000, "an empty picture"
        return path

    return take

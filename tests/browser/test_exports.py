"""A saved tutorial shows the same facts wherever it is read: converted to HTML, to Markdown, and as plain text."""

from __future__ import annotations

import re
from html import unescape

import nbformat
import pytest
from nbconvert import HTMLExporter, MarkdownExporter

from tests.browser.servers import ROOT

FACTS = [
    "Storm from the west, gusts of 72 km/h.",
    "ConnectionError: the timetable does not answer",
    "keyword 'storm'",
    "skipped: dynamic, no keyword",
    "54.5",
    "hours",
    "place",
    "Bergen",
]


@pytest.fixture(scope="module")
def saved():
    return nbformat.read(ROOT / "notebooks" / "05_inspecting_a_state.ipynb", as_version=4)


def words(markup):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", markup)))


@pytest.mark.parametrize("exporter", [HTMLExporter, MarkdownExporter])
def test_a_converted_page_shows_every_fact(saved, exporter):
    page, _ = exporter().from_notebook_node(saved)
    shown = words(page)
    assert [fact for fact in FACTS if fact not in shown] == []


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown", "text/html"])
def test_each_form_of_the_saved_outputs_shows_every_fact(saved, kind):
    outputs = [output for cell in saved.cells for output in cell.get("outputs", [])]
    shown = words(" ".join(output["data"].get(kind, "") for output in outputs if "data" in output))
    assert [fact for fact in FACTS if fact not in shown.replace("\\", "")] == []


def test_a_page_for_people_who_trust_nothing_keeps_the_tables(saved):
    page, _ = HTMLExporter(sanitize_html=True).from_notebook_node(saved)
    assert "<table" in page
    assert "Storm from the west" in words(page)

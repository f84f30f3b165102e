from __future__ import annotations

import sys

import pytest

from agentctx_nb.errors import DefinitionError, MissingExtraError
from agentctx_nb.render.table import Table
from tests.hostile import LARGEST, MASKED, SECRET, VALUES, doubling, mask, problems

WEATHER = Table(("provider", "chars", "note"), [("WEATHER", 41, ""), ("FACTS", 7, "old")], title="Providers")


@pytest.mark.parametrize("label", VALUES)
def test_any_value_in_any_place_is_harmless_in_every_form(label):
    value = VALUES[label]()
    text = value if type(value) is str else label
    table = Table(
        ("key", text[:200] + " ", "value"),
        [("a", 1, value), (value, 2.5, "b")],
        title=text,
        note=text,
        mask=mask,
    )
    bundle = table._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    assert {kind: problems(form, kind) for kind, form in bundle.items()} == {kind: [] for kind in bundle}
    assert sum(len(form.encode()) for form in bundle.values()) < LARGEST
    again = Table(table.columns, table.rows, title=text, note=text, mask=mask)
    assert again._repr_mimebundle_() == bundle


def test_a_value_that_doubles_at_each_level_is_copied_once_a_level():
    table = Table(("value",), [(doubling(),)], mask=mask)
    copied = table[0]["value"]  # its repr would take for ever, in Python itself
    assert copied[0] is copied[1]


@pytest.mark.parametrize("label", [label for label in VALUES if label != "doubling"])
def test_rows_read_back_hold_no_secret(label):
    value = VALUES[label]()
    table = Table(("value",), [(value,)], mask=mask)
    assert SECRET not in str(table[0])
    assert SECRET not in str(list(table))
    assert SECRET not in table.to_frame().to_string()


def test_numbers_are_aligned_right_and_words_left():
    assert WEATHER.to_text() == (
        "Providers\n"
        "provider  chars  note\n"
        "────────  ─────  ────\n"
        "WEATHER      41\n"
        "FACTS         7  old"
    )  # fmt: skip
    assert "| --- | ---: | --- |" in WEATHER.to_markdown()
    assert "text-align: right" in WEATHER.to_html()


def test_a_table_is_read_like_a_list_of_dicts():
    assert len(WEATHER) == 2
    assert WEATHER[0] == {"provider": "WEATHER", "chars": 41, "note": ""}
    assert [row["provider"] for row in WEATHER] == ["WEATHER", "FACTS"]
    assert [row["provider"] for row in WEATHER[1:]] == ["FACTS"]
    with pytest.raises(IndexError):
        WEATHER[2]


def test_what_is_read_back_keeps_its_shape():
    table = Table(("value",), [({"n": [1, (2, "x " + SECRET)], "s": {"a"}},)], mask=mask)
    assert table[0]["value"] == {"n": [1, (2, "x " + MASKED)], "s": {"a"}}
    assert table.rows[0][0]["n"][1][1] == "x " + SECRET  # the raw value is for code and stays as it was


def test_a_long_name_of_a_provider_is_cut_in_its_middle():
    table = Table(("provider", "chars"), [("START_" + "x" * 90 + "_END", 1), ("w" * 32, 2)])
    for form in (table.to_text(), table.to_markdown(), table.to_html()):
        assert f"START_{'x' * 10}…{'x' * 11}_END" in form
        assert "w" * 32 in form
    assert table.to_text(width=22).splitlines()[2] == "START_x…xxx_END      1"
    assert table.to_frame().index[0].endswith("_END")


def test_headings_are_words_and_code_keeps_its_names():
    table = Table(("ms_before", "ms_after"), [(1, 2)])
    assert table.to_text().startswith("ms before  ms after")
    assert table[0] == {"ms_before": 1, "ms_after": 2}
    assert list(table.to_frame()) == ["ms_before", "ms_after"]


def test_a_table_that_is_cut_says_so_and_where_all_of_it_is():
    table = Table(("n", "x"), [(n, "y") for n in range(1_340)], note="sorted by n")
    for form in (table.to_text(), table.to_markdown(), table.to_html()):
        assert "showing 100 of 1,340 rows; .to_frame() has all; sorted by n" in form
    assert len(table.to_frame()) == 1_340


def test_columns_beyond_the_limit_are_counted():
    table = Table([f"c{n}" for n in range(200)], [range(200)])
    assert "showing 30 of 200 columns" in table.to_html()
    assert "of 200 columns" in table.to_text()
    assert max(map(len, table.to_text(width=60).splitlines()[:-1])) <= 60


def test_rows_too_heavy_for_one_output_are_counted():
    table = Table(("a", "b", "c", "d"), [['"' * 120] * 4 for _ in range(100)])
    html = table.to_html()
    assert len(html.encode()) < 60_000
    assert "of 100 rows" in html
    assert html.count("<tr") - 1 == int(html.split("showing ")[1].split()[0])


def test_an_empty_table_says_that_it_is():
    table = Table(("provider", "kind"), [])
    for form in (table.to_text(), table.to_markdown(), table.to_html()):
        assert "no rows" in form
    assert list(table) == []
    assert len(table.to_frame()) == 0


def test_a_table_without_columns_shows_and_breaks_nothing():
    table = Table((), [])
    assert [problems(form, kind) for kind, form in table._repr_mimebundle_().items()] == [[], [], []]


def test_the_provider_is_the_index_of_the_frame_and_numbers_stay_numbers():
    frame = Table(("provider", "chars"), [("WEATHER", 41), ("OFF", "")]).to_frame()
    assert frame.index.name == "provider"
    assert frame.loc["WEATHER", "chars"] == 41
    assert frame["chars"].isna().tolist() == [False, True]


def test_only_the_forms_asked_for_are_given():
    assert list(WEATHER._repr_mimebundle_(include=["text/html"])) == ["text/html"]
    assert list(WEATHER._repr_mimebundle_(exclude=["text/html"])) == ["text/plain", "text/markdown"]


def test_without_pandas_the_frame_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        WEATHER.to_frame()


@pytest.mark.parametrize(
    ("columns", "rows", "said"),
    [
        (("a", "b"), [(1, 2), (1,)], "row 1 of the table has 1 values for 2 columns"),
        (("a", "a"), [], "repeat"),
    ],
)
def test_a_table_that_does_not_add_up_is_refused(columns, rows, said):
    with pytest.raises(DefinitionError, match=said):
        Table(columns, rows)


def test_two_tables_of_the_same_rows_are_equal_and_cannot_be_changed():
    assert Table(("a",), [(1,)]) == Table(["a"], [[1]], mask=mask)
    with pytest.raises(AttributeError):
        WEATHER.title = "x"


def test_names_keep_their_width_where_other_columns_can_be_cut():
    columns = ("provider", "kind", "position", "keywords", "after", "ttl", "version", "origin", "description")
    long = "a column that says more than fits"
    rows = [("RECENT_MESSAGES", "static, always runs", -1, long, long, 60, 12, "cell", long)]
    shown = Table(columns, rows).to_text(width=100)
    assert "RECENT_MESSAGES  " in shown
    assert max(map(len, shown.splitlines())) <= 100
    narrow = Table(columns, rows).to_text(width=40).splitlines()[:3]
    assert max(map(len, narrow)) <= 40
    assert len(narrow[0].split()) > 4  # the other columns are there still


def test_a_note_is_wrapped_and_not_cut():
    note = " ".join(f"word{n}" for n in range(40))
    shown = Table(("a",), [(1,)], note=note).to_text(width=20).splitlines()[3:]
    assert " ".join(shown) == note
    assert max(map(len, shown)) <= 80
    (cut,) = Table(("a",), [(1,)], note="x" * 90).to_text(width=20).splitlines()[3:]
    assert cut == "x" * 79 + "…"

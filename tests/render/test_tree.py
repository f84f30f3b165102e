"""The data tree: whatever a provider left is shown, folded, bounded, and nothing of the user's own is run."""

from __future__ import annotations

import dataclasses
import re
from collections import deque
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from agentctx_nb.provider import Provider
from agentctx_nb.render.tree import Tree
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.state import State
from tests.hostile import (
    MASKED,
    SECRET,
    SECRETS,
    TEXTS,
    VALUES,
    BadMapping,
    BrokenRepr,
    mask,
)
from tests.viewed import harmless


@pytest.fixture
def runtime():
    return AgentRuntime(secrets={f"KEY{n}": secret for n, secret in enumerate(SECRETS)})


def returning(result):
    return lambda: result


def composed(runtime, **data):
    for name, held in data.items():
        runtime.register_provider(Provider(name, returning({"data": held})))
    return runtime.compose("hi")


def lines(value):
    return Tree({"P": value}).to_text().splitlines()[2:]


def test_each_provider_says_what_came_of_it_and_what_it_holds(runtime):
    def bad():
        raise OSError("no answer")

    runtime.register_provider(Provider("BAD", bad))
    runtime.register_provider(Provider("QUIET", lambda: None))
    runtime.register_provider(Provider("TEXT", lambda: "only text"))
    state = composed(runtime, WEATHER={"temp": 72, "days": ["Mon", "Tue"]})
    assert state.data_tree().to_text().splitlines() == [
        "Data by provider",
        "BAD: failed: OSError: no answer",
        "QUIET: empty, no data",
        "TEXT: ok, no data",
        "WEATHER: ok, dict, 2 keys",
        "  temp: 72 (int)",
        "  days: list, 2 items",
        "    [0]: Mon (str)",
        "    [1]: Tue (str)",
    ]


def test_the_three_forms_hold_the_same_lines(runtime):
    state = composed(runtime, WEATHER={"now": {"temp": 72}, "odd": "a <b> & c"})
    bundle = state.data_tree()._repr_mimebundle_()
    for line in ("WEATHER:", "now:", "temp:", "72 (int)", "odd:"):
        assert all(line in form for form in bundle.values())
    assert "a &lt;b&gt; &amp; c (str)" in bundle["text/html"]


def test_html_folds_each_container_and_opens_the_first_level_alone(runtime):
    shown = composed(runtime, WEATHER={"now": {"temp": 72}}).data_tree().to_html()
    assert re.findall(r"<details [^>]*?(open=\"open\")?><summary [^>]*><strong>(\w+):", shown) == [
        ('open="open"', "WEATHER"), ("", "now"),
    ]  # fmt: skip


def test_keys_that_look_alike_are_told_apart_by_the_type_of_their_values():
    assert lines({"a": "2", "b": 2, "c": None, "d": b"xyz"}) == [
        "  a: 2 (str)", "  b: 2 (int)", "  c: None (NoneType)", "  d: (bytes, 3 bytes)",
    ]  # fmt: skip


def test_a_long_text_says_its_length():
    assert lines({"t": "x" * 5_000_000})[0].endswith("xx… (str, 5,000,000 characters)")


def test_plain_containers_of_any_kind_are_opened():
    held = {"deque": deque([1]), "proxy": MappingProxyType({"k": 1}), "set": {"b", "a"}, "tuple": (1,)}
    assert lines(held) == [
        "  deque: deque, 1 item", "    [0]: 1 (int)", "  proxy: mappingproxy, 1 key", "    k: 1 (int)",
        "  set: set, 2 items", "    • a (str)", "    • b (str)", "  tuple: tuple, 1 item", "    [0]: 1 (int)",
    ]  # fmt: skip


def test_a_subclass_is_read_past_what_it_overrides():
    assert lines({"bad": BadMapping(a=1)}) == ["  bad: BadMapping, 1 key", "    a: 1 (int)"]


def test_a_cycle_is_marked_and_a_thing_held_twice_is_not_one():
    around = {"n": 1}
    around["again"] = around
    shared = [1]
    assert lines(around) == ["  n: 1 (int)", "  again: dict, a cycle: it holds itself"]
    assert "cycle" not in "\n".join(lines({"a": shared, "b": shared}))


def test_frames_and_arrays_show_shape_types_and_a_few_cells():
    frame = pd.DataFrame({"city": ["Oslo"] * 1000, "temp": np.arange(1000) / 2})
    assert lines({"frame": frame}) == [
        "  frame: DataFrame, 1,000 rows × 2 columns",
        f"    city: Series, {frame['city'].dtype}, 1,000 rows",
        "      [0]: Oslo (str)", "      [1]: Oslo (str)", "      [2]: Oslo (str)", "      … 997 more",
        "    temp: Series, float64, 1,000 rows",
        "      [0]: 0.0 (float)", "      [1]: 0.5 (float)", "      [2]: 1.0 (float)", "      … 997 more",
    ]  # fmt: skip
    assert lines({"grid": np.zeros((2, 300))})[:2] == [
        "  grid: ndarray, float64, 2 × 300",
        "    [0, 0]: 0.0 (float)",
    ]


def test_objects_with_declared_fields_are_opened_and_what_is_kept_out_of_the_repr_stays_out():
    @dataclasses.dataclass
    class Place:
        name: str
        token: str = dataclasses.field(default="t0ken-value", repr=False)

        @property
        def country(self):
            raise RuntimeError("never read")

    @dataclasses.dataclass(slots=True)
    class Slotted:
        city: str

    assert lines({"place": Place("Oslo"), "slotted": Slotted("Bergen")}) == [
        "  place: Place, 1 field", "    name: Oslo (str)", "  slotted: Slotted, 1 field", "    city: Bergen (str)",
    ]  # fmt: skip


def test_no_code_of_an_object_runs_but_its_repr():
    ran = []

    class Watched:
        def __getattribute__(self, name):
            ran.append(name)
            return object.__getattribute__(self, name)

        def __iter__(self):
            ran.append("iter")
            return iter(())

        def __len__(self):
            ran.append("len")
            return 0

        def __eq__(self, other):
            ran.append("eq")
            return False

        __hash__ = None

        def __repr__(self):
            return "watched"

    assert lines({"w": Watched()}) == ["  w: watched (Watched)"]
    assert ran == []


def test_a_broken_repr_is_one_line_of_the_tree():
    assert lines({"x": BrokenRepr()}) == ["  x: <BrokenRepr: its repr raised RuntimeError> (BrokenRepr)"]


def test_width_and_depth_are_bounded_and_say_so():
    deep = {"level": {}}
    inside = deep["level"]
    for _ in range(20):
        inside["level"] = inside = {"n": 1}
    shown = lines({"wide": list(range(1000)), "deep": deep})
    assert "    … 975 more" in shown
    assert max(len(line) - len(line.lstrip()) for line in shown) <= 16


def test_a_large_provider_does_not_take_the_room_of_the_next(runtime):
    wide = {f"key{i}": {f"k{j}": "v" * 100 for j in range(25)} for i in range(25)}
    shown = composed(runtime, A={"first": 1}, B=wide, C={"last": 1}).data_tree().to_text()
    assert "first: 1 (int)" in shown
    assert "last: 1 (int)" in shown


def test_a_thousand_providers_and_ten_megabytes_are_bounded(runtime):
    data = {
        f"P{n}": {"rows": [{"n": i, "text": "x" * 100} for i in range(60)], "s": "y" * 4_000}
        for n in range(1_000)
    }
    state = composed(runtime, **data)
    harmless(state.data_tree())
    assert "showing 100 of 1,000 providers; state.data.providers has all" in state.data_tree().to_text()


def test_what_there_is_no_room_to_open_says_so(runtime):
    shown = lines({f"k{i}": {f"k{j}": {"n": "v" * 100} for j in range(25)} for i in range(25)})
    assert any(line.endswith("dict, 1 key, not opened") for line in shown)
    assert sum(line.strip().startswith("…") for line in shown) <= 26


def test_secrets_are_covered_in_keys_values_and_frames(runtime):
    tree = composed(runtime, A={SECRETS[1]: {"token": SECRET}, "held": [f"x{SECRETS[2]}y"]}).data_tree()
    harmless(tree)
    frame = tree.to_frame()
    assert not any(secret in text for secret in SECRETS for text in frame.astype(str).to_numpy().ravel())


def test_a_frame_has_a_row_for_each_leaf_with_its_path():
    frame = Tree({"P": {"now": {"temp": 72, 3: "x"}, "days": ["Mon"]}, "Q": {}}).to_frame()
    assert list(frame.itertuples(index=False, name=None)) == [
        ("P.now.temp", "int", 72), ("P.now[3]", "str", "x"), ("P.days[0]", "str", "Mon"), ("Q", "dict", {}),
    ]  # fmt: skip


def test_a_cycle_ends_in_a_frame_as_well():
    around = []
    around.append(around)
    assert list(Tree({"P": {"a": around}}).to_frame()["value"]) == ["<cycle>"]


@pytest.mark.parametrize("label", VALUES)
def test_a_tree_of_hostile_data_is_harmless(label):
    value = VALUES[label]()
    harmless(Tree({"PROVIDER": {"value": value, "list": [value], "again": value}}, {}, mask))
    frame = Tree({"PROVIDER": {"value": value}}, {}, mask).to_frame()
    assert len(frame) <= 10_000


@pytest.mark.parametrize("label", TEXTS)
def test_a_tree_of_hostile_names_is_harmless(runtime, label):
    text = TEXTS[label][:300]
    state = composed(runtime, **{text.strip() or "BLANK": {text: {text: text}}})
    runtime.register_provider(Provider("FAILS", lambda: 1 / 0))
    harmless(state.data_tree())


def test_data_its_owner_put_there_is_shown_as_it_is():
    harmless(State(data={"providers": BadMapping(a=1)}).data_tree())
    harmless(State(data={"providers": None}).data_tree())
    assert "X: dict, 1 key" in State(data={"providers": {"X": {"n": 1}}}).data_tree().to_text()
    assert State().data_tree().to_text() == "Data by provider\n(no provider ran)"


# What JupyterLab's sanitizer keeps in a notebook that is not trusted, of the properties used here.
_EMS = r"(0|\d*\.?\d+em)( (0|\d*\.?\d+em)){0,3}"
_KEPT = {
    "background-color": r"rgba\(\d{1,3}, \d{1,3}, \d{1,3}, 0\.\d+\)",
    "border": r"1px solid rgba\(128, 128, 128, 0\.\d+\)",
    "cursor": "pointer",
    "font-family": "monospace",
    "line-height": r"\d\.?\d*",
    "margin": _EMS,
    "overflow-wrap": "break-word",
    "padding": _EMS,
    "white-space": "pre-wrap",
}


def test_every_inline_style_survives_the_sanitizer_of_untrusted_notebooks(runtime):
    runtime.register_provider(Provider("TEXT", lambda: {"text": "some", "values": {"v": 1}}))
    state = composed(runtime, DATA={"a": {"b": 1}})
    maps = [state.source_map().to_html(), state.prompt("{{v}}").source_map().to_html()]
    shown = "".join([state.data_tree().to_html(), *[form.partition("<table")[0] for form in maps]])
    for style in re.findall(r'style="([^"]*)"', shown):
        for declaration in style.split("; "):
            name, _, value = declaration.partition(": ")
            assert name == "overflow-x" or re.fullmatch(_KEPT[name], value), declaration


def test_masks_come_before_cuts():
    assert MASKED in Tree({"P": {"t": "x" * 110 + SECRET}}, {}, mask).to_text()

"""Copies of plain containers: every container is new, every leaf is the very object."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pytest

from agentctx_nb.freeze import copy_containers, freeze


@dataclass
class Node:
    inner: object


class Rows(list):
    pass


class Pair(NamedTuple):
    left: list
    right: int


def nested():
    return {"rows": [1, {"deep": [2]}], "pair": ([3], "x"), "tags": {"a"}}


@pytest.mark.parametrize("copy", [copy_containers, freeze])
def test_a_copy_equals_what_it_was_made_of(copy):
    assert copy(nested()) == nested()


def test_edits_in_a_copy_reach_nothing_else():
    original = nested()
    copy = copy_containers(original)
    copy["rows"][1]["deep"].append(9)
    copy["pair"][0].append(9)
    copy["tags"].add("b")
    copy["new"] = 1
    assert original == nested()


def test_edits_in_the_original_reach_no_frozen_copy():
    original = nested()
    frozen = freeze(original)
    original["rows"][1]["deep"].append(9)
    original["tags"].add("b")
    assert frozen == nested()


@pytest.mark.parametrize("copy", [copy_containers, freeze])
def test_what_is_no_container_stays_the_very_object(copy):
    client, text = object(), "x" * 50
    copied = copy({"client": client, "rows": [client], "text": text})
    assert copied["client"] is client
    assert copied["rows"][0] is client
    assert copied["text"] is text


@pytest.mark.parametrize("copy", [copy_containers, freeze])
def test_a_container_that_holds_itself_is_copied_once(copy):
    around = {"name": "around"}
    around["self"] = around
    around["list"] = rows = [around]
    rows.append(rows)
    copied = copy(around)
    assert copied["self"] is copied
    assert copied["list"][0] is copied
    assert copied["list"][1] is copied["list"]
    assert copied is not around


@pytest.mark.parametrize("copy", [copy_containers, freeze])
def test_a_container_met_twice_stays_one(copy):
    row = [1]
    copied = copy({"a": row, "b": row})
    assert copied["a"] is copied["b"]
    assert copied["a"] is not row


EDITS = {
    "set item": lambda it: it.__setitem__("rows", 1),
    "delete item": lambda it: it.__delitem__("rows"),
    "update": lambda it: it.update(x=1),
    "in place or": lambda it: it.__ior__({"x": 1}),
    "pop": lambda it: it.pop("rows"),
    "popitem": lambda it: it.popitem(),
    "setdefault": lambda it: it.setdefault("x", 1),
    "clear": lambda it: it.clear(),
    "append": lambda it: it["rows"].append(1),
    "extend": lambda it: it["rows"].extend([1]),
    "insert": lambda it: it["rows"].insert(0, 1),
    "item of list": lambda it: it["rows"].__setitem__(0, 1),
    "slice": lambda it: it["rows"].__setitem__(slice(None), []),
    "delete of list": lambda it: it["rows"].__delitem__(0),
    "in place add": lambda it: it["rows"].__iadd__([1]),
    "in place multiply": lambda it: it["rows"].__imul__(2),
    "pop of list": lambda it: it["rows"].pop(),
    "remove": lambda it: it["rows"].remove(1),
    "reverse": lambda it: it["rows"].reverse(),
    "sort": lambda it: it["rows"].sort(),
    "clear of list": lambda it: it["rows"].clear(),
    "deep": lambda it: it["rows"][1]["deep"].append(1),
    "inside a tuple": lambda it: it["pair"][0].append(1),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_frozen_copy_refuses_every_edit_and_says_so(edit):
    frozen = freeze(nested())
    with pytest.raises(TypeError, match="read-only"):
        edit(frozen)
    assert frozen == nested()


def test_a_frozen_set_cannot_be_edited():
    with pytest.raises(AttributeError):
        freeze({"tags": {"a"}})["tags"].add("b")


def test_frozen_containers_still_are_dicts_and_lists():
    frozen = freeze(nested())
    assert isinstance(frozen, dict)
    assert isinstance(frozen["rows"], list)
    assert repr(frozen["rows"]) == repr(nested()["rows"])


def test_a_copy_of_a_frozen_copy_can_be_edited():
    thawed = copy_containers(freeze(nested()))
    thawed["rows"][1]["deep"].append(9)
    assert thawed["rows"][1]["deep"] == [2, 9]
    assert type(thawed) is dict


@pytest.mark.parametrize("made", [OrderedDict(a=[1]), defaultdict(list, a=[1])], ids=["ordered", "default"])
def test_kinds_of_dicts_are_frozen_as_dicts_are(made):
    frozen = freeze({"kind": made})
    with pytest.raises(TypeError, match="read-only"):
        frozen["kind"]["a"] = 2
    with pytest.raises(TypeError, match="read-only"):
        frozen["kind"]["a"].append(2)
    assert made == {"a": [1]}


@pytest.mark.parametrize("made", [OrderedDict(a=[1]), defaultdict(list, a=[1])], ids=["ordered", "default"])
def test_kinds_of_dicts_are_copied_as_dicts_are(made):
    copy = copy_containers({"kind": made})["kind"]
    copy["a"].append(2)
    copy["b"] = 1
    assert made == {"a": [1]}
    assert type(copy) is type(made)


def deep(make, depth=20_000):
    outer = inner = make(None)
    for _ in range(depth):
        inner = make(inner)
    return inner, outer


NESTS = {
    "dicts": lambda inner: {"in": inner},
    "lists": lambda inner: [inner],
    "deques": lambda inner: deque([inner]),
    "dataclasses": Node,
}


@pytest.mark.parametrize("copy", [copy_containers, freeze])
@pytest.mark.parametrize("make", NESTS.values(), ids=NESTS)
def test_no_depth_is_too_deep(copy, make):
    original, _ = deep(make)
    assert copy(original) is not original or (copy is freeze and make is Node)


def test_tuples_far_too_deep_inside_each_other_are_shared_from_there_on():
    original, _ = deep(lambda inner: (inner,))
    assert copy_containers(original) is original
    rows = [1]
    assert copy_containers(((((rows,),),),))[0][0][0][0] is not rows


class CopiesToFive(dict):
    def __copy__(self):
        return 5


class RefusesCopies(list):
    def __copy__(self):
        raise RuntimeError("no copies")


@pytest.mark.parametrize("made", [CopiesToFive(a=1), RefusesCopies([1])])
def test_what_will_not_be_copied_is_a_leaf(made):
    assert copy_containers([made])[0] is made


@dataclass
class Cached:
    rows: list

    @cached_property
    def count(self):
        return len(self.rows)


@dataclass(eq=False)
class Client:
    calls: list


@dataclass(frozen=True, slots=True)
class Point:
    where: list


def test_a_dataclass_is_copied_where_it_is_no_more_than_its_fields():
    point = Point([1])
    copied = copy_containers({"a": point, "b": point})
    assert copied["a"] == point
    assert copied["a"] is copied["b"]
    assert copied["a"].where is not point.where
    client, cached = Client([1]), Cached([1])
    assert cached.count == 1
    assert copy_containers([client, cached]) == [client, cached]
    assert copy_containers([client])[0] is client
    assert copy_containers([cached])[0] is cached


def test_a_namedtuple_and_a_kind_of_list_stay_what_they_are():
    pair, rows = Pair([1], 2), Rows([[1]])
    rows.name = "rows"
    copied = copy_containers([pair, rows])
    assert copied == [pair, rows]
    assert (type(copied[0]), type(copied[1]), copied[1].name) == (Pair, Rows, "rows")
    assert copied[0].left is not pair.left
    assert copied[1][0] is not rows[0]
    assert copy_containers([(1, "a")])[0] is not None


def test_a_frozen_deque_refuses_edits_and_reads_as_one():
    frozen = freeze([deque([1, [2]], 3)])[0]
    assert isinstance(frozen, deque)
    assert (list(frozen), frozen.maxlen) == ([1, [2]], 3)
    for edit in (frozen.append, frozen.appendleft, frozen.extend, frozen.remove, frozen.rotate):
        with pytest.raises(TypeError, match="read-only"):
            edit(1)
    with pytest.raises(TypeError, match="read-only"):
        frozen[1].append(3)

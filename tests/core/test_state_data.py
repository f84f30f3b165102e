"""Reading what providers left: safe chains, KeyErrors, the very objects."""

from __future__ import annotations

import copy
import pickle

import pytest

from agentctx_nb import Entity
from agentctx_nb.views import MISSING, View


def register(runtime, name, result, **fields):
    async def get():
        if isinstance(result, Exception):
            raise result
        return result

    runtime.register_provider({"name": name, "get": get, **fields})


@pytest.fixture
def state(runtime):
    register(
        runtime,
        "PROFILE",
        {"text": "p", "data": {"user": {"name": "Ada", "city": None}, "n": 0, "rows": [1]}},
    )
    register(runtime, "EMPTY", None)
    register(runtime, "BAD", ValueError("broken"))
    register(runtime, "ASLEEP", "zzz", dynamic=True)
    return runtime.compose("hi")


def test_a_provider_is_read_by_key_and_by_attribute(state):
    for entry in (
        state.data.providers["PROFILE"],
        state.data.providers.PROFILE,
        state.data["providers"]["PROFILE"],
    ):
        assert entry.text == entry["text"] == "p"
        assert entry.values == entry["values"] == {}
        assert entry.data == entry["data"]
        assert entry.data.user.name == "Ada"
        assert entry.data["user"]["name"] == "Ada"
        assert (entry.data.n, entry.data.rows) == (0, [1])
    with pytest.raises(KeyError):
        state.data.providers.PROFILE["txt"]


CHAINS = {
    "not run": lambda s: s.data.providers.NOT_RUN,
    "not run data": lambda s: s.data.providers.NOT_RUN.data.anything,
    "not run deep": lambda s: s.data.providers.NOT_RUN.data.any.thing.at.all,
    "not run text": lambda s: s.data.providers.NOT_RUN.text,
    "not run values": lambda s: s.data.providers.NOT_RUN.values.x,
    "not run outcome": lambda s: s.data.providers.NOT_RUN.outcome,
    "asleep": lambda s: s.data.providers.ASLEEP.data.x,
    "asleep text": lambda s: s.data.providers.ASLEEP.text,
    "failed": lambda s: s.data.providers.BAD.data.x.y,
    "empty": lambda s: s.data.providers.EMPTY.data.x.y,
    "a key of the data": lambda s: s.data.providers.PROFILE.data.absent.deep,
    "a key of a dict in it": lambda s: s.data.providers.PROFILE.data.user.absent.deep,
    "past a None": lambda s: s.data.providers.PROFILE.data.user.city.zip,
    "a value": lambda s: s.data.providers.PROFILE.values.absent.deep,
    "a field entries have not": lambda s: s.data.providers.PROFILE.datum.deep,
    "another part of the data": lambda s: s.data.actions.x.y,
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS.keys())
def test_a_chain_to_what_is_not_there_is_missing_all_the_way(state, chain):
    found = chain(state)
    assert found == None  # noqa: E711  the way a chain's end is compared
    assert not found
    assert f"[{found}{found:>5}{found:.2f}]" == "[]"
    assert (found or "UTC") == "UTC"
    assert found.more.and_more == None  # noqa: E711
    assert len(found) == 0
    assert list(found) == []
    assert "x" not in found
    assert found.get("x", 7) == 7
    with pytest.raises(KeyError):
        found["x"]


def test_the_chain_of_the_reference_page_works(runtime):
    register(runtime, "USER_PREFERENCES", {"data": {"preferences": {"timezone": "Europe/Oslo"}}})
    state = runtime.compose("hi")
    preferences = state.data.providers.USER_PREFERENCES.data.preferences
    assert (preferences.timezone or "UTC") == "Europe/Oslo"
    assert (preferences.language or "en") == "en"
    runtime.unregister_provider("USER_PREFERENCES")
    preferences = runtime.compose("hi").data.providers.USER_PREFERENCES.data.preferences
    assert (preferences.timezone or "UTC") == "UTC"


@pytest.mark.parametrize(
    "read",
    [
        lambda s: s.data.providers["NOT_RUN"],
        lambda s: s.data.providers["ASLEEP"],
        lambda s: s.data["nothing"],
        lambda s: s.data.providers.PROFILE.data["absent"],
        lambda s: s.data.providers.PROFILE.data.user["absent"],
        lambda s: s.data.providers.NOT_RUN.data["x"],
        lambda s: s.values["absent"],
        lambda s: s.errors["PROFILE"],
        lambda s: s.report["NOT_RUN"],
    ],
)
def test_a_key_in_brackets_that_is_not_there_raises_key_error(state, read):
    with pytest.raises(KeyError):
        read(state)


def test_providers_are_a_mapping_of_those_that_ran(state):
    providers = state.data.providers
    assert list(providers) == ["PROFILE", "EMPTY", "BAD"]
    assert len(providers) == 3
    assert "PROFILE" in providers
    assert "ASLEEP" not in providers
    assert providers.get("PROFILE").text == "p"
    assert providers.get("ASLEEP") is None
    assert providers.get("ASLEEP", "x") == "x"
    assert [name for name, entry in providers.items() if entry.outcome == "ok"] == ["PROFILE"]


def test_the_order_lists_every_name_that_ran_failed_or_not_in_text_order(runtime):
    register(runtime, "B", "b")
    register(runtime, "BAD", ValueError("broken"), position=-1)
    register(runtime, "ASLEEP", "z", dynamic=True)
    register(runtime, "A", None, position=-2)
    assert runtime.compose("hi").data.provider_order == ["A", "BAD", "B"]


def test_an_entry_tells_outcome_and_error_and_a_failed_one_is_empty(state):
    providers = state.data.providers
    assert (providers.PROFILE.outcome, providers.PROFILE.error) == ("ok", None)
    assert (providers.EMPTY.outcome, providers.EMPTY.error) == ("empty", None)
    bad = providers.BAD
    assert (bad.outcome, bad.text, dict(bad.values), dict(bad.data)) == ("failed", "", {}, {})
    assert bad.error is state.errors["BAD"]
    assert str(bad.error) == "broken"


def test_data_is_kept_by_identity_for_everyone_that_ran(runtime):
    entity, rows, inner = Entity(id="u1"), [1], {"k": object()}
    data = {"entity": entity, "rows": rows, "inner": inner}
    register(runtime, "A", {"data": data})
    register(runtime, "B", None)
    state = runtime.compose("hi")
    kept = state.data.providers["A"]["data"]
    assert kept is data
    assert state.data.providers.A.data.entity is entity
    assert state.data.providers.A.data.rows is rows
    assert state.data.providers.A.data["inner"] is inner
    assert state.data.providers.A.data.inner.k is inner["k"]
    assert dict(state.data.providers.B.data) == {}
    assert "B" in state.data.providers


def test_a_key_named_like_a_method_is_read_in_brackets(runtime):
    register(runtime, "CART", {"data": {"items": [1], "values": 2, "get": 3}})
    data = runtime.compose("hi").data.providers.CART.data
    assert (data["items"], data["values"], data["get"]) == ([1], 2, 3)


def test_missing_is_one_thing_that_survives_copies():
    assert copy.copy(MISSING) is copy.deepcopy(MISSING) is pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert repr(MISSING) == "MISSING"
    assert MISSING != 0
    assert MISSING != ""
    assert hash(MISSING) == hash(None)


def test_a_view_shows_and_writes_through_and_survives_copies():
    shown = {"place": {"name": "Bergen"}}
    city = View(shown)
    city.country = "Norway"
    city["place"]["name"] = "Oslo"
    del city["country"]
    assert shown == {"place": {"name": "Oslo"}} == city
    assert city != {"place": {}}
    deep = copy.deepcopy(city)
    deep.place.name = "Bergen"
    assert city.place.name == "Oslo"
    assert pickle.loads(pickle.dumps(city)) == city


def test_a_list_of_mappings_is_read_by_attribute_and_edited_through(runtime):
    rows = [{"p": 1, "in": {"q": [{"z": 3}]}}, {"p": 2}, None]
    register(runtime, "A", {"data": {"rows": rows, "grid": [[{"c": 4}]], "pair": ({"p": 5}, 6)}})
    data = runtime.compose("hi").data.providers.A.data
    assert (data.rows[0].p, data.rows[-2].p, data.rows[0].absent.deep) == (1, 2, None)
    assert data.rows[0]["in"] is rows[0]["in"]
    assert View(rows[0]).get("in")["q"][0] == {"z": 3}
    assert [row.p for row in data.rows] == [1, 2, None]
    assert [row.p for row in data.rows[:2]] == [1, 2]
    assert (data.grid[0][0].c, data.pair[0].p, data.pair[1]) == (4, 5, 6)
    assert data.rows == rows
    assert rows == data.rows
    assert data.rows + rows == rows + data.rows == rows * 2
    assert {"p": 2} in data.rows
    assert data["rows"] is rows
    data.rows.append({"p": 8})
    data.rows[0].p = 9
    del data.rows[2]
    assert rows == [{"p": 9, "in": {"q": [{"z": 3}]}}, {"p": 2}, {"p": 8}]
    with pytest.raises(IndexError):
        data.rows[5]


@pytest.mark.parametrize("items", [[], [1, "a"], [[1], [2]], (1, 2), {"a"}, [None]])
def test_a_list_without_mappings_is_the_very_object(runtime, items):
    register(runtime, "A", {"data": {"items_": items}})
    assert runtime.compose("hi").data.providers.A.data.items_ is items


def test_a_list_that_holds_itself_is_no_trouble(runtime):
    rows = [1]
    rows.append(rows)
    register(runtime, "A", {"data": {"rows": rows}})
    assert runtime.compose("hi").data.providers.A.data.rows is rows


@pytest.mark.parametrize("key", ["_mask", "_shown", "mask", "shown", "_items"])
def test_a_key_named_like_our_own_fields_is_an_ordinary_key(runtime, key):
    register(runtime, "A", {"data": {key: {"x": 1}}})
    data = runtime.compose("hi").data.providers.A.data
    assert data[key] == {"x": 1}
    assert getattr(data, key).x == 1
    assert getattr(View({}), key) == None  # noqa: E711
    setattr(data, key, 2)
    assert data[key] == 2

"""Fields may be spelled in camelCase or snake_case; a wrong one is told the nearest right one."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, nearest_names, nearest_to_each
from agentctx_nb.names import known_fields, snake_case

FIELDS = ("room_id", "entity_id", "always_run", "id")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("roomId", "room_id"),
        ("relevanceKeywords", "relevance_keywords"),
        ("alwaysRun", "always_run"),
        ("room_id", "room_id"),
        ("name", "name"),
        ("a1B", "a1_b"),
        ("", ""),
    ],
)
def test_camel_case_becomes_snake_case_and_snake_case_stays(given, expected):
    assert snake_case(given) == expected


def test_both_spellings_of_a_field_are_read():
    assert known_fields({"roomId": 1, "entity_id": 2}, FIELDS, of="a memory") == {
        "room_id": 1,
        "entity_id": 2,
    }


def test_any_mapping_is_read_and_left_as_it_was():
    given = MappingProxyType({"roomId": None})
    assert known_fields(given, FIELDS, of="a memory") == {"room_id": None}
    assert dict(given) == {"roomId": None}


@pytest.mark.parametrize("typo", ["rom_id", "RoomIds", "roomIdd", "roomid"])
def test_a_typo_is_told_the_nearest_field(typo):
    with pytest.raises(DefinitionError, match=rf"a memory has no field '{typo}'; did you mean 'room_id'"):
        known_fields({typo: 1}, FIELDS, of="a memory")


def test_a_word_near_to_nothing_is_told_all_fields():
    with pytest.raises(DefinitionError, match="it has room_id, entity_id, always_run, id"):
        known_fields({"zzzzzz": 1}, FIELDS, of="a memory")


def test_a_field_given_in_both_spellings_is_an_error_and_not_a_matter_of_order():
    for given in ({"roomId": 1, "room_id": 2}, {"room_id": 2, "roomId": 1}):
        with pytest.raises(DefinitionError, match=r"room_id.*twice"):
            known_fields(given, FIELDS, of="a memory")


@pytest.mark.parametrize("key", [None, 3, ("roomId",)])
def test_a_key_that_is_no_string_is_a_type_error(key):
    with pytest.raises(TypeError, match="a key of a memory must be a string") as caught:
        known_fields({key: 1}, FIELDS, of="a memory")
    assert isinstance(caught.value, DefinitionTypeError)


def test_of_very_many_names_only_those_that_begin_alike_are_compared():
    names = [f"PROVIDER_{n}" for n in range(10_000)] + ["WEATHER"]
    assert nearest_names("wether", names) == ("WEATHER",)
    assert nearest_names("provider9999", names)[0] == "PROVIDER_9999"


def test_many_wrong_names_take_no_longer_than_a_few(monkeypatch):
    compared = []

    def counted(word, possibilities, **_):
        compared.append(len(list(possibilities)))
        return []

    monkeypatch.setattr("difflib.get_close_matches", counted)
    wrong = [f"WRONG_{n}" for n in range(50)]
    found = nearest_to_each(wrong, [f"PROVIDER_{n}" for n in range(10_000)])
    assert list(found) == wrong
    assert sum(compared) <= 5_000

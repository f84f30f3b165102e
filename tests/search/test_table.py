"""The rows of a table by vector, against a full scan, while rooms grow, shrink and are tidied."""

from __future__ import annotations

import random

import numpy as np
import pytest

from agentctx_nb.search import homes, table
from agentctx_nb.search.table import Conditions, SearchRow, SearchTable


class Plain:
    """Rows as a dict of key to (row, vector)."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[SearchRow, np.ndarray]] = {}

    def search(self, vector, *, room=None, entity=None, count=None, threshold=None):
        hits = []
        for key, (row, own) in self.rows.items():
            lengths = np.linalg.norm(own) * np.linalg.norm(vector)
            if lengths and room in {None, row.room_id} and entity in {None, row.entity_id}:
                cosine = float(np.dot(own.astype(np.float64), vector) / lengths)
                if threshold is None or cosine >= threshold:
                    hits.append((-round(cosine, 5), key))
        return [key for _, key in sorted(hits)][:count]


def a_row(key: int, chance: random.Random) -> SearchRow:
    room = chance.choices(["big", "middle", "small", None], [10, 4, 1, 1])[0]
    return SearchRow(key, room, chance.choice("ab"), None, None, float(key), unique=None)


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(table, "_ROOM_OF_ITS_OWN", 12)
    monkeypatch.setattr(homes, "_GONE", 5)
    monkeypatch.setattr(homes, "_MOVED", 2)


@pytest.mark.parametrize("seed", range(6))
def test_every_search_is_that_of_a_full_scan(small_limits, seed):
    chance = random.Random(seed)
    # Few different vectors: many rows are equal, within a room and across rooms.
    vectors = np.random.default_rng(seed).normal(size=(6, 4)).astype(np.float32)
    vectors[0] = 0
    rows, plain, key = SearchTable(4), Plain(), 0
    for _ in range(150):
        keys = range(key + 1, key + 1 + chance.choice([1, 1, 5, 20]))
        key = keys[-1] + chance.randrange(3)
        new = [a_row(number, chance) for number in keys]
        matrix = vectors[[chance.randrange(6) for _ in new]]
        if len(new) == 1:
            rows.add(new[0], matrix[0])
        else:
            rows.add_many(new, matrix)
        plain.rows.update((row.key, (row, vector)) for row, vector in zip(new, matrix, strict=True))
        for gone in chance.sample([*plain.rows], min(len(plain.rows), chance.choice([0, 3, 9, 14]))):
            rows.remove(gone)
            del plain.rows[gone]
        rows.remove(key + 100)
        query = vectors[chance.randrange(1, 6)] * 3
        room, entity = chance.choice([None, "big", "middle", "small"]), chance.choice([None, None, "a"])
        count, threshold = chance.choice([None, 1, 4]), chance.choice([None, 0.3])
        found = rows.search(
            query, Conditions(room_id=room, entity_id=entity), count=count, threshold=threshold
        )
        assert [key for key, _ in found] == plain.search(
            query, room=room, entity=entity, count=count, threshold=threshold
        )
        assert len(rows) == len(plain.rows)
        twin = rows.near_twin(query, room)
        assert twin is any(
            row.room_id == room and np.array_equal(own * 3, query) for row, own in plain.rows.values()
        )


def test_what_was_deleted_gives_its_room_back(small_limits):
    rows = SearchTable(3)
    for key in range(600):
        rows.add(
            SearchRow(key, "room", None, None, None, 0.0, unique=None), np.array([1, key, 0], np.float32)
        )
        if key >= 40:
            rows.remove(key - 40)
    (part,) = rows._own[0].parts()[-1:]
    assert len(rows) == 40
    assert part.used < 120


def test_the_last_row_of_a_room_may_go_and_others_come(small_limits):
    rows = SearchTable(2)
    vector = np.array([1, 0], np.float32)
    for key in range(30):
        rows.add(SearchRow(key, "room", None, None, None, 0.0, unique=None), vector)
    for key in range(30):
        rows.remove(key)
    assert rows.search(vector, Conditions(room_id="room"), count=None, threshold=None) == []
    rows.add(SearchRow(30, "room", None, None, None, 0.0, unique=None), vector)
    assert rows.search(vector, Conditions(room_id="room"), count=None, threshold=None) == [(30, 1.0)]

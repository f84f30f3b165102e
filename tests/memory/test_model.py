"""Every store does what a plain list would, whatever is asked of it in whatever order."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agentctx_nb.errors import DefinitionError
from agentctx_nb.memory import EmbedderMark, InProcessStore, MissingVectorsError
from agentctx_nb.memory.sqlite import SqliteStore
from agentctx_nb.model import Memory
from agentctx_nb.search.bm25 import Bm25, mixed

NOON_MS = 1767268800000
TABLES = ("messages", "documents")
NAMES = ("room_id", "entity_id", "agent_id", "world_id")
SAID = ("rain falls", "rain and snow", "the sun shines", "snow", "", "wind in the rain")
MARKS = (None, EmbedderMark("small", 3, "f1"), EmbedderMark("other", 3, "f1"))
# No two of these are near enough to 0.95, and no two cosines near enough to each other, for rounding to decide.
VECTORS = (
    (1.0, 0.0, 0.0),
    (3.0, 1.0, 0.0),
    (10.0, 1.0, 0.5),
    (0.0, 2.0, 1.0),
    (-1.0, 0.5, 0.0),
    (0.0, 0.0, 0.0),
)
CLOSE = 1e-4

# What a step does is drawn from a seed: hypothesis would mostly draw the simplest, and compare empty tables.
chance = st.integers(0, 2**32 - 1).map(random.Random)


def some_row(chance: random.Random) -> dict:
    return {
        "id": chance.choice("xy") if chance.random() < 0.03 else None,
        "text": chance.choice(SAID),
        "embedding": chance.choices([chance.choice(VECTORS), None, (1.0, 0.0)], [20, 2, 0.3])[0],
        "created_at": chance.choice([None, None, 1, 2, 2.5, NOON_MS + 1]),
        **{of: chance.choice([None, "a", "a", "b"]) for of in NAMES},
    }


def some_conditions(chance: random.Random) -> dict:
    asked = {**dict.fromkeys(NAMES), "start": None, "end": None, "unique": False, "count": None}
    for of in chance.sample([*asked], chance.choice([0, 1, 1, 2, 3])):
        choices = {"start": [2], "end": [2, NOON_MS], "unique": [True], "count": [0, 1, 2, 3, 5, 9]}
        asked[of] = chance.choice(choices.get(of, ["a", "a", "b", "nobody"]))
    return asked


def some_table(chance: random.Random) -> str:
    return chance.choices(TABLES, [1, 5])[0]


def cosine(one, other) -> float:
    if one is None or other is None or len(one) != len(other) or not any(one) or not any(other):
        return -9.0
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


class Model:
    """A list of rows, each a dict, in the order of writing."""

    def __init__(self) -> None:
        self.rows: list[dict] = []
        self.marks: dict[str, EmbedderMark | None] = {}

    def dim(self, table):
        return next((len(r["embedding"]) for r in self.rows if r["table"] == table and r["embedding"]), None)

    def create(self, given, table, *, unique, mark) -> bool:
        """Return whether all of ``given`` can be stored, and store it if so."""
        before, marks = [*self.rows], {**self.marks}
        for row in given:
            if not self._create_one(row, table, unique=unique, mark=mark):
                self.rows, self.marks = before, marks
                return False
        return True

    def _create_one(self, row, table, *, unique, mark) -> bool:
        stored = next((r for r in self.rows if r["id"] == row["id"]), None)
        if stored is not None:
            same = all(stored[k] == v for k, v in row.items() if k != "created_at")
            times = {stored["created_at"], row["created_at"] or stored["created_at"]}
            return same and stored["table"] == table and len(times) == 1
        vector = row["embedding"]
        if vector is not None:
            dim, known = self.dim(table), self.marks.get(table)
            if known and mark and known != mark:
                return False
            if len(vector) != (dim or len(vector)) or len(vector) != (mark.dim if mark else len(vector)):
                return False
            self.marks[table] = known or mark
        twins = [r for r in self.rows if r["table"] == table and r["room_id"] == row["room_id"]]
        marked = all(cosine(vector, r["embedding"]) < 0.95 for r in twins) if unique else None
        kept = {**row, "table": table, "created_at": row["created_at"] or NOON_MS, "unique": marked}
        self.rows.append(kept)
        return True

    def delete(self, wanted) -> int:
        before = len(self.rows)
        self.rows = [row for row in self.rows if not wanted(row)]
        self.marks = {table: mark for table, mark in self.marks.items() if self.dim(table) is not None}
        return before - len(self.rows)

    def meeting(self, table, *, start, end, unique, count=None, **names):
        del count
        for number, row in enumerate(self.rows):
            if (
                row["table"] == table
                and all(name is None or row[of] == name for of, name in names.items())
                and (start is None or row["created_at"] >= start)
                and (end is None or row["created_at"] <= end)
                and (not unique or row["unique"])
            ):
                yield number, row


class Stores(RuleBasedStateMachine):
    # Rows to begin with: hypothesis leaves whole rules out of a run, that of writing too.
    @initialize(chance=chance)
    def open(self, chance) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.model = Model()
        self.ids = 0
        self.reads = random.Random(chance.random())
        clock = {"clock": lambda: datetime(2026, 1, 1, 12, tzinfo=UTC)}
        self.open_file = lambda: SqliteStore(self.folder / "agent.db", **clock)
        # The second file store is another kernel's: the same file, written through either of the two.
        self.stores = [InProcessStore(**clock), self.open_file(), self.open_file()]
        for through in (0, 1, 0):
            self.create(through, chance, chance.randrange(2, 9))

    def teardown(self) -> None:
        for store in self.stores:
            self.loop.run_until_complete(store.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    def write(self, through, call, *, fails=None):
        """Do the same in process and in the file, and return what both return."""
        answers = []
        for store in (self.stores[0], self.stores[1 + through]):
            if fails is None:
                answers.append(self.loop.run_until_complete(call(store)))
            else:
                with pytest.raises(fails):
                    self.loop.run_until_complete(call(store))
        assert answers[1:] == answers[:-1]
        return answers[0] if answers else None

    def read(self, call):
        return [self.loop.run_until_complete(call(store)) for store in self.stores]

    @rule(through=st.integers(0, 1), chance=chance)
    def create_one(self, through, chance) -> None:
        self.create(through, chance, 1)

    @rule(through=st.integers(0, 1), chance=chance)
    def create_several(self, through, chance) -> None:
        self.create(through, chance, chance.randrange(2, 7))

    def create(self, through, chance, count) -> None:
        table, unique = some_table(chance), chance.random() < 0.5
        mark = chance.choices(MARKS, [6, 4, 0.5])[0]
        given = [some_row(chance) for _ in range(count)]
        rows = []
        for row in given:
            self.ids += 1
            rows.append({**row, "id": row["id"] or f"n{self.ids}"})
        new = [Memory({"text": row["text"]}, **{k: v for k, v in row.items() if k != "text"}) for row in rows]
        fails = None if self.model.create(rows, table, unique=unique, mark=mark) else DefinitionError
        if count == 1:
            call = lambda store: store.create_memory(new[0], table, unique=unique, mark=mark)
        else:
            call = lambda store: store.create_memories(new, table, unique=unique, mark=mark)
        self.write(through, call, fails=fails)

    @precondition(lambda self: self.model.rows)
    @rule(through=st.integers(0, 1), chance=chance)
    def delete_one(self, through, chance) -> None:
        memory_id = chance.choice(["nobody", *[row["id"] for row in self.model.rows]])
        gone = self.model.delete(lambda row: row["id"] == memory_id)
        assert self.write(through, lambda store: store.delete_memory(memory_id)) is bool(gone)

    @precondition(lambda self: len(self.model.rows) > 8)
    @rule(through=st.integers(0, 1), chance=chance)
    def delete_several(self, through, chance) -> None:
        table, room = some_table(chance), chance.choices(["a", "b", None], [2, 4, 1])[0]
        gone = self.model.delete(lambda row: row["table"] == table and room in {None, row["room_id"]})
        assert (
            self.write(through, lambda store: store.delete_memories(table_name=table, room_id=room)) == gone
        )

    @rule(through=st.integers(0, 1), chance=chance)
    def replace(self, through, chance) -> None:
        table, vector, leave_out = some_table(chance), chance.choice(VECTORS[:3]), chance.random() < 0.3
        ours = [row for row in self.model.rows if row["table"] == table]
        missing = [row for row in ours[:1] if leave_out and row["embedding"] is not None]
        new = {row["id"]: vector[number % 2 :] + vector[: number % 2] for number, row in enumerate(ours)}
        if missing:
            del new[missing[0]["id"]]
        call = lambda store: store.replace_embeddings(table, new, MARKS[2])
        self.write(through, call, fails=MissingVectorsError if missing else None)
        if not missing and ours:
            for row in ours:
                row["embedding"] = new[row["id"]]
            self.model.marks[table] = MARKS[2]

    def get(self, table, asked) -> None:
        rows = [(row["created_at"], number, row) for number, row in self.model.meeting(table, **asked)]
        wanted = [row for *_, row in sorted(rows, key=lambda r: r[:2], reverse=True)][: asked["count"]]
        for found in self.read(lambda store: store.get_memories(table_name=table, **asked)):
            assert [memory.id for memory in found] == [row["id"] for row in wanted]
            for memory, row in zip(found, wanted, strict=True):
                assert (memory.content.text, memory.unique) == (row["text"], row["unique"])
                assert (memory.embedding is None) == (row["embedding"] is None)

    def search(self, table, vector, asked, *, threshold, query) -> None:
        call = lambda store: store.search_memories(
            table_name=table, embedding=vector, match_threshold=threshold, query=query, **asked
        )
        if self.model.dim(table) not in {None, len(vector)}:
            for store in self.stores:
                with pytest.raises(DefinitionError):
                    self.loop.run_until_complete(call(store))
            return
        candidates = [
            (cosine(vector, row["embedding"]), row)
            for _, row in self.model.meeting(table, **asked)
            if cosine(vector, row["embedding"]) > -2
        ]
        scores = self.scores(table, candidates, query)
        hits = [
            (score, similarity, row["id"])
            for score, (similarity, row) in zip(scores, candidates, strict=True)
            if not threshold or similarity >= threshold
        ]
        hits.sort(key=lambda hit: -hit[0])  # stable: ties stay in the order of writing
        for found in self.read(call):
            self.check_hits(found, hits, asked["count"], exact=query is None)

    def scores(self, table, candidates, query):
        cosines = np.array([similarity for similarity, _ in candidates], np.float32)
        if query is None:
            return cosines.tolist()
        index = Bm25()
        placed = [row for row in self.model.rows if row["table"] == table and row["embedding"] is not None]
        for number, row in enumerate(placed):
            index.add(number, row["text"])
        rows = np.array([placed.index(row) for _, row in candidates], np.int64)
        return mixed(cosines, index.scores(query, rows)).tolist()

    def check_hits(self, found, hits, count, *, exact) -> None:
        wanted = {memory_id: (score, similarity) for score, similarity, memory_id in hits}
        assert len(found) == len(hits if count is None else hits[:count])
        for memory, (score, _, memory_id) in zip(found, hits, strict=False):
            assert memory.similarity == pytest.approx(wanted[memory.id][1], abs=1e-5)
            assert wanted[memory.id][0] == pytest.approx(score, abs=CLOSE)
            if exact:
                assert memory.id == memory_id

    @rule()
    def restart(self) -> None:
        self.loop.run_until_complete(self.stores[1].close())
        self.stores[1] = self.open_file()

    @invariant()
    def whatever_is_read_agrees(self) -> None:
        chance = self.reads
        self.get(some_table(chance), some_conditions(chance))
        self.search(
            some_table(chance),
            chance.choice([*VECTORS, *VECTORS, (1.0, 0.0)]),
            some_conditions(chance),
            threshold=chance.choice([None, 0, 0.5, 0.93, -0.2]),
            query=chance.choice([None, None, "rain", "snow and wind", "nothing"]),
        )

    @invariant()
    def counts_and_marks_agree(self) -> None:
        counts = {table: sum(row["table"] == table for row in self.model.rows) for table in TABLES}
        for stats in self.read(lambda store: store.stats()):
            assert stats.memories == {table: count for table, count in counts.items() if count}
        for table in TABLES:
            for mark in self.read(lambda store: store.embedder_mark(table)):  # noqa: B023
                assert mark == self.model.marks.get(table)


TestStores = Stores.TestCase
TestStores.settings = settings(
    parent=settings.get_profile("steady"),
    max_examples=20,
    stateful_step_count=20,
    phases=[Phase.generate],  # to shrink a run through files takes minutes
)

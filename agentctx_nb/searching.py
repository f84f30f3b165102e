"""Finding memories by meaning: embedding texts, searching, and saying why something was found or not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, did_you_mean
from agentctx_nb.names import counted, shown
from agentctx_nb.remembering import Remembering
from agentctx_nb.short_errors import short_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from agentctx_nb.explaining import SearchExplanation
    from agentctx_nb.log import RuntimeLogger
    from agentctx_nb.memory.store import EmbedderMark
    from agentctx_nb.model import Memory
    from agentctx_nb.running.threads import WorkerThreads
    from agentctx_nb.search.embedder import Embedder

    Kind = Literal["query", "document"]

__all__ = ["Searching", "checked_embedder"]

SAMPLED_ROWS = 2000  # of a table, to see how near texts are to each other that have nothing in common
FEW_ROWS = 500
KEPT_THRESHOLDS = 1000
NEAR_THE_CUT = 5  # rejected candidates an explanation shows
CONDITIONS = ("room_id", "entity_id", "agent_id", "world_id", "start", "end", "unique")
REEMBED_BATCH = 256
MOST_TABLES = 10  # named in one line
MOST_NAMES = 1000  # of tables that were asked for and hold nothing
BATCH_OF_ZEROS = 8  # texts; one or two may hold no word an embedder knows


class Searching(Remembering):
    """The part of `AgentRuntime` that turns texts into vectors and finds memories by them.

    >>> import asyncio
    >>> from agentctx_nb import AgentRuntime
    >>> async def find():
    ...     async with AgentRuntime() as runtime:
    ...         for text in ("Cats purr.", "Rain falls."):
    ...             vector = await runtime.embed(text, kind="document")
    ...             await runtime.create_memory({"text": text, "embedding": vector}, "documents")
    ...         query = await runtime.embed("Does it rain?")
    ...         return await runtime.search_memories(table_name="documents", embedding=query, count=1)
    >>> asyncio.run(find())[0].content.text
    'Rain falls.'
    """

    _embedder_given: Any
    _embedder: Embedder | None
    _mark: EmbedderMark | None
    _thresholds: dict[tuple[str | None, ...], tuple[int, int, float]]  # rows of table and scope, threshold
    _told_of_zeros = False
    logger: RuntimeLogger

    @property
    def mask(self) -> Callable[[str], str]:
        """What hides secrets in a text; the runtime knows which."""
        return str

    @cached_property
    def threads(self) -> WorkerThreads:
        """Where ``def`` providers, and embedders that are not async, run."""
        from agentctx_nb.running.threads import WorkerThreads

        return WorkerThreads()

    # Vectors ------------------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder:
        """What turns texts into vectors: the one given, else the table of words that comes with the package."""
        if self._embedder is None:
            from agentctx_nb.search.embedder import default_embedder

            self._embedder = default_embedder()
        return self._embedder

    async def ready_embedder(self) -> Embedder:
        """Return the `embedder`, read in a thread where it has to be read first, which takes half a second."""
        if self._embedder is None:
            await self.threads.run(lambda: self.embedder)
        return self.embedder

    async def embed(self, text: str, *, kind: Kind = "query") -> Any:
        """Return the vector of a text: a float32 array of unit length.

        ``kind`` is ``"document"`` for what is stored and ``"query"`` for what is asked; some embedders
        treat them differently.
        """
        with short_errors(self):
            if not isinstance(text, str):
                raise DefinitionTypeError(f"embed takes a text, not {shown(text)}")
            return (await self.embed_many([text], kind=kind))[0]

    async def embed_many(self, texts: Sequence[str], *, kind: Kind = "document") -> Any:
        """Return the vectors of many texts as one float32 array, a row each."""
        with short_errors(self):
            if isinstance(texts, str) or not isinstance(texts, Sequence):
                raise DefinitionTypeError(
                    f"embed_many takes a list of texts, not {shown(texts)}; embed takes one"
                )
            for text in texts:
                if not isinstance(text, str):
                    raise DefinitionTypeError(f"embed_many takes texts, but one is {shown(text)}")
            embedder = await self.ready_embedder()
            from agentctx_nb.search.embedder import embed_async  # what it imports is there by now

            vectors = await embed_async(embedder, texts, kind, run=self.threads.run)
            if not vectors.any() and any(text.strip() for text in texts):
                self._tell_of_zeros(len(texts), kind)
            return vectors

    def _tell_of_zeros(self, count: int, kind: Kind) -> None:
        """Say that what was embedded will never be found, or find anything; of a whole batch it is an error."""
        said = f"embedder {self.embedder.name} gives nothing but zeros for {counted(count, 'text')}"
        if kind == "query":
            self.logger.warning("%s, so that no row is near it", said)
            return
        if count >= BATCH_OF_ZEROS and self._embedder_given is not None:
            raise DefinitionError(f"{said}, so that none could be found; is its model loaded?")
        if not self._told_of_zeros:  # once: a table is embedded batch by batch
            self._told_of_zeros = True
            self.logger.warning("%s; a row with such a vector is never found", said)

    async def embedder_mark(self) -> EmbedderMark:
        """Return the name, dimension and fingerprint that a table remembers of its embedder."""
        if self._mark is None:
            from agentctx_nb.memory.store import EmbedderMark

            embedder = await self.ready_embedder()
            from agentctx_nb.search.embedder import fingerprint

            print_ = await self.threads.run(fingerprint, embedder)
            self._mark = EmbedderMark(embedder.name, embedder.dim, print_)
        return self._mark

    async def mark_for(self, embedding: Any) -> EmbedderMark | None:
        """Return the mark of a vector a caller gave us, where it can be told whose it is.

        An embedder the runtime was given answers for all its tables. The default one answers for
        vectors of its size once it was asked for any: others are the caller's own.
        """
        if embedding is None:
            return None
        if self._embedder_given is not None:
            return await self.embedder_mark()
        try:
            size = len(embedding)
        except TypeError:  # no vector at all, which the store says
            return None
        if self._embedder is not None and size == self._embedder.dim:
            return await self.embedder_mark()
        return None

    # Search -------------------------------------------------------------------------------

    async def search_memories(
        self, given: Mapping[str, Any] | None = None, /, **arguments: Any
    ) -> list[Memory]:
        """Return the memories of a table nearest to a query, best first, each with its ``similarity``.

        Parameters
        ----------
        given, arguments
            ``table_name``; ``embedding`` (of the query) or ``query`` (its text, which is embedded where
            no vector is given, and ranks by its words as well); ``room_id``, ``entity_id``,
            ``agent_id``, ``world_id``, ``start``, ``end``, ``unique`` narrow it; ``match_threshold`` is
            the least cosine (None or 0: no cut; ``"auto"``: see `auto_threshold`); ``match_count``,
            ``count`` or ``limit``; ``approximate=True`` may miss a few and is faster. As one dict in
            either spelling, or by keyword.

        Raises
        ------
        DefinitionError
            The vector has another dimension than the table, or holds NaN or infinity.
        """
        with short_errors(self):
            wanted = await self._read_search(given, arguments, of="search_memories")
            wanted["match_threshold"], _ = await self._threshold(wanted)
            mark = await self.mark_for(wanted["embedding"])
            hits = await self.store.search_memories(**wanted, mark=mark)
            if not hits:
                await self.say_if_misnamed(wanted["table_name"])
            return hits

    async def explain_search(
        self, given: Mapping[str, Any] | None = None, /, **arguments: Any
    ) -> SearchExplanation:
        """Search as `search_memories` does, and return every candidate near the cut with its verdict.

        Beside what is kept it holds the five best that were not, the five best that another condition
        leaves out (room, entity, agent, world, time, unique), and the five newest that meet them and have
        no vector, or one of zeros. In a table of more than 50,000 rows the last two may not be found; its
        ``note`` then says how far it looked.
        """
        from agentctx_nb.explaining import (
            Candidate,
            SearchExplanation,
            first_that,
            left_out_by,
            rejected,
            unfindable,
        )

        with short_errors(self):
            wanted = await self._read_search(given, arguments, of="explain_search")
            threshold, threshold_from = await self._threshold(wanted)
            count = wanted.pop("count", None)
            conditions = {name: wanted.pop(name) for name in CONDITIONS if name in wanted}
            wanted["match_threshold"] = None
            wanted["mark"] = await self.mark_for(wanted["embedding"])
            # What is kept is asked for as a search asks: where words count too, it need not stand first without a cut.
            cut = wanted | {"match_threshold": threshold}
            kept = await self.store.search_memories(**cut, **conditions, count=count)
            candidates = [Candidate(memory, memory.similarity, "kept") for memory in kept]
            most = None if count is None else count + NEAR_THE_CUT
            ranked = await self.store.search_memories(**wanted, **conditions, count=most)
            ids = {memory.id for memory in kept}
            rules: dict[str, Any] = {
                "conditions": conditions,
                "threshold": threshold,
                "near": NEAR_THE_CUT,
            }
            candidates += rejected(ranked, ids, **rules)
            notes = []
            if any(value is not None and value is not False for value in conditions.values()):
                others, looked_at = await first_that(
                    lambda most: self.store.search_memories(**wanted, count=most),
                    lambda memory: left_out_by(memory, conditions) is not None,
                    enough=NEAR_THE_CUT,
                )
                candidates += rejected(others, ids, **rules)
                if looked_at is not None:
                    notes.append(f"left out: the best {looked_at:,} rows")
            table_name = wanted["table_name"]
            blind, looked_at = await first_that(
                lambda most: self.store.get_memories(table_name=table_name, **conditions, count=most),
                lambda memory: unfindable(memory) is not None,
                enough=NEAR_THE_CUT,
            )
            candidates += [Candidate(memory, None, why) for memory in blind if (why := unfindable(memory))]
            if looked_at is not None:
                notes.append(f"no embedding: the newest {looked_at:,} rows")
            if not candidates:
                await self.say_if_misnamed(table_name)
            return SearchExplanation(
                tuple(candidates), threshold, threshold_from, self.mask, "; ".join(notes)
            )

    async def auto_threshold(
        self,
        table_name: str = "documents",
        *,
        room_id: str | None = None,
        entity_id: str | None = None,
        agent_id: str | None = None,
        world_id: str | None = None,
    ) -> float:
        """Return the cosine that one in a hundred random pairs reaches of a table, or of one room in it.

        Texts below it are no nearer to a query than texts are to each other by chance. It is taken from
        2,000 pairs of the newest 2,000 rows that meet the conditions, without pairs that say the same, and
        kept until a tenth of them may have come or gone. Among fewer than 500 vectors most texts have their
        subject in common, so there it is no higher than the embedder's own default.
        """
        from agentctx_nb.chance import chance_threshold, distinct_vectors
        from agentctx_nb.memory.checks import check_table_name

        with short_errors(self):
            check_table_name(table_name)
            scope: dict[str, Any] = {
                "room_id": room_id,
                "entity_id": entity_id,
                "agent_id": agent_id,
                "world_id": world_id,
            }
            rows = (await self.store.stats()).memories.get(table_name, 0)
            key = (table_name, *scope.values())
            known = self._thresholds.get(key)
            if known is not None and abs(rows - known[0]) <= known[1] / 10:
                return known[2]
            sample = await self.store.get_memories(table_name=table_name, count=SAMPLED_ROWS, **scope)
            vectors = distinct_vectors(sample)
            threshold = chance_threshold(vectors)
            if threshold is None:
                return self.embedder.default_threshold
            if len(vectors) < FEW_ROWS:
                threshold = min(threshold, self.embedder.default_threshold)
            if len(self._thresholds) >= KEPT_THRESHOLDS:
                self._thresholds.clear()
            # How many rows the scope has, or at least has: a tenth of them is what may change.
            self._thresholds[key] = (rows, rows if not any(scope.values()) else len(sample), threshold)
            return threshold

    async def reembed(self, table_name: str, *, progress: Callable[[int, int], Any] | None = None) -> int:
        """Make the vectors of a table anew with this runtime's embedder; return how many there are.

        A row without a vector stays without one.

        ``progress(done, total)`` is called after each batch. The table keeps its old vectors until all
        new ones are made.
        """
        from agentctx_nb.memory.store import MissingVectorsError

        with short_errors(self):
            if progress is not None and not callable(progress):
                raise DefinitionTypeError(
                    f"progress is called as progress(done, total); {shown(progress)} is no function"
                )
            rows = await self.store.get_memories(table_name=table_name)
            memories = [m for m in rows if m.embedding is not None]
            vectors: dict[str, Any] = {}
            while True:
                for start in range(0, len(memories), REEMBED_BATCH):
                    batch = memories[start : start + REEMBED_BATCH]
                    made = await self.embed_many([m.content.text or "" for m in batch])
                    vectors.update(zip([str(m.id) for m in batch], made, strict=True))
                    if progress is not None:
                        progress(len(vectors), len(memories))
                if memories and not any(vector.any() for vector in vectors.values()):
                    raise DefinitionError(
                        f"embedder {self.embedder.name} gives nothing but zeros for the texts of table "
                        f"{table_name!r}, so that none could be found; the table keeps the vectors it has"
                    )
                try:
                    await self.store.replace_embeddings(table_name, vectors, await self.embedder_mark())
                except MissingVectorsError as exc:  # rows that were written meanwhile; nothing was changed
                    found = [await self.store.get_memory_by_id(memory_id) for memory_id in exc.missing]
                    memories = [memory for memory in found if memory is not None]
                else:
                    self._thresholds.clear()
                    if not vectors:
                        await self.say_if_misnamed(table_name)
                    return len(vectors)

    async def _read_search(
        self, given: Mapping[str, Any] | None, arguments: Mapping[str, Any], *, of: str
    ) -> dict[str, Any]:
        from agentctx_nb.memory.arguments import SEARCH_MEMORIES, read_arguments

        wanted = read_arguments(given, arguments, known=SEARCH_MEMORIES, of=of)
        wanted.setdefault("table_name", "documents")
        if wanted.get("embedding") is None:
            query = wanted.get("query")
            if not isinstance(query, str):
                raise DefinitionError(f"{of} needs embedding=, the vector of the query, or query=, its text")
            wanted["embedding"] = await self.embed(query)
        return wanted

    async def say_if_misnamed(self, table_name: str) -> None:
        """Log that a table holds nothing where another one does, and what the nearest name is."""
        # To ask for one row costs less than to count all tables, which is done once for a name that is like none.
        if table_name in self._like_none or await self.store.get_memories(table_name=table_name, count=1):
            return
        tables = (await self.store.stats()).memories
        if not tables:
            return
        near = did_you_mean(table_name, tables)
        if not near and len(self._like_none) < MOST_NAMES:
            self._like_none.add(table_name)
        said = near or "; there are " + ", ".join(map(repr, sorted(tables)[:MOST_TABLES]))
        # Without a near name it may just be empty still.
        self.logger.log("warning" if near else "info", "table %r holds nothing%s", table_name, said)

    async def _threshold(self, wanted: dict[str, Any]) -> tuple[float | None, str]:
        from agentctx_nb.memory.checks import check_count, check_threshold

        check_count(wanted.get("count"))
        threshold = wanted.get("match_threshold")
        if isinstance(threshold, str) and threshold == "auto":
            scope = {name: wanted.get(name) for name in ("room_id", "entity_id", "agent_id", "world_id")}
            return await self.auto_threshold(wanted["table_name"], **scope), "auto"
        if isinstance(threshold, str):
            raise DefinitionError(f"match_threshold is a cosine, None or 'auto', not {shown(threshold)}")
        threshold = check_threshold(threshold)
        if threshold is not None and threshold > 1:
            self.logger.warning("no cosine is above 1, so that match_threshold=%g finds nothing", threshold)
        return (threshold, "given") if threshold else (None, "none")


def checked_embedder(given: Any) -> Embedder:
    """Return what was given as an embedder, which is asked nothing yet; raise where it can be none."""
    from agentctx_nb.search.embedder import as_embedder

    return as_embedder(given)

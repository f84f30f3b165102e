"""Taking in what there is to know: documents of a folder, and single facts, each with its vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.searching import Searching
from agentctx_nb.short_errors import short_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from agentctx_nb.knowledge.learned import Learned
    from agentctx_nb.knowledge.remember import Remembered

__all__ = ["Learning"]


class Learning(Searching):
    """The part of `AgentRuntime` that fills tables with what a search can find.

    >>> import asyncio
    >>> from agentctx_nb import AgentRuntime
    >>> async def find():
    ...     async with AgentRuntime() as runtime:
    ...         await runtime.remember("Ada drinks tea.")
    ...         return await runtime.search_memories(table_name="facts", query="What does Ada drink?")
    >>> asyncio.run(find())[0].content.text
    'Ada drinks tea.'
    """

    async def learn(
        self,
        path: str | PathLike[str],
        *,
        table_name: str = "documents",
        room_id: str | None = None,
        pattern: str | None = None,
        progress: Callable[[int, int], object] | None = None,
        chunk_chars: int = 1000,
        overlap_chars: int = 100,
        max_bytes: int = 200_000_000,
        outputs: bool = False,
    ) -> Learned:
        """Keep a table up to date with a file or a folder of documents, and return what became of each.

        Parameters
        ----------
        table_name, room_id
            Where the pieces go; the room is the agent's own, ``agent_id``, by default.
        pattern
            Which files of a folder, as ``*.md`` or ``guide/**/*.txt``; by default all that can be read.
        progress
            ``progress(done, total)`` is called as files are done.
        chunk_chars, overlap_chars, max_bytes, outputs
            How files are cut, and what is read of them; see `agentctx_nb.knowledge.learn`.
        """
        from agentctx_nb.knowledge.learn import learn

        with short_errors(self):
            return await learn(
                self,
                path,
                table_name=table_name,
                room_id=room_id,
                pattern=pattern,
                progress=progress,
                chunk_chars=chunk_chars,
                overlap_chars=overlap_chars,
                max_bytes=max_bytes,
                outputs=outputs,
            )

    async def remember(
        self, text: str, table_name: str = "facts", *, room_id: str | None = None
    ) -> Remembered:
        """Store a text with its vector, once, in the agent's own room of a table or in another room.

        What `create_memory` stores has a vector only where one is given, and is never found without.
        """
        from agentctx_nb.knowledge.remember import remember

        with short_errors(self):
            return await remember(self, table_name, text, room_id=room_id)

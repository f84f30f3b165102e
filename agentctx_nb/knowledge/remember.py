"""One fact into a table, once."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError
from agentctx_nb.model import Content, Memory

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Remembered", "remember"]

_NAMESPACE = uuid.UUID("0b7c1f52-2f0e-5c57-8d49-5c8f4f0f8a02")
_LONGEST_SHOWN = 80  # characters


@dataclass(frozen=True, slots=True, repr=False)
class Remembered:
    """A fact and where it is; ``is_new`` is False where the very same was there already.

    ``opened_table`` is True where nothing was in the table before.
    """

    id: str
    text: str
    table_name: str
    room_id: str
    is_new: bool
    mask: Callable[[str], str] = str
    opened_table: bool = False

    def __repr__(self) -> str:
        from agentctx_nb.render.bounds import cell_text

        said = cell_text(" ".join(self.text.split()), mask=self.mask, most=_LONGEST_SHOWN)
        where = cell_text(f"{self.table_name}, room {self.room_id}", mask=self.mask)
        return f"{'remembered' if self.is_new else 'known already'} in {where}: {said}"


async def remember(runtime: Any, table_name: str, text: str, *, room_id: str | None = None) -> Remembered:
    """Store ``text`` with its vector in a room of a table, the agent's own room by default.

    The same text is stored once, so that a notebook can be run again.
    """
    from agentctx_nb.memory.checks import check_name, check_table_name

    if not isinstance(text, str) or not text.strip():
        raise DefinitionError("there is no text to remember")
    room = runtime.agent_id if room_id is None else room_id
    check_table_name(table_name)
    check_name(room, of="room_id")
    said = text.encode("utf-8", "backslashreplace").decode()  # half a character, too, names its fact
    name = str(uuid.uuid5(_NAMESPACE, f"{table_name}\x1f{room}\x1f{said}"))
    is_new = await runtime.get_memory_by_id(name) is None
    opens = False
    if is_new:
        # Every table begins empty, so a name like that of another is only told of: this does so.
        opens = not await runtime.get_memories(table_name=table_name, count=1)
        vector = await runtime.embed(text, kind="document")
        await runtime.create_memory(
            Memory(Content(text), room_id=room, id=name, embedding=vector), table_name
        )
    return Remembered(name, text, table_name, room, is_new, runtime.mask, opens)

"""The body of a ``%%provider`` cell and its options become a registered provider."""

from __future__ import annotations

import ast
import linecache
import sys
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.caution import overheard
from agentctx_nb.errors import UnknownProviderError
from agentctx_nb.names import shown
from agentctx_nb.notebook.awaiting import TWINS_PLACE
from agentctx_nb.notebook.commands import LOOK, PROVIDER
from agentctx_nb.notebook.mistakes import ArgumentError, nobody_yet
from agentctx_nb.notebook.reading import only_name
from agentctx_nb.provider import Provider
from agentctx_nb.registry import CELL
from agentctx_nb.render.bounds import one_line
from agentctx_nb.source import Cell, CellError, compile_cell, option_lines

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from agentctx_nb.notebook.arguments import Parsed
    from agentctx_nb.registry import Registered
    from agentctx_nb.runtime import AgentRuntime

__all__ = ["Registration", "find_cell", "register_cell"]

FIELDS = {"keywords": "relevance_keywords"}


@dataclass(frozen=True, slots=True, repr=False)
class Registration:
    """What a ``%%provider`` cell did, in one line; ``filename`` is where its source can be found."""

    line: str
    filename: str

    def __repr__(self) -> str:
        return one_line(self.line)


def register_cell(shell: InteractiveShell, runtime: AgentRuntime, line: str, body: str) -> Registration:
    """Compile ``body`` and register it under the name in ``line``; whatever fails leaves the old one standing.

    Raises
    ------
    ArgumentError
        The line or a ``#|`` line at the top of the body cannot be read.
    CellError
        The body cannot be compiled.
    """
    __tracebackhide__ = True
    given = _read_line(line, shell.user_ns)
    name = only_name(given.words, of="%%provider")
    cell = find_cell(shell, name, line, body)
    options = {**_settings(body, shell.user_ns, above=len(cell.above)), **given.options}
    fields = {FIELDS.get(key, key): value for key, value in options.items()}
    # Checked before the cell's own definitions run and have effects.
    checked = Provider(name=name, get=_not_yet, **fields)
    compiled = compile_cell(
        body,
        name=name,
        namespace=shell.user_ns,
        cell=cell,
        transform=shell.transform_cell,
        flags=shell.compile.flags,
    )
    described = checked.description or compiled.description
    before = _registered(runtime, name)
    with overheard() as warned:
        runtime.register_provider(replace(checked, get=compiled.get, description=described), origin=CELL)
    slip = [compiled.slip] if compiled.slip else []
    said = "; ".join(
        [_sentence(before, runtime.registered(name)), *slip, *_awaited(checked, runtime), *warned]
    )
    return Registration(runtime.mask(said), cell.filename)


def find_cell(shell: InteractiveShell, name: str, line: str, body: str, *, magic: str = "provider") -> Cell:
    """Return a file name for the source of ``body``, and the lines above it in the cell as typed.

    It is the name IPython runs the cell under where ``magic`` makes up the whole cell, and one of the
    provider's own where code calls the magic, which may do so many times in one cell.
    """
    cells: dict[str, int] = shell.compile._filename_map  # noqa: SLF001  the only record of it
    frame: Any = sys._getframe(1)  # noqa: SLF001
    while frame is not None and frame.f_code.co_filename not in cells:
        frame = frame.f_back
    typed = shell.history_manager.input_hist_raw[-1] if shell.history_manager else ""
    typed = typed.replace("\r\n", "\n").rstrip()
    bare = body.replace("\r\n", "\n").rstrip()
    above = f"%%{magic} {line}".rstrip()
    if frame is None or not _is_one_call("".join(linecache.getlines(frame.f_code.co_filename))):
        return Cell(_own_filename(f"{magic} {name}", above, body), (above,))
    if typed.endswith("\n" + bare):
        lines = typed[: len(typed) - len(bare)].removesuffix("\n").split("\n")
        return Cell(frame.f_code.co_filename, tuple(lines))
    return Cell(frame.f_code.co_filename, (above,))


def _is_one_call(code: str) -> bool:
    """Whether a cell, as IPython runs it, does nothing but call one cell magic."""
    if not code.startswith(
        ("get_ipython().run_cell_magic(", f"(await get_ipython(){TWINS_PLACE}.run_cell_magic(")
    ):
        return False
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        (statement, *others) = ast.parse(code).body
        if others or not isinstance(statement, ast.Expr):
            return False
        called = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        return isinstance(called, ast.Call)
    return False


def _own_filename(name: str, above: str, body: str) -> str:
    """Return a file name under which no other text is kept."""
    number = zlib.crc32(f"{above}\n{body}".encode("utf-8", "surrogatepass"))
    return f"<{name} {number:08x}>"


def _read_line(line: str, variables: dict[str, Any]) -> Parsed:
    try:
        return PROVIDER.words(line, variables)
    except ArgumentError:
        asked = LOOK.understood(line, variables)
        if not asked:
            raise
        raise ArgumentError(f"--{asked[0]} belongs to %provider NAME, on a line with one % sign") from None


def _settings(body: str, variables: dict[str, Any], *, above: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, key, value in option_lines(body):
        text = body.split("\n")[number - 1].rstrip("\r")
        try:
            option, read = PROVIDER.setting(key, value, variables)
        except ArgumentError as error:
            raise CellError(str(error), line=number + above, text=text) from None
        if option in found:
            raise CellError(f"{key} is given twice", line=number + above, text=text)
        found[option] = read
    return found


def _not_yet() -> None:
    """Stand for the function until it is compiled."""


def _registered(runtime: AgentRuntime, name: str) -> Registered | None:
    try:
        return runtime.registered(name)
    except UnknownProviderError:
        return None


def _sentence(before: Registered | None, after: Registered) -> str:
    provider = after.provider
    said = f"registered {provider.name}"
    if before is not None:
        of = "" if before.origin in {CELL, None} else f" of {before.origin}"
        said = f"replaced {provider.name}{of}, v{after.version}"
    flags = {"dynamic": provider.dynamic, "private": provider.private, "always runs": provider.always_run}
    facts = [word for word, holds in flags.items() if holds]
    if provider.relevance_keywords:
        idle = "" if provider.dynamic else ", which wake nothing without --dynamic"
        facts.append("keywords " + ", ".join(provider.relevance_keywords) + idle)
    if provider.position:
        facts.append(f"position {_plain(provider.position)}")
    if provider.after:
        facts.append("after " + ", ".join(provider.after))
    limits = {limit: getattr(provider, limit) for limit in ("timeout", "ttl")}
    facts += [f"{limit} {_plain(seconds)} s" for limit, seconds in limits.items() if seconds is not None]
    return f"{said} ({'; '.join(facts)})" if facts else said


def _awaited(provider: Provider, runtime: AgentRuntime) -> list[str]:
    """Return what to say of the names in ``after`` under which there is no provider so far."""
    known = [other.name for other in runtime.list_providers(include_private=True)]
    return nobody_yet(provider.after, known)


def _plain(number: float) -> str:
    try:
        return f"{number:g}"
    except OverflowError:  # a whole number beyond any float
        return shown(number)

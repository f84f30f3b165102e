"""A cell's text becomes a function of a provider or an action, with its own lines in tracebacks and sources.

The body of a cell is either the body of the function itself, with ``runtime``, ``message`` and ``state``
in scope, or code that defines it (``get``, ``handler``) at its top level. In both cases line 1 below the magic stays line 1
below the magic: the text kept for tracebacks has a line for each line of the cell.
"""

from __future__ import annotations

import ast
import inspect
import keyword
import linecache
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from agentctx_nb.bridge import run_sync
from agentctx_nb.errors import DefinitionError
from agentctx_nb.statements import binding_of, gives_result, take_features, uncalled, unreturned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = [
    "Cell",
    "CellError",
    "CompiledCell",
    "Role",
    "compile_cell",
    "forget_source",
    "keep_source",
    "option_lines",
]

INDENT = "    "
TOO_DEEP = "an expression is too long or too deep for Python to compile; split it into several statements"
PARAMETERS = "runtime, message, state"
OPTION_LINE = re.compile(r"#\|\s*(?P<key>[^:]*?)\s*(?::(?P<value>.*))?$")


class CellError(DefinitionError):
    """A cell cannot become what it is to be; ``line`` is its line in the cell, ``text`` that line as typed."""

    def __init__(self, message: str, *, line: int | None = None, text: str = "", column: int = 0) -> None:
        self.message = message
        self.line = line
        self.text = text
        self.column = column
        super().__init__(message if line is None else f"{message} (line {line})")

    def _render_traceback_(self) -> list[str]:
        """Return the lines IPython shows in place of a traceback through our own frames."""
        shown = [f"{type(self).__name__}: {self}"]
        if self.text.strip():
            # Tabs stay, so that the mark stands below the column in any width of tab.
            before = "".join(c if c == "\t" else " " for c in self.text[: self.column])
            shown += [f"{INDENT}{self.text}", f"{INDENT}{before}^"]
        return shown


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a body stands: the file name of its cell, and what is above it there, the magic's line last."""

    filename: str
    above: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class CompiledCell:
    """A function made from a cell, what its docstring says of it, and the others the cell defined for its role.

    ``slip`` is what to say of a cell that gives nothing where it looks as if it should.
    """

    get: Callable[..., Any]
    description: str | None
    others: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    slip: str = ""


class Role(NamedTuple):
    """What a cell is to become: the function it may define itself, and others that may stand beside that one.

    ``gives`` is whether one that gives nothing back is of no use.
    """

    what: str = "provider"
    function: str = "get"
    others: tuple[str, ...] = ()
    gives: bool = False

    def named(self) -> str:
        """Return it with its article."""
        return f"{'an' if self.what[0] in 'aeiou' else 'a'} {self.what}"


_PROVIDER = Role(gives=True)


def option_lines(body: str) -> Iterator[tuple[int, str, str | None]]:
    r"""Yield (line within the body, key, value) of each ``#| key: value`` at its top.

    >>> list(option_lines("#| dynamic\n#| keywords: rain, snow\nreturn 'Rain.'"))
    [(1, 'dynamic', None), (2, 'keywords', 'rain, snow')]
    """
    for number, line in enumerate(body.split("\n"), start=1):
        found = OPTION_LINE.match(line.strip())
        if found:
            value = found["value"]
            yield number, found["key"], None if value is None else value.strip()
        elif line.strip():
            return


def compile_cell(
    body: str,
    *,
    name: str,
    namespace: dict[str, Any],
    cell: Cell,
    transform: Callable[[str], str] | None = None,
    flags: int = 0,
    role: Role = _PROVIDER,
) -> CompiledCell:
    """Return the function that ``body`` describes, with ``namespace`` as its globals.

    Parameters
    ----------
    name
        The provider's or action's name, which the function takes over as far as Python allows.
    namespace
        Looked into each time the function runs, so names defined later are found.
    transform
        Turns IPython's own syntax (``%magic``, ``!command``) into Python; asked only if ``body`` is none.
    flags
        Compiler flags of the cells so far, such as those of ``from __future__ import annotations``.
    role
        What it becomes: a provider, if nothing else is said.

    Raises
    ------
    CellError
        The body is empty, is no Python, yields, or defines one of the other functions of its role alone.
    """
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    typed = body
    offset = len(cell.above)
    try:
        tree = _parsed(body)
    except SyntaxError as error:
        if transform is None:
            raise _pointed(error, typed, offset) from None
        body = transform(body)
        try:
            tree = _parsed(body)
        except SyntaxError as second:
            raise _pointed(second, typed, offset) from None
    if not tree.body:
        raise CellError(
            f"the cell of {role.what} {name} is empty; write what it returns, or an `async def {role.function}`"
        )
    defined = {statement.name: statement for statement in tree.body if _is_function(statement)}
    others = tuple(other for other in role.others if other in defined)
    defines_get = role.function in defined
    slip = "" if defines_get else uncalled(tree, role.function) or (unreturned(tree) if role.gives else "")
    if others and not defines_get:
        raise CellError(
            f"the cell defines {others[0]} but no {role.function}; put the rest into an `async def {role.function}`",
            line=defined[others[0]].lineno + offset,
            text=typed.split("\n")[defined[others[0]].lineno - 1],
        )
    if defines_get:
        text = "\n".join([*(f"# {line}".rstrip() for line in cell.above), body])
        indented = frozenset[int]()
    else:
        _refuse_unused(tree, typed, offset, role)
        text, indented = _as_function(body, tree, _identifier(name, role), cell.above)
    try:
        module = _parsed(text)
        functions = {s.name: s for s in module.body if _is_function(s)}
        if not defines_get:
            flags |= take_features(module.body[-1])
        function = functions[role.function] if defines_get else _returning(module)
        for one in (function, *(functions[other] for other in others)):
            _refuse_yield(one, typed, offset, indented, role)
        mode = flags | (ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if defines_get else 0)
        code = compile(module, cell.filename, "exec", flags=mode, dont_inherit=True)
    except SyntaxError as error:
        raise _pointed(error, typed, offset, indented) from None
    except (RecursionError, MemoryError):  # the compiler goes deeper than the parser
        raise CellError(TOO_DEEP) from None
    keep_source(cell.filename, text)
    names = (role.function, *others) if defines_get else (function.name,)
    get, *rest = _run(code, namespace, names, apart=not defines_get)
    described = ast.get_docstring(function) or (ast.get_docstring(module) if defines_get else None)
    return CompiledCell(get, described, dict(zip(others, rest, strict=True)), slip)


def _parsed(text: str) -> ast.Module:
    """Parse ``text``; whatever the parser refuses it for becomes a SyntaxError or a `CellError`."""
    try:
        return ast.parse(text)
    except (RecursionError, MemoryError):
        raise CellError(TOO_DEEP) from None
    except SyntaxError:
        raise
    except ValueError as error:  # a null character, half of a surrogate pair
        raise CellError(f"Python cannot read this: {error}") from None


def keep_source(filename: str, text: str) -> None:
    """Let tracebacks and `inspect.getsource` find ``text`` under ``filename``."""
    entry = (len(text), None, [line + "\n" for line in text.split("\n")], filename)
    linecache.cache[filename] = entry
    # IPython refreshes the cache from this table, where it keeps what it ran itself.
    if filename in getattr(linecache, "_ipython_cache", {}):
        linecache._ipython_cache[filename] = entry  # type: ignore[attr-defined]  # noqa: SLF001


def forget_source(filename: str) -> None:
    """Undo `keep_source`."""
    linecache.cache.pop(filename, None)
    getattr(linecache, "_ipython_cache", {}).pop(filename, None)


def _is_function(statement: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)


def _identifier(name: str, role: Role) -> str:
    plain = re.sub(r"\W", "_", name)
    return plain if plain.isidentifier() and not keyword.iskeyword(plain) else f"{role.function}_{plain}"


def _as_function(
    body: str, tree: ast.Module, name: str, above: tuple[str, ...]
) -> tuple[str, frozenset[int]]:
    """Return the text of an async function with this body, and the lines that were indented for it."""
    inside_strings = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr | ast.Constant) and node.end_lineno is not None
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
    lines = body.split("\n")
    offset = len(above)
    indented = frozenset(
        number + offset for number in range(1, len(lines) + 1) if number not in inside_strings
    )
    head = [f"# {line}".rstrip() for line in above[:-1]]
    head.append(f"async def {name}({PARAMETERS}):" + (f"  # {above[-1]}" if above[-1] else ""))
    rest = [
        _indented(line) if number + offset in indented and line.strip() else line
        for number, line in enumerate(lines, start=1)
    ]
    return "\n".join([*head, *rest, ""]), indented


def _indented(line: str) -> str:
    """Indent a line of code; Python counts the columns of one anew after a form feed."""
    code = line.lstrip(" \t\f")
    before, feed, after = line[: len(line) - len(code)].rpartition("\f")
    return before + feed + INDENT + after + code


def _returning(module: ast.Module) -> ast.AsyncFunctionDef:
    """Make a bare expression at the function's end its result."""
    function = module.body[-1]
    assert isinstance(function, ast.AsyncFunctionDef)
    last = function.body[-1]
    if isinstance(last, ast.Expr):
        function.body[-1] = ast.copy_location(ast.Return(last.value), last)
    return function


def _refuse_unused(tree: ast.Module, typed: str, offset: int, role: Role) -> None:
    """Refuse a body that gives nothing back, but names something as if that were its function."""
    found = None if gives_result(tree) else binding_of(role.function, tree)
    if found is not None:
        raise CellError(
            f"the cell returns nothing: its {role.function} counts only as a `def {role.function}` "
            f"or an `async def {role.function}` that is not indented",
            line=found.lineno + offset,
            text=typed.split("\n")[found.lineno - 1],
        )


def _refuse_yield(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    typed: str,
    offset: int,
    indented: frozenset[int],
    role: Role,
) -> None:
    open_nodes: list[ast.AST] = list(function.body)
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            error = SyntaxError(f"{role.named()} cannot yield; it must return its result")
            error.lineno, error.offset = node.lineno, node.col_offset + 1
            raise _pointed(error, typed, offset, indented)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            open_nodes.extend(ast.iter_child_nodes(node))


def _pointed(
    error: SyntaxError, typed: str, offset: int, indented: frozenset[int] | None = None
) -> CellError:
    """Return ``error`` as one that names and shows the line of the cell.

    ``indented`` is None where the error was found in the body alone, whose first line is line 1.
    """
    lines = typed.split("\n")
    found = error.lineno or 1
    number = found if indented is None else found - offset
    column = (error.offset or 1) - 1
    if indented is not None and found in indented:
        column -= len(INDENT)
    number = min(max(number, 1), len(lines))
    text = lines[number - 1]
    if indented is not None:
        column = len(text.encode()[: max(column, 0)].decode(errors="ignore"))  # a compiler counts bytes
    return CellError(error.msg, line=number + offset, text=text, column=max(column, 0))


def _run(
    code: Any, namespace: dict[str, Any], names: tuple[str, ...], *, apart: bool
) -> list[Callable[..., Any]]:
    """Run the definitions in ``namespace`` and return the functions, leaving no new names of theirs behind."""
    __tracebackhide__ = True
    if apart:
        scope: dict[str, Any] = {}
        exec(code, namespace, scope)  # noqa: S102  running the user's cell is the task
        return [scope[name] for name in names]
    absent = object()
    before = {name: namespace.get(name, absent) for name in names}
    try:
        if code.co_flags & inspect.CO_COROUTINE:
            run_sync(lambda: eval(code, namespace))  # noqa: S307
        else:
            exec(code, namespace)  # noqa: S102
        return [namespace[name] for name in names]
    finally:
        for name, earlier in before.items():
            if earlier is absent:
                namespace.pop(name, None)
            else:
                namespace[name] = earlier

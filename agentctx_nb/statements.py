"""What the statements of a cell's body do that decides how it is to be read."""

from __future__ import annotations
import __future__

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["binding_of", "gives_result", "take_features", "uncalled", "unreturned"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def gives_result(body: ast.Module) -> bool:
    """Whether ``body``, as that of a function, returns something: by a ``return``, or the expression it ends in.

    >>> gives_result(ast.parse("get = 5")), gives_result(ast.parse("get = 5; get"))
    (False, True)
    """
    return isinstance(body.body[-1], ast.Expr) or any(
        isinstance(node, ast.Return) for node in _own_nodes(body)
    )


def binding_of(name: str, body: ast.Module) -> Any:
    """Return the node of ``body`` that gives ``name`` its value by itself, or None."""
    for node in _own_nodes(body):
        held = [node] if isinstance(node, _SCOPES) else getattr(node, "names", None) or []
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
            return node
        for one in held:
            if name == (getattr(one, "asname", None) or getattr(one, "name", None)):
                return node
    return None


def uncalled(body: ast.Module, function: str) -> str:
    """Return what to say of a body that ends in a function which is none of that name, if it does.

    >>> uncalled(ast.parse("def got(): return 5"), "get")
    'it only defines got, which nothing calls; the function of a cell is named get'
    """
    last = body.body[-1]
    if gives_result(body) or not isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    return f"it only defines {last.name}, which nothing calls; the function of a cell is named {function}"


def unreturned(body: ast.Module) -> str:
    """Return what to say of a body that gives nothing back and ends in giving a name its value.

    >>> unreturned(ast.parse("text = 'Rain.'"))
    'it gives nothing back; end it in `return text`'
    """
    if gives_result(body):
        return ""
    last = body.body[-1]
    name = _assigned(last)
    shared = {shared for node in _own_nodes(body) if isinstance(node, ast.Global) for shared in node.names}
    return f"it gives nothing back; end it in `return {name}`" if name and name not in shared else ""


def _assigned(statement: ast.stmt) -> str:
    """Return the name that ``statement`` gives a value, where it is one."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")


def take_features(function: Any) -> int:
    """Take ``from __future__ import ...`` from where a function begins and return the compiler flags it means.

    In a cell it is the first line; only in the function made of the cell it is not.
    """
    flags = 0
    start = 1 if ast.get_docstring(function, clean=False) is not None else 0
    while len(function.body) > start and (features := _features(function.body[start])):
        for feature in features:
            flags |= getattr(__future__, feature).compiler_flag
        taken = function.body.pop(start)
        if not function.body:
            function.body.append(ast.copy_location(ast.Pass(), taken))
            break
    return flags


def _features(statement: ast.stmt) -> list[str]:
    if not isinstance(statement, ast.ImportFrom) or statement.module != "__future__" or statement.level:
        return []
    names = [alias.name for alias in statement.names]
    for name in names:
        if name not in __future__.all_feature_names:  # Python would say that it stands in the wrong place
            error = SyntaxError(f"future feature {name} is not defined")
            error.lineno, error.offset = statement.lineno, statement.col_offset + 1
            raise error
    return names


def _own_nodes(body: ast.Module) -> Iterator[ast.AST]:
    """Yield each node that is no part of a function or class inside."""
    nodes: list[ast.AST] = list(body.body)
    while nodes:
        node = nodes.pop()
        yield node
        if not isinstance(node, _SCOPES):
            nodes.extend(ast.iter_child_nodes(node))

"""A cell that names a get but returns nothing is refused; its first line may turn on a feature of Python."""

from __future__ import annotations

import ast
import asyncio

import pytest

from agentctx_nb.source import Cell, CellError, Role, compile_cell
from agentctx_nb.statements import binding_of, gives_result, take_features


def compiled(body, **options):
    return compile_cell(body, name="X", namespace={}, cell=Cell("<cell of statements>"), **options)


def result(body):
    return asyncio.run(compiled(body).get(1, 2, 3))


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("get = lambda: 'x'", 2),
        ("x = 1\nclass get:\n    def __call__(self): return 'x'", 3),
        ("if True:\n    def get(): return 'x'", 3),
        ("from os import getcwd as get", 2),
        ("for get in (len,): pass", 2),
        ("(get := len) and None; x = 1", 2),
    ],
)
def test_a_get_that_is_no_function_of_the_cell_is_refused(body, line):
    with pytest.raises(CellError, match="returns nothing: its get counts only as a `def get`") as caught:
        compiled(body)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("get = len\nreturn get('abc')", 3),
        ("get = len\nget('abc')", 3),
        ("def inner():\n    get = 5\n    return get\nx = inner()", None),
        ("x = 1", None),
    ],
)
def test_a_name_of_its_own_is_free_where_the_cell_returns_something_or_names_no_get(body, value):
    assert result(body) == value


def test_an_action_is_told_of_its_handler():
    with pytest.raises(CellError, match="`def handler`"):
        compiled("handler = print", role=Role("action", "handler", ("validate",)))


@pytest.mark.parametrize(
    "above", ["", "#| dynamic\n\n", "'what it gives'\n", "from __future__ import division\n"]
)
def test_the_first_statement_of_a_body_may_be_a_future_import(above):
    body = (
        f"{above}from __future__ import annotations\ndef f(a: Unknown): return f.__annotations__['a']\nf(1)"
    )
    assert result(body) == "Unknown"


def test_a_body_of_nothing_but_a_future_import_gives_nothing():
    assert result("from __future__ import annotations") is None
    assert result("'a text'\nfrom __future__ import annotations") == "a text"


@pytest.mark.parametrize(
    ("body", "said", "line"),
    [
        ("x = 1\nfrom __future__ import annotations", "must occur at the beginning", 3),
        ("from __future__ import nope\n1", "future feature nope is not defined", 2),
    ],
)
def test_other_future_imports_are_what_python_says_of_them(body, said, line):
    with pytest.raises(CellError, match=said) as caught:
        compiled(body)
    assert caught.value.line == line


def test_the_rules_one_by_one():
    assert gives_result(ast.parse("if x:\n    return 1"))
    assert not gives_result(ast.parse("def f():\n    return 1"))
    assert binding_of("get", ast.parse("with open('f') as get: pass")).lineno == 1
    assert binding_of("get", ast.parse("get.x = 1; get")) is None
    (function,) = ast.parse("def f():\n    from __future__ import annotations\n    return 1").body
    assert take_features(function) > 0
    assert len(function.body) == 1

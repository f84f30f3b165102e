from __future__ import annotations

import ast
import asyncio
import inspect
import linecache
import textwrap
import traceback

import pytest

from agentctx_nb.source import Cell, CellError, compile_cell, forget_source, option_lines

FILE = "<cell under test>"
MAGIC = "%%provider WEATHER --dynamic"


@pytest.fixture(autouse=True)
def _clean_cache():
    yield
    forget_source(FILE)


def compiled(body, *, namespace=None, name="WEATHER", above=(MAGIC,), **options):
    namespace = {"__name__": "__main__"} if namespace is None else namespace
    return compile_cell(body, name=name, namespace=namespace, cell=Cell(FILE, above), **options)


def result(body, *arguments, **options):
    get = compiled(body, **options).get
    outcome = get(*(arguments or (1, 2, 3)))
    return asyncio.run(outcome) if inspect.isawaitable(outcome) else outcome


def error(body, **options):
    with pytest.raises(CellError) as caught:
        compiled(body, **options)
    return caught.value


def shown(body, **options):
    return error(body, **options)._render_traceback_()


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return 'Rain.'", "Rain."),
        ("x = 1\nx + 1", 2),
        ("'only a string is the result'", "only a string is the result"),
        ("import asyncio\nawait asyncio.sleep(0, 'awaited')", "awaited"),
        ("(runtime, message, state)", (1, 2, 3)),
        ("if state:\n    return 'early'\n'late'", "early"),
        ("x = 1", None),
        ("\n\n# a comment\n\n7\n\n", 7),
        ("async with __import__('contextlib').nullcontext(5) as five:\n    pass\nfive", 5),
        ("[await x for x in []]", []),
        ("if state:\r\n    x = 1\r\nx\r\n", 1),
        ("if state:\n\tx = 1\n\ty = 2\nx + y", 3),
        ("f = lambda: (yield)\n1", 1),
        ("def numbers():\n    yield 1\nlist(numbers())", [1]),
        ("def get_more(): return 4\nget_more()", 4),
        ("import functools\n@functools.cache\ndef two(): return 2\ntwo()", 2),
        ("(1,\n2,\n    3)", (1, 2, 3)),
        ("1 + \\\n2", 3),
        ("x = 1; x", 1),
    ],
)
def test_a_body_is_the_body_of_the_function(body, value):
    assert result(body) == value


@pytest.mark.parametrize(
    "literal",
    [
        '"""one\n  two\n\nthree"""',
        "'''a\n\tb'''",
        'b"""x\n y"""',
        'f"""{1}\n  {1 +\n1}\n end"""',
        "\"\"\"outer '''inner\n  text'''\n\"\"\"",
        "'back\\\nslash'",
        "('a'\n 'b')",
        'rf"""\\d{2}\n{{x}}\n"""',
    ],
)
def test_a_string_keeps_its_value(literal):
    assert result(f"x = 1\nreturn {literal}") == eval(literal)
    assert result(f"if True:\n    return {literal}") == eval(literal)
    assert result(literal) == eval(literal)


def test_the_text_in_the_cache_is_the_function_that_runs():
    get = compiled('"""Doc\n  more"""\nx = """\n  kept\n"""\nreturn x').get
    scope = {}
    exec(inspect.getsource(get), scope)
    assert asyncio.run(scope["WEATHER"](1, 2, 3)) == "\n  kept\n" == asyncio.run(get(1, 2, 3))
    assert ast.parse("".join(linecache.getlines(FILE)))


def test_a_docstring_is_the_description_and_a_lone_string_is_not():
    assert compiled('"""Tells the weather.\n\n    In short."""\nreturn 1').description == (
        "Tells the weather.\n\nIn short."
    )
    assert compiled("'Rain.'").description is None
    assert compiled("'''Cell.'''\nasync def get():\n    return 1").description == "Cell."
    assert compiled("async def get():\n    'Get.'\n    return 1").description == "Get."


def test_names_of_the_namespace_are_looked_up_when_the_function_runs():
    namespace = {"__name__": "__main__", "message": "shadowed"}
    get = compiled("helper(message)", namespace=namespace).get
    namespace["helper"] = str.upper
    assert asyncio.run(get(1, "hi", 3)) == "HI"
    assert set(namespace) == {"__name__", "__builtins__", "message", "helper"}


def test_global_writes_where_every_cell_sees_it():
    namespace = {"__name__": "__main__", "count": 1}
    asyncio.run(compiled("global count\ncount += 1", namespace=namespace).get(1, 2, 3))
    assert namespace["count"] == 2


def test_a_cell_may_define_get_itself():
    assert result("async def get(runtime, message):\n    return message", 1, "hi") == "hi"
    assert result("def get(runtime):\n    return runtime", 7) == 7


def test_a_cell_that_defines_get_keeps_its_other_names_and_gives_back_the_name_get():
    namespace = {"__name__": "__main__", "get": "mine"}
    body = "COUNT = 0\ndef helper():\n    global COUNT\n    COUNT += 1\n    return COUNT\ndef get():\n    return helper()"
    get = compiled(body, namespace=namespace).get
    assert (get(), get()) == (1, 2)
    assert namespace["get"] == "mine"
    assert namespace["COUNT"] == 2


def test_a_cell_that_defines_get_may_await_at_its_top_level():
    get = compiled("import asyncio\nx = await asyncio.sleep(0, 5)\ndef get(): return x").get
    assert get() == 5


def test_a_cell_that_fails_while_it_defines_get_leaves_no_get_behind():
    namespace = {"__name__": "__main__"}
    with pytest.raises(ZeroDivisionError):
        compiled("def get(): pass\n1 / 0", namespace=namespace)
    assert "get" not in namespace


def frames(get, *arguments):
    try:
        outcome = get(*arguments)
        if inspect.isawaitable(outcome):
            asyncio.run(outcome)
    except Exception as exc:  # noqa: BLE001
        return [(f.lineno, f.line) for f in traceback.extract_tb(exc.__traceback__) if f.filename == FILE]
    raise AssertionError("it must fail")


def test_a_traceback_shows_the_line_of_the_cell():
    body = "#| dynamic\n\nx = '''\n'''\nif x:\n    raise RuntimeError(x)"
    assert frames(compiled(body).get, 1, 2, 3) == [(7, "raise RuntimeError(x)")]
    assert frames(compiled(body, above=("", "", MAGIC)).get, 1, 2, 3) == [(9, "raise RuntimeError(x)")]
    body = "def helper():\n    return 1 / 0\ndef get():\n    return helper()"
    assert frames(compiled(body).get) == [(5, "return helper()"), (3, "return 1 / 0")]


def test_carets_stand_below_the_failing_expression_also_after_wide_letters():
    get = compiled("x = 0\n'äöü€' and 1 / x").get
    try:
        asyncio.run(get(1, 2, 3))
    except ZeroDivisionError:
        lines = traceback.format_exc().splitlines()
    at = lines.index("    'äöü€' and 1 / x")
    assert lines[at + 1].strip(" ~^") == ""
    assert lines[at + 1].index("~~^") == lines[at].index("1 / x")


def test_getsource_gives_the_whole_function():
    assert inspect.getsource(compiled("x = 1\n\n# why\nreturn x").get) == (
        f"async def WEATHER(runtime, message, state):  # {MAGIC}\n    x = 1\n\n    # why\n    return x\n"
    )
    source = "async def get():\n    return 1\n"
    assert inspect.getsource(compiled("x = 1\n" + source).get) == source


@pytest.mark.parametrize(
    ("name", "function"),
    [("WEATHER", "WEATHER"), ("my-weather", "my_weather"), ("2x", "get_2x"), ("class", "get_class")],
)
def test_the_function_is_called_as_the_provider_as_far_as_python_allows(name, function):
    assert compiled("1", name=name).get.__name__ == function


@pytest.mark.parametrize("body", ["", "\n\n", "# only\n# comments", "#| dynamic: true\n"])
def test_an_empty_cell_says_so(body):
    assert shown(body) == [
        "CellError: the cell of provider WEATHER is empty; write what it returns, or an `async def get`"
    ]


@pytest.mark.parametrize(
    ("body", "line", "column"),
    [
        ("x = 1\nx = = 2\n", 3, 4),
        ("if x:\ny = 1", 3, 0),
        ("x = 1\nbreak", 3, 0),
        ("global message\nreturn 1", 2, 0),
        ("if 1:\n    from os import *", 3, 19),
        ("x = 'äöü'; x = = 1", 2, 15),
        ("yield 1", 2, 0),
        ("if 1:\n\tx = yield", 3, 5),
        ("x = 'äöü'; yield x", 2, 11),
        ("def get():\n    yield 1", 3, 4),
        ("def get():\n    return 1\nreturn 2", 4, 0),
        ("x = '''\nnever closed", 2, 4),
    ],
)
def test_a_mistake_points_at_the_line_as_typed(body, line, column):
    found = error(body)
    assert (found.line, found.column) == (line, column)
    assert found.text == body.split("\n")[line - 2]


def test_a_mistake_is_shown_in_three_lines():
    assert shown("x = 1\nif x:\n    y = = 2") == [
        "CellError: invalid syntax (line 4)",
        "        y = = 2",
        "            ^",
    ]


def test_yield_is_refused_with_the_reason():
    assert "cannot yield" in error("yield 1").message
    assert "cannot yield" in error("for x in [1]:\n    yield from x").message


def test_a_cell_that_does_not_compile_leaves_the_cache_as_it_was():
    compiled("return 1")
    before = linecache.getlines(FILE)
    error("return = 1")
    assert linecache.getlines(FILE) == before


def test_syntax_of_ipython_goes_through_the_transform_it_is_given():
    def transform(text):
        return text.replace("%answer", "42")

    assert result("x = %answer\nx", transform=transform) == 42
    assert error("x = %answer\ny = = 2", transform=transform).line == 3
    assert error("x = %answer").line == 2


def test_plain_python_is_not_transformed():
    assert result("'%answer'", transform=str.upper) == "%answer"


def test_the_flags_of_earlier_cells_apply():
    import __future__

    body = "def f(x: missing): pass\nf.__annotations__"
    assert result(body, flags=__future__.annotations.compiler_flag) == {"x": "missing"}


def test_option_lines_end_where_the_code_begins():
    body = textwrap.dedent("""
        #| dynamic
        #| keywords: rain, snow
        #|timeout:2
        #| always run: true
        x = 1
        #| private
    """)
    assert list(option_lines(body)) == [
        (2, "dynamic", None),
        (3, "keywords", "rain, snow"),
        (4, "timeout", "2"),
        (5, "always run", "true"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "if True:\n\f    x = 'yes'\nx",
        "if True:\n    x = 'no'\n \f    x = 'yes'\nx",
        "\fx = 'yes'\n\f\nx",
        "\f'''doc'''\nx = 'yes'\n\fx",
    ],
)
def test_a_form_feed_before_a_line_changes_nothing(body):
    compiled = compile_cell(body, name="A", namespace={}, cell=Cell("<cell>"))
    assert asyncio.run(compiled.get(None, None, None)) == "yes"


DEEP = {
    "long": "+".join(["1"] * 200_000),
    "nested": "(" * 150 + "1" + ")" * 150 + "".join(f".a{n}" for n in range(100_000)),
    "in get": "def get():\n    return " + "+".join(["1"] * 200_000),
}


@pytest.mark.parametrize("body", DEEP.values(), ids=DEEP.keys())
def test_an_expression_too_deep_for_python_is_said_to_be_one(body):
    with pytest.raises(CellError, match="too long or too deep for Python"):
        compile_cell(body, name="A", namespace={}, cell=Cell("<cell>"))


@pytest.mark.parametrize("body", ["x = '\0'", "x = '\ud800'\nx"])
def test_what_python_cannot_read_at_all_is_a_cell_error(body):
    with pytest.raises(CellError):
        compile_cell(body, name="A", namespace={}, cell=Cell("<cell>"))

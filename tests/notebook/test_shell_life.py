"""The magics beside what else is in a shell: other magics, %reset, loops, cells nobody foresaw."""

from __future__ import annotations

import inspect
import linecache
import traceback

import pytest
from IPython.utils.capture import capture_output

from agentctx_nb import State
from agentctx_nb.notebook.extension import load, unload

ECHO = "%%provider ECHO\nf'heard [{message.content.text}]'"
NAMES = ("provider", "providers", "compose")
SECRET = "s3cr3t-value"


def heard(state):
    return state.text.removeprefix("heard [").removesuffix("]")


def test_a_magic_that_was_there_before_is_back_after_unloading(ip):
    ip.register_magic_function(lambda line: "mine", "line", "providers")
    ip.register_magic_function(lambda line, cell=None: "mine too", "line_cell", "compose")

    def ours():
        tables = ip.magics_manager.magics
        return {(kind, name): tables[kind].get(name) for kind in tables for name in NAMES}

    before = ours()
    for _ in range(2):
        load(ip)
        assert ip.run_line_magic("providers", "") != "mine"
        load(ip)
        unload(ip)
        assert ours() == before
    assert ip.run_line_magic("providers", "") == "mine"
    for kind, name in (("line", "providers"), ("line", "compose"), ("cell", "compose")):
        del ip.magics_manager.magics[kind][name]


def test_the_runtime_has_its_name_again_after_a_reset(shell):
    runtime = shell.runtime
    shell.run("%%provider A\n'a'")
    shell.run("%reset -f")
    assert shell.run("runtime") is runtime
    assert shell.run("%compose hi").text == "a"
    shell.run("runtime = 5")
    assert shell.run("runtime") == 5
    assert shell.run("agentctx_runtime") is runtime


def test_unloading_leaves_nothing_that_looks_after_the_name(ip):
    before = list(ip.events.callbacks["pre_run_cell"])
    load(ip)
    load(ip)
    assert len(ip.events.callbacks["pre_run_cell"]) == len(before) + 1
    unload(ip)
    assert ip.events.callbacks["pre_run_cell"] == before


def everything(ip):
    """Return all that an extension could leave in a shell."""
    for name in list(ip.magics_manager.lazy_magics):  # a newer shell's own, loaded when they are asked for
        ip.find_magic(name)
    tables = {
        (kind, name): function
        for kind, table in ip.magics_manager.magics.items()
        for name, function in table.items()
    }
    return {
        "magics": tables,
        "registry": dict(ip.magics_manager.registry),
        "configurables": [*ip.configurables],
        "matchers": [*ip.Completer.custom_matchers],
        "completers": dict(ip.strdispatchers),
        "events": {event: [*callbacks] for event, callbacks in ip.events.callbacks.items()},
        "transformers": [*ip.input_transformers_cleanup, *ip.input_transformers_post],
        "formatters": dict(ip.display_formatter.mimebundle_formatter.type_printers),
    }


def test_unloading_leaves_no_trace_whatever_was_done_in_between(ip):
    before = everything(ip)
    sources = {name for name in linecache.cache if name.startswith("<provider")}
    load(ip)
    assert all(
        everything(ip)[part] != before[part] for part in before if part not in {"registry", "completers"}
    )
    with capture_output():
        for cell in (
            ECHO,
            "for _ in 'a':\n    get_ipython().run_cell_magic('provider', 'B', '1')",
            "kept = %compose hi",
            "%pin hi",
            "%config AgentContext.rows = 5",
            "%provider ECHO",
            "%%learn x\ny",
            "%compose --nonsense",
        ):
            ip.run_cell(cell, store_history=True)
    unload(ip)
    assert everything(ip) == before
    assert {name for name in linecache.cache if name.startswith("<provider")} == sources
    assert ip.user_ns["kept"].text.startswith("heard [hi]")
    unload(ip)
    assert everything(ip) == before


def test_five_reloads_leave_one_of_everything_and_print_nothing(ip):
    load(ip)
    with capture_output():
        ip.run_cell(ECHO, store_history=True)
        ip.run_cell("%pin hi", store_history=True)
    counts = {part: len(there) for part, there in everything(ip).items()}
    for _ in range(5):
        with capture_output() as captured:
            ip.run_cell("%reload_ext agentctx_nb")
            ip.run_cell("%load_ext agentctx_nb")
            load(ip)
        assert captured.stderr == ""
        assert "rror" not in captured.stdout
    assert {part: len(there) for part, there in everything(ip).items()} == counts
    with capture_output():
        assert ip.run_cell("%compose hi").result.text == "heard [hi]"
    unload(ip)


@pytest.mark.parametrize(
    "mistake", ["rows = 0", "timeout = -1", "presets = {'a': {'onyl': True}}", "rowz = 3"]
)
def test_a_setting_that_was_refused_is_gone_at_the_next_reload(ip, mistake):
    load(ip)
    try:
        with capture_output() as captured:
            ip.run_cell("%config AgentContext.cell = 20")
            ip.run_cell(f"%config AgentContext.{mistake}")
        assert captured.stderr.startswith("AgentContext: ")
        with capture_output() as captured:
            ip.run_cell("%reload_ext agentctx_nb")
            rows, cell = [ip.run_cell(f"%config AgentContext.{name}").result for name in ("rows", "cell")]
        assert captured.stderr == ""
        assert "rror" not in captured.stdout
        assert (rows, cell) == (100, 20)
    finally:
        ip.config.pop("AgentContext", None)
        unload(ip)


def test_a_load_that_fails_half_way_leaves_nothing_behind(ip, monkeypatch):
    before = everything(ip)
    monkeypatch.setattr(ip.events, "register", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        load(ip)
    assert everything(ip) == before


def test_a_formatter_somebody_registered_is_back_after_unloading(ip):
    formatter = ip.display_formatter.mimebundle_formatter
    mine = lambda state, **_: {"text/plain": "mine"}
    formatter.for_type(State, mine)
    load(ip)
    unload(ip)
    assert formatter.type_printers[State] is mine
    formatter.pop(State)


LOOP = """\
for name in ("ONE", "TWO"):
    get_ipython().run_cell_magic("provider", name, f"x = 1\\nraise RuntimeError({name!r})")
"""


CALL = 'get_ipython().run_cell_magic("provider", "{0}", "x = 1\\nraise RuntimeError(\'{0}\')")'
TWO_CALLS = f"{CALL.format('ONE')}\n{CALL.format('TWO')}"


@pytest.mark.parametrize("cell", [LOOP, TWO_CALLS, f"x = 1\n{TWO_CALLS}"])
def test_each_of_several_providers_of_one_cell_has_its_own_source(shell, cell):
    shell.run(cell)
    for _ in range(2):
        state = shell.run("%compose hi")
        for name, other in (("ONE", "TWO"), ("TWO", "ONE")):
            source = inspect.getsource(shell.runtime.get_provider(name).get)
            assert name in source
            assert other not in source
            trace = "".join(traceback.format_exception(state.errors[name]))
            assert f"raise RuntimeError('{name}')" in trace
        unload(shell.ip)
        load(shell.ip)


def test_the_older_of_two_of_one_name_keeps_its_source_too(shell):
    for text in ("first", "second"):
        shell.run(f'for _ in "x":\n    get_ipython().run_cell_magic("provider", "A", "{text!r}")')
        if text == "first":
            older = shell.runtime.get_provider("A").get
    assert "first" in inspect.getsource(older)
    assert "second" in inspect.getsource(shell.runtime.get_provider("A").get)


def test_a_cell_run_again_still_is_its_own_source(shell):
    for _ in range(2):
        shell.run("%%provider A --position 3\n'from the cell'")
        get = shell.runtime.get_provider("A").get
        assert get.__code__.co_filename in shell.ip.compile._filename_map
        assert "%%provider A --position 3" in inspect.getsource(get)


@pytest.mark.parametrize("cell", ["%%providers\nsome text", "%%providers", "%%providers --all\nsome text"])
def test_a_cell_below_providers_is_a_mistake_of_ours(shell, cell):
    name, seen = shell.fail(cell)
    assert name == "ArgumentError"
    assert seen.strip() == (
        "ArgumentError: %providers takes no cell below it; write it on a line, with one % sign"
    )


@pytest.mark.parametrize("name", ["learn", "remember", "act", "actions", "providers"])
@pytest.mark.parametrize("below", ["", "\nsome text", " x --y\nsome text"])
def test_a_line_magic_over_a_cell_is_a_mistake_of_ours(shell, name, below):
    assert shell.fail(f"%%{name}{below}") == (
        "ArgumentError",
        f"ArgumentError: %{name} takes no cell below it; write it on a line, with one % sign\n",
    )


@pytest.mark.parametrize("message", ["a;b;", "a; b", "print(1); print(2);", "for (;;);"])
def test_a_message_with_semicolons_of_its_own_keeps_them_all_and_is_shown(shell, message):
    shell.run(ECHO)
    assert heard(shell.run(f"%compose {message}")) == message


@pytest.mark.parametrize("line", ["hi;", "hi ;", "'a;b';", "--fresh hi;", "--strict;"])
def test_one_semicolon_at_the_end_silences(shell, line):
    shell.run(ECHO)
    assert shell.run(f"%compose {line}") is None


def test_a_position_beyond_any_float_is_registered_and_said(shell):
    digits = "1" * 401
    said = repr(shell.run(f"%%provider HP --position {digits}\n'hp'"))
    assert said == "registered HP (position a long int)"
    assert shell.runtime.registered("HP").version == 1
    assert shell.runtime.get_provider("HP").position == int(digits)


@pytest.mark.parametrize("option", ["timeout", "ttl"])
def test_a_limit_beyond_any_float_is_refused_and_nothing_is_registered(shell, option):
    name, seen = shell.fail(f"%%provider A --{option} {'9' * 401}\n'a'")
    assert (name, seen.count("\n")) == ("DefinitionError", 1)
    assert f"{option} of provider A is more seconds than can be counted" in seen
    assert shell.runtime.providers == []
    assert shell.fail(f"%compose --timeout {'9' * 401} hi")[0] == "DefinitionError"


@pytest.mark.parametrize(
    "cell",
    [
        f"%provider {SECRET}",
        f"%provider --{SECRET}",
        f"%%provider A B{SECRET}\n1",
        f"%%provider A --timeout {SECRET}\n1",
        f"%%provider A\nx = = '{SECRET}'",
        f"%%provider A\n#| {SECRET}: 1\n1",
        f"%compose --out '{SECRET}' hi",
        f"%compose --strict --include {SECRET} hi",
    ],
)
def test_no_mistake_shows_or_keeps_a_secret(shell, cell):
    shell.runtime.set_setting("KEY", SECRET, secret=True)
    kept = []
    _, seen = shell.fail(cell)
    assert SECRET not in seen
    shell.ip.set_custom_exc((Exception,), lambda ip, kind, error, trace, tb_offset=None: kept.append(error))
    shell.fail(cell)
    assert SECRET not in str(kept[0])  # a notebook file keeps this beside the traceback


def test_a_strict_group_from_python_is_shown_without_a_secret(shell):
    shell.runtime.set_setting("KEY", SECRET, secret=True)
    shell.run("%%provider BROKEN\nraise RuntimeError(runtime.get_setting('KEY'))")
    for cell in ("runtime.compose('hi', strict=True)", "await runtime.compose_state('hi', strict=True)"):
        result = shell.ip.run_cell(cell)
        assert SECRET not in str(result.error_in_exec)
        assert SECRET not in str(result.error_in_exec.exceptions)

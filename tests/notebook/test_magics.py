"""The magics in a shell of this process: what they read, register, store and show."""

from __future__ import annotations

import linecache

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from agentctx_nb import AgentRuntime, load_ipython_extension, unload_ipython_extension
from agentctx_nb.notebook.extension import load, unload

ECHO = "%%provider ECHO\nf'heard [{message.content.text}]'"


def heard(state):
    return state.text.removeprefix("heard [").removesuffix("]")


def test_a_cell_becomes_a_provider_with_what_its_line_says(shell):
    done = shell.run(
        "%%provider WEATHER --dynamic --keywords rain,'how to' --position -2 --timeout 3 --ttl 9 --after NEWS\n"
        '"""What the weather does."""\n'
        "'Rain.'"
    )
    provider = shell.runtime.get_provider("WEATHER")
    assert (provider.dynamic, provider.relevance_keywords) == (True, ("rain", "how to"))
    assert (provider.position, provider.timeout, provider.ttl, provider.after) == (-2, 3, 9, ("NEWS",))
    assert provider.description == "What the weather does."
    assert shell.runtime.registered("WEATHER").origin == "cell"
    assert repr(done) == (
        "registered WEATHER (dynamic; keywords rain, how to; position -2; after NEWS; timeout 3 s; ttl 9 s); "
        "nobody is registered as 'NEWS' yet"
    )


def test_lines_at_the_top_of_the_cell_say_the_same_and_the_magic_line_wins(shell):
    shell.run(
        "%%provider A --position 1\n#| position: 5\n#| private\n#| description: 'Mine.'\n'''Doc'''\n'a'"
    )
    provider = shell.runtime.get_provider("A")
    assert (provider.position, provider.private, provider.description) == (1, True, "Mine.")


def test_running_a_cell_again_replaces_the_provider_in_its_place(shell):
    shell.run("%%provider A\n'old'")
    shell.run("%%provider B\n'b'")
    assert repr(shell.run("%%provider A\n'new'")) == "replaced A, v2"
    assert shell.run("%compose hi").text == "new\nb"


def test_replacing_what_a_module_registered_is_said(shell):
    shell.runtime.provider("A")(lambda: "from a module")
    assert repr(shell.run("%%provider A\n'new'")) == f"replaced A of {__name__}, v2"


@pytest.mark.parametrize(
    "cell",
    [
        "%%provider A\nreturn = 2",
        "%%provider A\nyield 1",
        "%%provider A\n",
        "%%provider A",
        "%%provider A\n# nothing",
        "%%provider A --dynmic\n'new'",
        "%%provider A\n#| dynmic\n'new'",
        "%%provider A\n#| private\n#| private\n'new'",
        "%%provider A --timeout 0\nglobal touched\ntouched = 1\ndef get(): return 'new'",
        "%%provider A\ntouched = 1 / 0\ndef get(): return 'new'",
        "%%provider A\ndef get(): yield 'new'",
        "%%provider A --after A\n'new'",
    ],
)
def test_a_cell_that_fails_leaves_the_old_provider_standing(shell, cell):
    shell.run("%%provider A\n'old'")
    shell.fail(cell)
    assert shell.run("%compose hi").text == "old"
    assert shell.runtime.registered("A").version == 1
    assert "touched" not in shell.ip.user_ns


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (
            "%%provider A --dynmic\n1",
            "ArgumentError: %%provider has no option '--dynmic'; did you mean '--dynamic'?",
        ),
        ("%%provider\n1", "ArgumentError: %%provider needs a name: %%provider NAME (see %%provider?)"),
        ("%%provider A\nx = = 1", "CellError: invalid syntax (line 2)\n    x = = 1\n        ^"),
        (
            "\n\n%%provider A\n#| dynmic: true\n1",
            "CellError: %%provider has no option 'dynmic'; did you mean 'dynamic'? (line 4)\n    #| dynmic: true\n    ^",
        ),
        (
            "%%provider A --timeout 0\n1",
            "DefinitionError: timeout of provider A must be more than 0 s, not 0",
        ),
        (
            "%provider WETHER",
            "UnknownProviderError: no provider is registered as 'WETHER'; did you mean 'WEATHER'?",
        ),
        ("%provider", "ArgumentError: %provider NAME shows one provider; %providers lists them"),
        ("%providers A", "ArgumentError: %providers takes no name; write %provider A"),
        ("%compose --only hi", "ArgumentError: --only runs just those of --include; add --include A,B"),
        ("%compose --timeout -1 hi", "DefinitionError: "),
        (
            "%%compose hi\nthere",
            "ArgumentError: the message of %%compose is the cell below it; write %compose for a message on the line",
        ),
    ],
)
def test_a_mistake_shows_only_its_sentence(shell, cell, shown):
    shell.run("%%provider WEATHER\n'Rain.'")
    name, seen = shell.fail(cell)
    assert seen.strip().startswith(shown)
    assert name == shown.partition(":")[0]
    assert "Traceback" not in seen
    assert seen.strip().count("\n") == shown.count("\n")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("what's up?", "what's up?"),
        ("is it $AAPL or {x} or {{y}}?", "is it $AAPL or {x} or {{y}}?"),
        ('"quoted as a whole"', "quoted as a whole"),
        ('"a" and "b"', '"a" and "b"'),
        ("really??", "really??"),
        ("say (it", "say (it"),
        ("%time and !ls", "%time and !ls"),
        ("", ""),
        ("--strict -- --only this", "--only this"),
    ],
)
def test_nothing_in_a_message_is_expanded(shell, typed, message):
    shell.run("x = 1; y = 2; AAPL = 3")
    shell.run(ECHO)
    assert heard(shell.run(f"%compose {typed}")) == message
    assert heard(shell.run(f"for _ in range(1):\n    s = %compose {typed}\ns")) == message


def test_the_message_of_a_cell_is_the_cell_as_it_is(shell):
    shell.run(ECHO)
    body = "What's {this}?\n\n  'quoted';\n%compose no?"
    assert heard(shell.run(f"%%compose\n{body}")) == body
    assert heard(shell.run("%%compose")) == ""


def test_a_question_inside_a_string_or_a_call_is_not_a_magic(shell):
    assert shell.run('s = """\n%compose is it?\n"""\ns') == "\n%compose is it?\n"


def test_out_stores_the_state_and_shows_nothing(shell):
    shell.run(ECHO)
    assert shell.run("%compose --out kept hi") is None
    assert heard(shell.run("kept")) == "hi"


def test_a_semicolon_silences(shell):
    shell.run(ECHO)
    assert shell.run("%compose hi;") is None
    assert heard(shell.run("%compose 'hi;'")) == "hi;"


def test_options_reach_the_composition(shell):
    shell.run("%%provider A\n'a'")
    shell.run("%%provider B --private\n(message.room_id, message.entity_id).__repr__()")
    assert (
        shell.run("%compose --include B --only --room lobby --entity 'Ada L' hi").text == "('lobby', 'Ada L')"
    )
    shell.run("%%provider COUNTED --ttl 60\nglobal count\ncount = globals().get('count', 0) + 1\nstr(count)")
    texts = [shell.run(f"%compose --include COUNTED --only {fresh} hi").text for fresh in ("", "", "--fresh")]
    assert texts == ["1", "1", "2"]


def test_a_failed_provider_is_shown_and_raises_only_if_strict(shell):
    shell.run("%%provider BROKEN\n1 / 0")
    assert shell.run("%compose hi").data.providers["BROKEN"].outcome == "failed"
    name, seen = shell.fail("%compose --strict hi")
    assert name == "StrictError"
    assert "----> 2 " in seen
    assert "ZeroDivisionError" in seen


def test_a_secret_stays_hidden_in_what_the_magics_show(shell):
    shell.runtime.set_setting("KEY", "s3cr3t-value", secret=True)
    assert "s3cr3t" not in repr(shell.run("%%provider s3cr3t-value\n1"))
    shell.run("%%provider BROKEN\nraise RuntimeError(runtime.get_setting('KEY'))")
    assert "s3cr3t" not in shell.fail("%compose --strict --include BROKEN --only hi")[1]


def test_lists_leave_private_providers_out_unless_all_are_wanted(shell):
    shell.run("%%provider SEEN\n'a'")
    shell.run("%%provider HIDDEN --private\n'b'")
    assert "HIDDEN" not in repr(shell.run("%providers"))
    assert "HIDDEN" in repr(shell.run("%providers --all"))


def test_one_provider_is_shown_with_the_source_of_its_cell(shell):
    shell.run("%%provider A --position 3\nx = 'from the cell'\nx")
    shown = repr(shell.run("%provider A"))
    assert "x = 'from the cell'" in shown
    assert "%%provider A --position 3" in shown


@pytest.mark.parametrize("name", ["%%provider", "%provider", "%compose", "%%compose", "%providers"])
def test_help_shows_usage_and_examples(shell, name):
    shown = []
    shell.ip.show_usage = shown.append
    with capture_output() as captured:
        shell.ip.run_cell(f"{name}?")
    text = captured.stdout
    assert "Usage:" in text
    assert "Examples:" in text


def test_names_of_later_cells_and_ipython_syntax_work_in_a_provider(shell):
    shell.run("%%provider A\nhelper(1)")
    shell.run("def helper(x): return f'helped {x}'")
    assert shell.run("%compose hi").text == "helped 1"
    shell.run("%%provider B --private\nx = !echo from the shell\nx[0]")
    assert shell.run("%compose --include B --only hi").text == "from the shell"


@pytest.mark.parametrize("above", ["", "\n\n", "%%capture\n", "# a comment\n\n  # and more\n"])
def test_the_line_of_a_failure_is_the_line_of_the_cell(shell, above):
    shell.run(f"{above}%%provider A\n\nx = 1\nraise RuntimeError(x)")
    error = shell.run("%compose hi").errors["A"]
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    assert trace.tb_lineno == above.count("\n") + 4
    filename = trace.tb_frame.f_code.co_filename
    assert linecache.getline(filename, trace.tb_lineno).strip() == "raise RuntimeError(x)"


@pytest.mark.parametrize("cell", ["# told\n%%compose --fresh\nhi", "\n# told\n# twice\n%%compose\nhi"])
def test_comments_above_a_cell_magic_do_no_harm(shell, cell):
    shell.run(ECHO)
    assert heard(shell.run(cell)) == "hi"


@pytest.mark.parametrize("cell", ["x = 1\n%%compose\nhi", "# told\n%%nonsense\nhi"])
def test_code_above_a_cell_magic_or_a_magic_of_others_is_not_touched(shell, cell):
    assert shell.fail(cell)[0] in {"UsageError", "SyntaxError"}


def test_loading_twice_changes_nothing(ip):
    load_ipython_extension(ip)
    runtime = ip.user_ns["runtime"]
    before = [*ip.input_transformers_cleanup], [*ip.input_transformers_post]
    load_ipython_extension(ip)
    assert ip.user_ns["runtime"] is runtime
    assert tuple(map(len, before)) == (len(ip.input_transformers_cleanup), len(ip.input_transformers_post))
    assert "agentctx_runtime" not in ip.user_ns


def test_the_name_runtime_stays_with_whoever_has_it(ip):
    ip.user_ns["runtime"] = "mine"
    load(ip)
    assert ip.user_ns["runtime"] == "mine"
    assert isinstance(ip.user_ns["agentctx_runtime"], AgentRuntime)


def test_unloading_leaves_no_trace_but_the_variables_of_the_user(ip):
    def traces():
        tables = {kind: set(table) for kind, table in ip.magics_manager.magics.items()}
        ours = [c for c in ip.configurables if type(c).__module__.startswith("agentctx_nb")]
        return tables, [*ip.input_transformers_cleanup], [*ip.input_transformers_post], ours

    before = traces()
    sources = set(linecache.cache)
    load_ipython_extension(ip)
    runtime = ip.user_ns["runtime"]
    ip.run_cell("%%provider A\n'a'")
    ip.run_cell("kept = %compose hi")
    filename = runtime.get_provider("A").get.__code__.co_filename
    assert linecache.getline(filename, 2).strip() == "'a'"
    unload_ipython_extension(ip)
    assert traces() == before
    assert filename not in set(linecache.cache) - sources
    assert ip.user_ns["runtime"] is runtime
    assert ip.user_ns["kept"].text == "a"


def test_unloading_leaves_a_magic_that_somebody_else_put_in_place(ip):
    load(ip)
    ip.register_magic_function(print, "line", "compose")
    unload(ip)
    assert ip.find_line_magic("compose") is print
    del ip.magics_manager.magics["line"]["compose"]


def test_reloading_keeps_the_runtime_its_providers_and_their_sources(ip):
    load(ip)
    runtime = ip.user_ns["runtime"]
    ip.run_cell("%%provider A\n'a'")
    for _ in range(5):
        unload(ip)
        load(ip)
    assert ip.user_ns["runtime"] is runtime
    with capture_output():
        assert ip.run_cell("%compose hi").result.text == "a"
        assert "'a'" in repr(ip.run_cell("%provider A").result)


def test_each_shell_has_a_runtime_of_its_own(ip):
    load(ip)
    other = InteractiveShell()
    load(other)
    assert other.user_ns["runtime"] is not ip.user_ns["runtime"]
    unload(other)
    other.history_manager.end_session()


@pytest.mark.parametrize("magic", ["provider", "action"])
def test_what_a_cell_registered_does_not_act_on_a_terminal(shell, magic):
    for _ in range(2):
        said = repr(shell.run(f"%%{magic} 'a\x1b[2J\u202eb'\n'x'"))
        assert r"a\x1b[2J\u202eb" in said
        assert not {"\x1b", "\u202e"} & set(said)

"""%pin: a message composed again after each cell that changed a provider."""

from __future__ import annotations

import asyncio

import pytest
from IPython.utils.capture import capture_output

from agentctx_nb.notebook.extension import load, unload


def ran(shell, cell):
    """Run a cell and return what appeared below it."""
    with capture_output() as captured:
        result = shell.ip.run_cell(cell, store_history=True)
    assert result.success
    return captured.stdout + "".join(out.data["text/plain"] for out in captured.outputs)


@pytest.fixture
def pinned(shell):
    shell.run("%%provider RAIN --dynamic --keywords rain\n{'text': 'It rains.', 'values': {'mm': 3}}")
    first = shell.run("%pin will it rain?")
    assert "pinned: will it rain?" in repr(first)
    assert "It rains." in repr(first)
    return shell


def test_replacing_a_provider_shows_what_changed(pinned):
    seen = ran(
        pinned, "%%provider RAIN --dynamic --keywords rain\n{'text': 'It pours.', 'values': {'mm': 9}}"
    )
    for said in ("replaced RAIN, v2", "- It rains.", "+ It pours.", "mm", "tokens", "ms"):
        assert said in seen


def test_a_new_provider_by_a_decorator_or_in_a_loop_shows_it_once_for_the_cell(pinned):
    cell = (
        "for name in ('ONE', 'TWO'):\n    get_ipython().run_cell_magic('provider', name, repr(name))\n"
        "@runtime.provider('THREE')\ndef three():\n    return 'three'"
    )
    seen = ran(pinned, cell)
    assert seen.count("text:") == 1
    for said in ("+ ONE", "+ TWO", "+ three"):
        assert said in seen


def test_removing_and_rolling_back_show_it_too_and_a_cell_that_changes_nothing_does_not(pinned):
    assert "- It rains." in ran(pinned, "runtime.unregister_provider('RAIN');")
    assert "+ It rains." in ran(pinned, "%provider RAIN --rollback 1")
    for cell in ("1 + 1", "%compose hi;", "%provider RAIN;", "%pin;"):
        assert "+ It" not in ran(pinned, cell)


def test_a_provider_that_fails_or_a_cell_that_does_not_compile(pinned):
    seen = ran(pinned, "%%provider RAIN --dynamic --keywords rain\n1 / 0")
    assert "ZeroDivisionError" in seen
    assert "replaced RAIN, v2" in seen
    before = pinned.runtime.registered("RAIN").version
    name, seen = pinned.fail("%%provider RAIN\nreturn = 1")
    assert (name, pinned.runtime.registered("RAIN").version) == ("CellError", before)
    assert "text:" not in seen


def test_a_pinned_message_that_cannot_be_composed_loses_no_registration(pinned):
    pinned.runtime.select = lambda decisions, message: 1 / 0  # a broken hook leaves the selection as it was
    assert "registered A" in ran(pinned, "%%provider A\n'a'")
    pinned.run(
        "%config AgentContext.strict = True"
    )  # pinned compositions show failures, whatever the default
    assert "registered B" in ran(pinned, "%%provider B\n1 / 0")
    pinned.runtime.compose_state = None
    seen = ran(pinned, "%%provider C\n'c'")
    assert "registered C" in seen
    assert "the pinned message could not be composed: TypeError" in seen
    del pinned.runtime.compose_state
    assert "+ d" in ran(pinned, "%%provider D\n'd'")


def test_a_provider_that_registers_others_is_not_composed_below_every_cell(pinned):
    body = "runtime.register_provider({'name': 'INNER', 'get': lambda: 'inner'})\n'outer'"
    assert "+ outer" in ran(pinned, f"%%provider OUTER\n{body}")
    assert "text:" not in ran(pinned, "1 + 1")
    assert "text:" not in ran(pinned, "1 + 1")
    pinned.run("%pin once more")
    assert "text:" not in ran(pinned, "1 + 1")


def test_what_exits_in_a_pinned_composition_ends_only_that(pinned):
    seen = ran(pinned, "%%provider LEAVES\nraise SystemExit(3)")
    assert "registered LEAVES" in seen
    assert "the pinned message could not be composed: SystemExit: 3" in seen
    assert ran(pinned, "1 + 1").strip().endswith("2")


def test_options_of_the_pinned_message_hold_each_time(shell):
    shell.run("%%provider A --private\nf'{message.room_id}'")
    shell.run("%%provider B\n'b'")
    assert "lobby" in repr(shell.run("%pin --include A --only --room lobby hi"))
    seen = ran(shell, "%%provider A --private\nf'room {message.room_id}'")
    assert "+ room lobby" in seen
    assert "b" not in shell.run("%compose --include A --only hi").text


def test_pin_shows_it_and_off_ends_it(pinned):
    assert "pinned: will it rain?" in repr(pinned.run("%pin"))
    assert pinned.run("%pin;") is None
    assert "pinned: will it rain?" in repr(pinned.run("%pin "))
    assert pinned.run("%pin --off;") is None
    assert repr(pinned.run("%pin --off")) == "no message was pinned"
    assert "no message is pinned" in repr(pinned.run("%pin"))
    assert "text:" not in ran(pinned, "%%provider A\n'a'")
    pinned.run("%pin will it snow?")
    assert repr(pinned.run("%pin --off")) == "pinned no longer: will it snow?"


def test_a_secret_in_the_pinned_message_and_in_what_changed_is_masked(shell):
    shell.runtime.set_setting("KEY", "s3cr3t-value", secret=True)
    shell.run("%%provider A\n'none'")
    assert "s3cr3t" not in repr(shell.run("%pin tell me s3cr3t-value"))
    assert "s3cr3t" not in ran(shell, "%%provider A\nmessage.content.text + runtime.get_setting('KEY')")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%pin --off now", "%pin --off ends the pinned message and takes nothing else"),
        ("%pin --of", "did you mean '--off'"),
        ("%pin --only hi", "--only runs just those of --include"),
        ("%pin --message $nobody", "there is no variable 'nobody'"),
        (
            "%%pin hi\nthere",
            "the message of %%pin is the cell below it; write %pin for a message on the line",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_the_pin_stays(pinned, cell, said):
    name, seen = pinned.fail(cell)
    assert name == "ArgumentError"
    assert said in seen
    assert "will it rain?" in repr(pinned.run("%pin"))


def test_a_message_may_be_a_cell_and_a_semicolon_silences(shell):
    shell.run("%%provider A\nmessage.content.text")
    assert "two\nlines" in repr(shell.run("%%pin\ntwo\nlines"))
    assert shell.run("%pin quietly;") is None
    assert "pinned: quietly" in repr(shell.run("%pin"))


def test_a_reload_keeps_the_pin_and_unloading_ends_what_follows_it(pinned):
    for _ in range(5):
        unload(pinned.ip)
        load(pinned.ip)
    assert ran(pinned, "%%provider A\n'a'").count("+ a") == 1
    unload(pinned.ip)
    assert "text:" not in ran(pinned, "runtime.unregister_provider('A');")


async def _caught_up(shell, error):
    async def compose(_):
        raise error

    pin = shell.ip.magics_manager.magics["line"]["pin"].__self__.session.pin
    return await pin.catch_up(shell.runtime, compose)


def test_a_provider_that_exits_ends_only_the_pinned_composition(pinned):
    shown = asyncio.run(_caught_up(pinned, SystemExit(3)))
    assert "the pinned message could not be composed: SystemExit: 3" in repr(shown)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(_caught_up(pinned, KeyboardInterrupt()))

"""One display reads each value once; long reprs cost what is shown of them; no text acts on a terminal."""

from __future__ import annotations

import logging

import pytest

from agentctx_nb import AgentRuntime, State
from agentctx_nb.actions import ActionResult
from agentctx_nb.render.bounds import cell_text
from agentctx_nb.render.page import Page
from agentctx_nb.render.table import Table
from agentctx_nb.secrecy.secret_mask import SecretMask
from agentctx_nb.views import printed


class Counting:
    def __init__(self):
        self.times = 0

    def __repr__(self):
        self.times += 1
        return f"read {self.times}"


@pytest.mark.parametrize(
    "view_of",
    [
        lambda value: Table(("a",), ((value,),)),
        lambda value: Page((Table(("a",), ((value,),)),)),
        lambda value: State(values={"a": value}).values_view(),
        lambda value: State(data={"providers": {"A": {"a": value}}}).data_tree(),
        lambda value: State(values={"a": value}).diff(State()),
        lambda value: ActionResult(success=True, values={"a": value}),
    ],
    ids=["table", "page", "values", "tree", "difference", "action"],
)
def test_a_display_reads_each_value_once_and_its_three_forms_say_the_same(view_of):
    value = Counting()
    forms = view_of(value)._repr_mimebundle_()
    assert value.times == 1
    assert all("read 1" in form for form in forms.values())
    assert len(forms) == 3


def test_a_mask_is_given_little_more_of_a_long_repr_than_is_shown():
    given = []

    class Long:
        def __repr__(self):
            return "x" * 5_000_000

    def mask(text):
        given.append(len(text))
        return text

    assert cell_text(Long(), mask=mask) == "x" * 119 + "…"
    assert cell_text([b"z" * 5_000_000], mask=mask).startswith("[b'zzz")
    assert printed(Long(), mask).endswith("x…")
    assert max(given) < 50_000


@pytest.mark.parametrize("before", range(100, 121))
def test_a_secret_at_the_cut_of_a_repr_shows_no_part_of_itself(before):
    runtime = AgentRuntime(settings={"API_KEY": "hunter2hunter2"})
    assert isinstance(runtime.mask, SecretMask)

    class Long:
        def __repr__(self):
            return "x" * before + "hunter2hunter2" + "y" * 1_000_000

    assert "hunt" not in cell_text(Long(), mask=runtime.mask)


ACTING = "a\x1b[2J\u202eb"
WRITTEN = r"a\x1b[2J\u202eb"


def test_a_name_does_not_act_on_a_terminal(caplog):
    runtime = AgentRuntime()
    runtime.register_provider({"name": ACTING, "get": lambda: 1 / 0})
    with caplog.at_level(logging.DEBUG):
        state = runtime.compose("hello")
    assert repr(state).endswith(f"failed: {WRITTEN}>")
    assert repr(state.report).endswith(f"failed: {WRITTEN}>")
    assert WRITTEN in caplog.text
    for said in (repr(state), repr(state.report), repr(state.report.rows[0]), caplog.text):
        assert "\x1b" not in said
        assert "\u202e" not in said
    assert WRITTEN in next(iter(runtime.logger.recent)).message


def test_a_repr_does_not_act_on_a_terminal():
    class Acting:
        def __repr__(self):
            return ACTING

    state = State(values={"a": 1}, data={"providers": {"A": Acting()}})
    assert WRITTEN in repr(state.data)

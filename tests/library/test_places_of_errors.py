"""Where a ready provider failed is none of the user's lines, so that none is named."""

from __future__ import annotations

from agentctx_nb import AgentRuntime
from agentctx_nb.library import knowledge_base


def test_a_ready_provider_that_fails_names_no_line_and_a_user_s_own_does(caplog):
    def own():
        raise ValueError("broken")

    runtime = AgentRuntime(settings={"KNOWLEDGE_THRESHOLD": "high"})
    runtime.register_provider(knowledge_base("HANDBOOK", dynamic=False))
    runtime.provider("OWN")(own)
    state = runtime.compose("how to return shoes")
    assert set(state.errors) == {"HANDBOOK", "OWN"}
    assert state.report["HANDBOOK"].place == ""
    assert state.report["OWN"].place.startswith("in own, line ")
    assert "HANDBOOK failed in" not in str(state.report) + repr(state) + caplog.text
    assert "HANDBOOK failed" in caplog.text

"""Whom a leak scan looked at, and whom it could not."""

from __future__ import annotations

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import DefinitionTypeError

REAL = "shk-r3al-s3cret-of-the-user"


def refuses(runtime):
    key = runtime.get_setting("API_KEY")
    if not key.startswith("shk-"):
        raise RuntimeError("bad key")
    return f"used {key}"


def tells(runtime):
    return f"used {runtime.get_setting('API_KEY')}"


def runtime_of(*providers):
    runtime = AgentRuntime(secrets={"API_KEY": REAL})
    for provider in providers:
        runtime.register_provider(provider)
    return runtime


def test_a_provider_that_refuses_the_fake_key_is_named_in_the_first_line_and_below():
    runtime = runtime_of({"name": "PICKY", "get": refuses}, {"name": "FINE", "get": lambda: "x"})
    scan = runtime.leak_scan("hi")
    assert (bool(scan), scan.failed, scan.not_run) == (False, ("PICKY",), ())
    for form in (repr(scan), *scan._repr_mimebundle_().values()):
        assert "but 1 provider failed and could not be looked at" in form
        assert "so that their text is missing here: PICKY." in form
    assert "failed" not in repr(runtime_of({"name": "FINE", "get": lambda: "x"}).leak_scan("hi"))


def test_who_did_not_run_is_named_and_an_include_list_has_it_run():
    runtime = runtime_of(
        {"name": "HIDDEN", "get": tells, "private": True},
        {"name": "RAIN", "get": tells, "dynamic": True, "relevance_keywords": ["rain"]},
    )
    scan = runtime.leak_scan("hi")
    assert not scan
    assert scan.not_run == ("HIDDEN", "RAIN")
    assert "Not run, since nothing called for them: HIDDEN, RAIN; include_list= runs" in repr(scan)
    scan = runtime.leak_scan("hi", include_list=["HIDDEN"])
    assert {leak.provider for leak in scan} == {"HIDDEN"}
    assert scan.not_run == ("RAIN",)
    scan = runtime.leak_scan("rain", ["HIDDEN"], True)
    assert ({leak.provider for leak in scan}, scan.not_run) == ({"HIDDEN"}, ("RAIN",))
    scan = runtime.leak_scan("rain", "HIDDEN")
    assert ({leak.provider for leak in scan}, scan.not_run) == ({"HIDDEN", "RAIN"}, ())
    assert "Not run, since" not in repr(scan)


def test_of_many_who_did_not_run_the_first_are_named_and_the_rest_counted():
    runtime = runtime_of(*[{"name": f"P{n}", "get": tells, "private": True} for n in range(500)])
    scan = runtime.leak_scan("hi")
    assert len(scan.not_run) == 500
    assert "P0, P1, P2, P3, P4 and 495 more" in repr(scan)


def test_a_name_nobody_registered_is_told_with_the_near_one_and_no_list_of_names_is_refused():
    runtime = runtime_of({"name": "HIDDEN", "get": tells, "private": True})
    scan = runtime.leak_scan("hi", include_list=["HIDEN"])
    assert dict(scan.unknown) == {"HIDEN": ("HIDDEN",)}
    assert "unknown name: HIDEN (did you mean HIDDEN?)" in repr(scan)
    with pytest.raises(DefinitionTypeError, match="include_list is a list of provider names, not 5"):
        runtime.leak_scan("hi", include_list=5)


def test_names_that_hold_a_secret_are_masked():
    runtime = runtime_of(
        {"name": REAL, "get": lambda: 1 / 0}, {"name": f"{REAL}2", "get": tells, "private": True}
    )
    scan = runtime.leak_scan("hi", include_list=[f"{REAL}3"])
    shown = (
        repr(scan),
        str(scan.failed),
        str(scan.not_run),
        str(scan.unknown),
        *scan._repr_mimebundle_().values(),
    )
    assert not [form for form in shown if REAL in form]


def test_a_scan_can_be_kept_in_a_set():
    scan = runtime_of({"name": "TELLS", "get": tells}).leak_scan("hi", include_list=["NOBODY"])
    assert {scan: "kept"}[scan] == "kept"

from __future__ import annotations

import ast
import base64
import contextlib
import logging
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.bridge import run_sync
from agentctx_nb.library.user_profile import USER_PROFILE
from agentctx_nb.secrecy import planting
from agentctx_nb.secrecy.leak_scan import LIMITS, Leak, LeakScan
from agentctx_nb.secrecy.planting import Planted
from agentctx_nb.state_views import StateViews
from tests.hostile import LARGEST, TEXTS, mask, problems

REAL = "r3al-s3cret-of-the-user"


def found(scan):
    return {(leak.secret, leak.place, leak.provider, leak.written) for leak in scan}


def runtime_with(*gets, **options):
    runtime = AgentRuntime(secrets={"API_KEY": REAL}, **options)
    for number, get in enumerate(gets):
        runtime.register_provider({"name": f"P{number}", "get": get})
    return runtime


def test_a_clean_runtime_gives_a_false_result_that_says_what_was_read():
    runtime = AgentRuntime(secrets={"API_KEY": REAL}, settings={"UNITS": "metric"})
    runtime.register_provider(USER_PROFILE)
    runtime.register_provider({"name": "GREETING", "get": lambda: "Hello!"})
    scan = runtime.leak_scan("hi")
    assert not scan
    assert len(scan) == 0 == len(scan.to_frame())
    assert scan.planted[0] == "setting API_KEY"
    assert "the profile's password" in scan.planted
    assert "none of 9 planted secrets surfaced" in str(scan)
    for limit in LIMITS:
        assert limit in str(scan)


def test_a_secret_in_the_text_is_in_what_the_model_is_told_and_in_no_view():
    scan = runtime_with(lambda runtime: f"called with {runtime.get_setting('API_KEY')}").leak_scan("hi")
    assert found(scan) == {("setting API_KEY", "state.text", "P0", "as it is")}
    assert list(scan.to_frame().columns) == ["secret", "place", "provider", "written", "forms"]


async def shows_the_profile(runtime, message):
    entity = await runtime.get_entity_by_id(message.entity_id)
    memories = await runtime.get_memories(table_name="facts", room_id=message.room_id)
    return {"values": {"password": entity.metadata["password"], "note": memories[0].metadata["secret"]}}


def test_a_secret_of_the_profile_in_the_values_is_found_with_its_writer():
    assert found(runtime_with(shows_the_profile).leak_scan("hi")) == {
        ("the profile's password", "state.values", "P0", "as it is"),
        ("the metadata of a memory in facts", "state.values", "P0", "as it is"),
    }


def in_other_words(change):
    return lambda runtime: {"text": f"({change(runtime.get_setting('API_KEY'))})"}


@pytest.mark.parametrize(
    ("change", "written"),
    [
        (lambda key: base64.b64encode(key.encode()).decode(), "encoded"),
        (lambda key: key.encode().hex(), "encoded"),
        (str.upper, "in other case"),
        (lambda key: key[-9:], "in part"),
        (lambda key: f"{key[:10]}…", "in part"),
        (lambda key: key[::-1], "backwards"),
    ],
)
def test_a_secret_is_known_in_other_forms(change, written):
    scan = runtime_with(in_other_words(change)).leak_scan("hi")
    assert ("setting API_KEY", "state.text", "P0", written) in found(scan)


def test_what_the_mask_cannot_know_is_found_in_every_view_that_shows_it():
    scan = runtime_with(in_other_words(lambda key: key[-9:])).leak_scan("hi")
    forms = {leak.place: leak.forms for leak in scan}
    assert forms["state"] == ("text", "Markdown", "HTML")
    assert "state.source_map()" in forms
    assert not [leak for leak in scan if REAL in str(leak)]


def fails(runtime):
    raise ValueError(f"401 for {runtime.get_setting('DB_PASSWORD')}")


def test_a_password_too_plain_to_be_masked_is_hidden_by_nothing_and_found_in_errors_and_logs():
    runtime = AgentRuntime(settings={"DB_PASSWORD": "plain"})
    runtime.register_provider({"name": "BAD", "get": fails})
    places = {leak.place for leak in runtime.leak_scan("hi")}
    assert places >= {
        "state.report",
        "state.errors",
        "runtime.log_frame()",
        "the traceback of a failed provider",
    }
    assert "runtime.settings_frame()" not in places
    for layer in ("secrets", "settings", "defaults"):
        runtime = AgentRuntime(**{layer: {"DB_PASSWORD": REAL}})
        runtime.register_provider({"name": "BAD", "get": fails})
        assert not runtime.leak_scan("hi")


def talks(runtime):
    key = runtime.get_setting("API_KEY")
    sys.stdout.write(f"using {key}\n")
    sys.stderr.write(f"err {key}\n")
    logging.getLogger("somebody.else").warning("key %s", key)
    return "x"


def test_what_is_printed_and_logged_is_overheard_and_passed_on_masked(capsys, caplog):
    runtime = runtime_with(talks)
    handlers, streams = list(logging.getLogger().handlers), (sys.stdout, sys.stderr)
    scan = runtime.leak_scan("hi")
    assert {leak.place for leak in scan} == {
        f"what is written to {name}" for name in ("stdout", "stderr", "logs")
    }
    assert capsys.readouterr().out == "using [secret API_KEY]\n"
    assert (list(logging.getLogger().handlers), (sys.stdout, sys.stderr)) == (handlers, streams)


def test_what_the_scan_itself_logs_is_read_and_reaches_no_log_of_the_user(caplog, capsys):
    runtime = AgentRuntime("quiet", settings={"DB_PASSWORD": "plain"})
    runtime.register_provider({"name": "BAD", "get": fails})
    assert "what is written to logs" in {leak.place for leak in runtime.leak_scan("hi")}
    assert caplog.records == []
    assert capsys.readouterr() == ("", "")
    logger = logging.getLogger("agentctx_nb.quiet.leak_scan")
    assert (logger.handlers, logger.propagate) == ([], True)


def test_frames_are_read_without_pandas():
    code = (
        "import sys\n"
        "from agentctx_nb import AgentRuntime\n"
        "runtime = AgentRuntime(secrets={'API_KEY': 'r3al-s3cret-of-the-user'})\n"
        "get = lambda runtime: {'values': {'end': 'x' * 200 + runtime.get_setting('API_KEY')[-9:]}}\n"
        "runtime.register_provider({'name': 'A', 'get': get})\n"
        "scan = runtime.leak_scan('hi')\n"
        "print({leak.place: leak.forms for leak in scan})\n"
        "assert 'pandas' not in sys.modules\n"
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    found = ast.literal_eval(done.stdout)
    assert found["state.values_frame()"] == ("text",)  # which no table of text has room for
    assert found["state.values_view()"] == ("frame",)


def test_every_view_of_a_state_is_read():
    places = runtime_with(lambda: "x").leak_scan("hi").places
    views = {name for name in vars(StateViews) if not name.startswith("_")} - {"explore"}
    assert {f"state.{name}()" for name in views} <= set(places)
    assert len(views) >= 8
    assert {"state.report", "state.values_frame()", "runtime.log_frame()", "a rendered prompt"} <= set(places)


def test_nothing_of_the_runtime_is_touched(tmp_path):
    runs = []

    async def get(runtime, message):
        runs.append(runtime)
        await runtime.create_memory("from a provider", "messages")
        runtime.set_setting("CHANGED", 1)
        runtime.logger.error("hello")
        return str(await runtime.get_memories(table_name="messages"))

    path = tmp_path / "memories.db"
    runtime = AgentRuntime(secrets={"API_KEY": REAL}, store=path)
    runtime.register_provider({"name": "A", "get": get, "ttl": 60, "position": 5})
    runtime.register_provider({"name": "B", "get": lambda: "b", "private": True})
    runtime.leak_scan("hi")
    assert not path.exists()
    assert runs[0] is not runtime
    assert runtime.get_setting("API_KEY") == REAL
    assert runtime.get_setting("CHANGED") is None
    assert len(runtime.log_frame()) == 0
    assert runtime.settings.mask("x" * 30) == "x" * 30
    runtime.compose("hi")
    assert len(runs) == 2  # no result of the scan was kept for it
    run_sync(runtime.close)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert "from a provider" in "\n".join(connection.iterdump())
        assert "leak-scan" not in "\n".join(connection.iterdump())


def test_the_real_secret_is_handed_to_no_provider():
    seen = []
    runtime = AgentRuntime(
        secrets={"API_KEY": REAL, "MANY": {"a": [REAL, 481516, True]}, "RAW": REAL.encode()}
    )
    runtime.register_provider(
        {
            "name": "A",
            "get": lambda runtime: seen.append([runtime.get_setting(k) for k in ("API_KEY", "MANY", "RAW")]),
        }
    )
    runtime.leak_scan("hi")
    assert REAL not in str(seen)
    (key, many, raw) = seen[0]
    assert (type(key), type(many["a"]), type(many["a"][1]), many["a"][2], type(raw)) == (
        str,
        list,
        int,
        True,
        bytes,
    )


def test_the_environment_and_its_file_are_planted_too(tmp_path, monkeypatch):
    monkeypatch.setenv("LEAK_API_KEY", REAL)
    monkeypatch.setenv("OTHER_TOKEN", REAL)
    path = tmp_path / ".env"
    path.write_text(f"FILE_TOKEN={REAL}-2\nUNITS=metric\n")
    seen = []
    runtime = AgentRuntime(env_prefix="LEAK_", env_file=path)
    runtime.register_provider(
        {
            "name": "A",
            "get": lambda r: seen.extend(map(r.get_setting, ("API_KEY", "FILE_TOKEN", "UNITS"))) or str(seen),
        }
    )
    scan = runtime.leak_scan("hi")
    assert REAL not in str(seen)
    assert seen[2] == "metric"
    assert {leak.secret for leak in scan} == {"setting LEAK_API_KEY", "setting FILE_TOKEN"}
    assert {leak.place for leak in scan} == {"state.text"}
    assert "OTHER_TOKEN" not in " ".join(scan.planted)


def test_after_an_error_all_is_as_it_was(monkeypatch):
    closed = []

    class Twin(AgentRuntime):
        async def close(self):
            closed.append(self)
            await super().close()

    async def broken(self, twin, message):
        raise RuntimeError("no profile")

    monkeypatch.setattr(planting.Planted, "profile", broken)
    monkeypatch.setattr("agentctx_nb.runtime.AgentRuntime", Twin)
    streams, handlers = (sys.stdout, sys.stderr), list(logging.getLogger().handlers)
    runtime = runtime_with(lambda: "x")
    with pytest.raises(RuntimeError, match="no profile"):
        runtime.leak_scan("hi")
    assert len(closed) == 1
    assert ((sys.stdout, sys.stderr), list(logging.getLogger().handlers)) == (streams, handlers)


def test_the_select_hook_the_message_s_user_and_private_providers_are_kept():
    seen = []
    runtime = AgentRuntime(select=lambda decisions, message: ["KEPT"])
    runtime.register_provider({"name": "DROPPED", "get": lambda: seen.append("dropped")})
    runtime.register_provider({"name": "KEPT", "get": lambda _, message: seen.append(message.entity_id)})
    runtime.leak_scan({"content": {"text": "hi"}, "entityId": "ada", "roomId": "lobby"})
    assert seen == ["ada"]


def test_a_provider_may_ask_for_it_too():
    def provider(runtime):
        return str(bool(runtime_with(lambda: "x").leak_scan("hi")))

    assert runtime_with(provider).compose("hi").text == "False"


def test_the_fakes_are_different_each_time():
    one, other = Planted(), Planted()
    assert one.fake("a") == one.fake("a") != other.fake("a")
    assert one.found_in(other.fake("a")) == []


def test_it_shows_itself_escaped_and_masked():
    runtime = AgentRuntime(secrets={"API_KEY": REAL})
    name = f"<b>{REAL}</b>"
    runtime.register_provider({"name": name, "get": lambda r: r.get_setting("API_KEY")})
    scan = runtime.leak_scan("hi")
    assert scan
    for form in (repr(scan), *scan._repr_mimebundle_().values(), scan.to_frame().to_csv()):
        assert REAL not in form
    assert "<b>" not in scan._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_hostile_names_are_shown_safely(text):
    leak = Leak(text, text, text, "in part", (text,))
    scan = LeakScan((leak,), (text,), (text,), (text,), (text,), {text: (text,)}, mask)
    forms = scan._repr_mimebundle_()
    for kind, form in forms.items():
        assert problems(form, kind) == []
    assert sum(len(form.encode()) for form in forms.values()) < LARGEST
    assert repr(scan) == forms["text/plain"]

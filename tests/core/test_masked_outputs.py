"""Whatever a person can see of a composition is masked; what code reads is as it was."""

from __future__ import annotations

import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.errors import UnknownActionError, UnknownProviderError

SECRET = "k3y-0f-the-d00r"
NUMBER = 48151623
ROOT = Path(__file__).parents[2]


def gives(result):
    async def get():
        if isinstance(result, BaseException):
            raise result
        return result

    return get


@pytest.fixture
def runtime():
    """A runtime with the secret in every name, keyword and text there is."""
    runtime = AgentRuntime(secrets={"KEY": SECRET, "PIN": NUMBER}, count_tokens=len)
    for name, flags in (
        (SECRET, {"dynamic": True, "relevance_keywords": [SECRET]}),
        (f"{SECRET}-2", {"dynamic": True, "relevance_keywords": ["rain"]}),
        ("PLAIN", {}),
    ):
        result = {"text": SECRET, "values": {"k": SECRET, "n": NUMBER, SECRET: 1}, "data": {"s": SECRET}}
        runtime.register_provider({"name": name, "get": gives(result), **flags})
    runtime.register_provider({"name": "BAD", "get": gives(ValueError(SECRET))})
    return runtime


@pytest.fixture
def state(runtime):
    return runtime.compose(f"{SECRET} rain", [f"no-{SECRET}"])


def shows(value):
    """Return all that Python and IPython print of a value."""
    texts = [repr(value), str(value), f"{value}"]
    if hasattr(type(value), "_repr_mimebundle_"):
        texts += value._repr_mimebundle_().values()
    return texts


SHOWN = {
    "state": lambda s: s,
    "report": lambda s: s.report,
    "a row": lambda s: s.report["BAD"],
    "the row of a secret name": lambda s: s.report[SECRET],
    "all rows": lambda s: s.report.rows,
    "unknown": lambda s: s.report.unknown,
    "errors": lambda s: s.errors,
    "data": lambda s: s.data,
    "providers": lambda s: s.data.providers,
    "entry": lambda s: s.data.providers.PLAIN,
    "view": lambda s: s.data.providers.PLAIN.data,
}


@pytest.mark.parametrize("part", SHOWN.values(), ids=SHOWN.keys())
def test_no_part_of_a_state_prints_a_secret(state, part):
    for text in shows(part(state)):
        assert SECRET not in text
        assert str(NUMBER) not in text


def test_code_reads_the_raw_values(state):
    row = state.report[SECRET]
    assert (row.provider, row.keyword) == (SECRET, SECRET)
    assert list(state.report.unknown) == [f"no-{SECRET}"]
    assert str(state.errors["BAD"]) == SECRET
    assert (state.values["k"], state.values["n"]) == (SECRET, NUMBER)


@pytest.mark.parametrize("make", [lambda s: s.report.to_frame(), lambda s: s.values_frame()])
def test_no_column_of_a_frame_holds_a_secret(state, make):
    frame = make(state)
    for column in frame.columns:
        for cell in frame[column]:
            assert SECRET not in str(cell), column
            assert str(NUMBER) not in str(cell), column


def test_a_match_and_its_near_misses_print_none(runtime):
    match = runtime.match(f"{SECRET} train")
    assert match.woken == {SECRET: (SECRET,)}
    missed = runtime.match(f"train x{SECRET}").near_misses
    assert missed[0].provider == SECRET
    for shown in (match, match.woken, missed, missed[0], missed[-1]):
        assert SECRET not in repr(shown)


def test_a_warning_prints_none():
    runtime = AgentRuntime(secrets={"KEY": SECRET})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runtime.register_provider(Provider(SECRET, gives(""), private=True, always_run=True))
    assert [str(each.message).partition(" is private")[0] for each in caught] == ["provider [secret KEY]"]


def test_where_warnings_are_errors_a_provider_that_is_warned_of_is_not_registered():
    runtime = AgentRuntime()
    with pytest.raises(UserWarning, match="private and always runs"):
        runtime.register_provider(Provider("A", gives(""), private=True, always_run=True))
    assert runtime.list_providers(include_private=True) == []


def test_an_error_about_a_name_prints_no_secret_in_it_or_near_it(runtime, state):
    for read in (runtime.get_provider, runtime.registered, state.report.__getitem__):
        with pytest.raises(UnknownProviderError, match="did you mean") as caught:
            read(f"{SECRET}-3")
        assert SECRET not in "".join(traceback.format_exception(caught.value)).replace(__file__, "")
    with pytest.raises(UnknownActionError) as missing:
        runtime.compose(runtime.run_action(SECRET, "hi").send(None))
    assert SECRET not in str(missing.value)


class Odd(Exception):
    def __init__(self, *, text):
        super().__init__()
        self.text = text

    def __str__(self):
        return self.text


def chained():
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as exc:
            raise RuntimeError("fine") from exc
    except RuntimeError as exc:
        exc.add_note(f"used {SECRET}")
        return exc


FAILURES = {
    "plain": ValueError(SECRET),
    "odd": Odd(text=f"with {SECRET}"),
    "of the system": FileNotFoundError(2, SECRET, f"/{SECRET}"),
    "of text": UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
    "group": ExceptionGroup(SECRET, [ValueError(SECRET), Odd(text=SECRET)]),
    "chain": chained(),
    "system exit inside": ExceptionGroup("x", [OSError(1, SECRET)]),
}


@pytest.mark.parametrize("error", FAILURES.values(), ids=FAILURES.keys())
def test_the_group_of_a_strict_composition_prints_no_secret(error):
    runtime = AgentRuntime(secrets={"KEY": SECRET})
    runtime.register_provider({"name": SECRET, "get": gives(error)})
    before = str(error)
    with pytest.raises(ExceptionGroup) as caught:
        runtime.compose("hi", [f"{SECRET}s"], strict=True)
    group = caught.value
    trace = "".join(traceback.format_exception(group))
    for shown in (str(group), repr(group), trace):
        assert SECRET not in shown
    unknown, failed = group.exceptions
    assert isinstance(unknown, UnknownProviderError)
    assert isinstance(failed, type(error))
    assert failed.__traceback__ is not None
    assert str(error) == before


def test_an_error_without_a_secret_is_the_very_one_that_was_raised():
    runtime, error = AgentRuntime(secrets={"KEY": SECRET}), ValueError("fine")
    runtime.register_provider({"name": "A", "get": gives(error)})
    with pytest.raises(ExceptionGroup) as caught:
        runtime.compose("hi", strict=True)
    assert caught.value.exceptions == (error,)


def test_a_masked_error_is_still_caught_by_its_class():
    runtime = AgentRuntime(secrets={"KEY": SECRET})
    runtime.register_provider({"name": "A", "get": gives(Odd(text=SECRET))})
    found = []
    try:
        runtime.compose("hi", strict=True)
    except* Odd as group:
        found += group.exceptions
    assert found[0].text == SECRET  # what code reads is as it was


def test_a_script_that_ends_with_it_writes_no_secret():
    code = (
        "import os\n"
        "from agentctx_nb import AgentRuntime\n"
        "key = os.environ['DOOR_KEY']\n"
        "runtime = AgentRuntime(secrets={'KEY': key})\n"
        "def get(): raise ValueError(key)\n"
        "runtime.register_provider({'name': 'A', 'get': get})\n"
        "runtime.compose('hi', strict=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"DOOR_KEY": SECRET, "PATH": ""},
    )
    assert done.returncode == 1
    assert "ValueError: [secret KEY]" in done.stderr
    assert SECRET not in done.stderr

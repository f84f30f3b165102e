"""The records kept for looking at, and log calls that are written wrongly: none of them breaks."""

from __future__ import annotations

import logging

import pandas as pd
import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import DefinitionError
from agentctx_nb.log import RuntimeLogger
from agentctx_nb.log_records import MOST_KEPT
from agentctx_nb.settings import Settings

SECRET = "k3y-0f-the-d00r"


@pytest.fixture
def logger():
    return RuntimeLogger("kept", mask=Settings(secrets={"API_KEY": SECRET}).mask)


def test_the_frame_has_a_row_for_each_record_oldest_first(logger):
    logger.warning("slow", provider="WEATHER")
    try:
        raise ValueError("no route")
    except ValueError as exc:
        logger.error(exc, "failed")
    frame = logger.to_frame()
    assert list(frame.columns) == ["time", "level", "message", "fields", "exception"]
    assert list(frame["level"]) == ["WARNING", "ERROR"]
    assert list(frame["message"]) == ["slow", "failed"]
    assert list(frame["fields"]) == [{"provider": "WEATHER"}, {"error": "ValueError: no route"}]
    assert frame["exception"][0] == ""
    assert "ValueError: no route" in frame["exception"][1]
    assert str(frame["time"].dt.tz) == "UTC"
    assert abs(pd.Timestamp.now("UTC") - frame["time"][0]) < pd.Timedelta(minutes=10)


def test_without_records_it_has_its_columns(logger):
    assert list(logger.to_frame().columns) == ["time", "level", "message", "fields", "exception"]
    assert len(logger.to_frame()) == 0


def test_children_share_it(logger):
    logger.child(provider="A").child(room="lobby").error("hello")
    assert [record.fields for record in logger.recent] == [{"provider": "A", "room": "lobby"}]


def test_what_is_below_the_logger_s_level_is_not_kept(logger, caplog):
    caplog.set_level(logging.ERROR, logger="agentctx_nb")
    logger.warning("not this")
    logger.error("this")
    assert [record.message for record in logger.recent] == ["this"]
    caplog.set_level(logging.DEBUG, logger="agentctx_nb")
    logger.debug("this too")
    assert [record.message for record in logger.recent] == ["this", "this too"]


def test_only_the_last_thousand_are_kept_and_long_ones_are_cut(logger):
    for number in range(MOST_KEPT + 5):
        logger.error("n %d", number)
    logger.error("x" * 100_000, value="y" * 100_000)
    kept = list(logger.recent)
    assert (len(kept), kept[0].message) == (1_000, "n 6")
    assert (len(kept[-1].message), len(kept[-1].fields["value"])) == (10_000, 10_000)


def test_no_object_of_a_field_is_kept_alive(logger, monkeypatch):
    import gc
    import weakref

    class Big:
        pass

    monkeypatch.setattr(logger.logger, "propagate", False)  # the test runner keeps records, too
    big = Big()
    gone = weakref.ref(big)
    logger.error({"big": big, "all": [big]}, "hello")
    del big
    gc.collect()
    assert gone() is None
    (record,) = logger.recent
    assert record.fields["big"].endswith("Big object>")  # and no address, which differs from run to run


def test_secrets_are_masked_also_those_set_later():
    runtime = AgentRuntime(secrets={"API_KEY": SECRET})
    try:
        raise ValueError(f"{SECRET} and late-secret-9")
    except ValueError as exc:
        runtime.logger.error(exc, f"with {SECRET} and late-secret-9", note=[SECRET, "late-secret-9"])
    assert SECRET not in str(list(runtime.logger.recent))
    runtime.set_setting("LATE", "late-secret-9", secret=True)
    written = runtime.log_frame().to_csv()
    assert SECRET not in written
    assert "late-secret-9" not in written
    assert "[secret LATE]" in written


def test_each_runtime_has_its_own():
    one, other = AgentRuntime(), AgentRuntime()
    one.logger.error("mine")
    assert (len(one.log_frame()), len(other.log_frame())) == (1, 0)


def cyclic():
    around = {"name": "around", "list": []}
    around["self"] = around
    around["list"].append(around)
    return around


def deep():
    value = "bottom"
    for _ in range(5_000):
        value = {"in": [value]}
    return value


def doubling():
    value = ["x"]
    for _ in range(60):
        value = [value, value]
    return value


class BadMapping(dict):
    def items(self):
        raise RuntimeError("no items")


class BadText:
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


TAKEN = {"message": "x", "name": "y", "fields": 1, "mine": 1}
ODD = {
    "cyclic": (lambda log: log.error(cyclic()), "name='around'"),
    "cyclic field": (lambda log: log.error("m", around=cyclic()), "<cycle>"),
    "deep": (lambda log: log.error(deep(), "m"), "too deep to show"),
    "doubling": (lambda log: log.error("m", value=doubling()), "m value="),
    "a field called level": (lambda log: log.error("m", level=3), "m level=3"),
    "a field called msg": (lambda log: log.error("m", msg="x"), "m msg='x'"),
    "fields called args and self": (
        lambda log: log.error("m", args=1, fields=2, name=3),
        "m args=1 fields=2 name=3",
    ),
    "level in log": (lambda log: log.log("error", "m", level=3), "m level=3"),
    "all by keyword": (lambda log: log.log(level=logging.ERROR, msg="m"), "m"),
    "message by keyword": (lambda log: log.error(msg="m"), "m"),
    "nothing": (lambda log: log.error(), ""),
    "extra that is taken": (lambda log: log.error("m", extra=TAKEN), "m"),
    "extra that is none": (lambda log: log.error("m", extra=5), "m"),
    "stacklevel that is none": (lambda log: log.error("m", stacklevel="x"), "m"),
    "exc_info that is none": (lambda log: log.error("m", exc_info=("a", "b")), "m"),
    "exc_info of three": (lambda log: log.error("m", exc_info=("a", "b", "c")), "m"),
    "no text": (lambda log: log.error("m", value=BadText()), "m value=<BadText that cannot be shown>"),
    "arguments without text": (
        lambda log: log.error("m %s", BadText()),
        "m %s <BadText that cannot be shown>",
    ),
    "a set of lists": (lambda log: log.error("m", value={1: {(1, 2), frozenset([3])}}), "m value="),
    "a mapping of theirs": (
        lambda log: log.error("m", value=BadMapping(a=1)),
        "that cannot be shown: RuntimeError",
    ),
    "keys that are no text": (lambda log: log.error({1: 2, None: 3}, "m"), "m 1=2 None=3"),
}


@pytest.mark.parametrize(("call", "told"), ODD.values(), ids=ODD.keys())
def test_a_log_call_never_breaks(logger, caplog, call, told):
    caplog.set_level(logging.ERROR, logger="agentctx_nb")
    call(logger)
    (record,) = caplog.records
    assert told in record.getMessage()
    assert len(logger.recent) == 1
    assert len(logger.to_frame()) == 1


@pytest.mark.parametrize(
    "call", [lambda log: log.error(BadText()), lambda log: log.error(BadMapping(a=SECRET), "m")]
)
def test_one_that_cannot_be_read_at_all_is_told_on_stderr(logger, capsys, call):
    call(logger)
    written = capsys.readouterr().err
    assert "a call of the logger agentctx_nb.kept failed: RuntimeError: no " in written
    assert SECRET not in written


@pytest.mark.parametrize("level", ["loud", None, 2.5])
def test_a_level_that_does_not_exist_is_still_told(logger, level):
    with pytest.raises(DefinitionError, match="there is no log level"):
        logger.log(level, "m")

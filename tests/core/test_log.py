from __future__ import annotations

import io
import logging

import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.log import RuntimeLogger
from agentctx_nb.settings import Settings

SECRET = "k3y-0f-the-d00r"


@pytest.fixture
def logger(caplog):
    caplog.set_level(logging.DEBUG, logger="agentctx_nb")
    return RuntimeLogger("agent", mask=Settings(secrets={"API_KEY": SECRET}).mask)


def only(caplog) -> logging.LogRecord:
    (record,) = caplog.records
    return record


def test_fields_first_and_message_second(logger, caplog):
    logger.error({"error": "no route", "provider": "WEATHER"}, "Failed to fetch")
    record = only(caplog)
    assert record.getMessage() == "Failed to fetch error='no route' provider='WEATHER'"
    assert record.fields == {"error": "no route", "provider": "WEATHER"}
    assert (record.name, record.levelname) == ("agentctx_nb.agent", "ERROR")


def test_message_alone(logger, caplog):
    logger.error("Failed")
    assert only(caplog).getMessage() == "Failed"
    assert only(caplog).fields == {}


def test_exception_first_keeps_its_traceback(logger, caplog):
    try:
        raise ValueError("no route")
    except ValueError as exc:
        logger.error(exc, "Failed to fetch")
    record = only(caplog)
    assert record.getMessage() == "Failed to fetch error='ValueError: no route'"
    assert record.exc_info[0] is ValueError
    assert "test_exception_first_keeps_its_traceback" in caplog.text


def test_message_first_takes_percent_arguments_and_fields(logger, caplog):
    logger.info("%s took %d ms", "WEATHER", 12, room="lobby")
    assert only(caplog).getMessage() == "WEATHER took 12 ms room='lobby'"


def test_message_first_and_a_dict_second(logger, caplog):
    logger.info("done", {"room": "lobby"})  # noqa: PLE1205  our logger takes fields there
    assert only(caplog).getMessage() == "done room='lobby'"


def test_a_dict_still_fills_named_percent_fields(logger, caplog):
    logger.info("in %(room)s", {"room": "lobby"})
    assert only(caplog).getMessage() == "in lobby"


def test_fields_alone(logger, caplog):
    logger.info({"room": "lobby"})
    assert only(caplog).getMessage() == "room='lobby'"


@pytest.mark.parametrize("hostile", ["100% {x} %s %(a)s {", "{0.__class__}", "%"])
def test_braces_and_percent_signs_are_safe_everywhere(logger, caplog, hostile):
    logger.info(hostile)
    logger.info({"value": hostile}, hostile)
    assert [record.getMessage() for record in caplog.records] == [hostile, f"{hostile} value={hostile!r}"]


def test_arguments_that_do_not_fit_break_nothing(logger, caplog):
    logger.info("100% sure of %d", "x")  # noqa: PLE1206  the mistake is the point
    assert only(caplog).getMessage() == "100% sure of %d 'x'"


@pytest.mark.parametrize(
    ("method", "level"),
    [
        ("debug", "DEBUG"),
        ("info", "INFO"),
        ("warning", "WARNING"),
        ("warn", "WARNING"),
        ("error", "ERROR"),
        ("exception", "ERROR"),
        ("critical", "CRITICAL"),
        ("fatal", "CRITICAL"),
    ],
)
def test_every_level_names_the_caller_s_line(logger, caplog, method, level):
    getattr(logger, method)("hello")
    record = only(caplog)
    assert record.levelname == level
    assert record.funcName == "test_every_level_names_the_caller_s_line"
    assert record.filename == "test_log.py"


def test_log_takes_a_number_or_a_name_and_names_the_caller(logger, caplog):
    logger.log("info", "one")
    logger.log(logging.ERROR, "two")
    assert [(r.levelname, r.funcName) for r in caplog.records] == [
        ("INFO", "test_log_takes_a_number_or_a_name_and_names_the_caller"),
        ("ERROR", "test_log_takes_a_number_or_a_name_and_names_the_caller"),
    ]


def test_a_caller_may_point_further_up(logger, caplog):
    def inner():
        logger.fatal("hello", stacklevel=2)
        logger.warning("hello", stacklevel=2)

    inner()
    assert {record.funcName for record in caplog.records} == {"test_a_caller_may_point_further_up"}


def test_an_unknown_level_names_the_nearest(logger):
    with pytest.raises(DefinitionError, match="'warnin'; did you mean 'warning'"):
        logger.log("warnin", "x")


def test_a_child_puts_its_fields_on_every_record(logger, caplog):
    child = logger.child(provider="WEATHER").child({"room": "lobby"})
    child.info({"room": "hall"}, "hello")
    assert only(caplog).getMessage() == "hello provider='WEATHER' room='hall'"
    assert only(caplog).name == "agentctx_nb.agent"


def test_secrets_reach_no_part_of_a_record(logger, caplog):
    try:
        raise ValueError(f"bad key {SECRET}")
    except ValueError as exc:
        logger.error(exc, f"failed with {SECRET}")
        logger.exception({"deep": [{"k": (SECRET,)}], SECRET: 1}, "failed with %s", SECRET)
        logger.error({"error": exc}, "x", extra={"address": SECRET})
    formatted = caplog.text + "".join(str(vars(record)) for record in caplog.records)
    assert SECRET not in formatted
    assert "bad key [secret API_KEY]" in caplog.text
    assert caplog.records[2].address == "[secret API_KEY]"


def test_a_field_with_a_secret_in_it_is_in_quotes_where_it_would_be_without_one(logger, caplog):
    class Client:
        def __init__(self, key):
            self.key = key

        def __repr__(self):
            return f"Client({self.key!r})"

    for key in ("none", SECRET):
        logger.error({"error": ValueError(f"bad {key}"), "by": Client(key), "text": key}, "x")
    without, masked = [record.getMessage() for record in caplog.records]
    assert without == "x error='ValueError: bad none' by=Client('none') text='none'"
    assert masked == without.replace("none", "[secret API_KEY]")
    assert list(logger.to_frame()["fields"])[1] == {
        "error": "ValueError: bad [secret API_KEY]",
        "by": "Client('[secret API_KEY]')",
        "text": "[secret API_KEY]",
    }


def test_the_fields_given_are_not_edited(logger):
    given = {"deep": [SECRET]}
    logger.error(given, "x")
    assert given == {"deep": [SECRET]}


def test_a_value_that_cannot_be_shown_is_named_by_its_type(logger, caplog):
    class Broken:
        def __repr__(self):
            raise RuntimeError("no")

    logger.info({"value": Broken()}, "hello")
    assert only(caplog).getMessage() == "hello value=<Broken that cannot be shown>"


BIG = 10**5_000  # of more digits than Python prints


class Unshown:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (BIG, "<int that cannot be shown>"),
        (-BIG, "<int that cannot be shown>"),
        (Unshown(), "<Unshown that cannot be shown>"),
        ([BIG, 1], "[<int that cannot be shown>, 1]"),
        ({"deep": (Unshown(),)}, "{'deep': (<Unshown that cannot be shown>,)}"),
    ],
    ids=["int", "negative", "object", "list", "dict"],
)
def test_a_formatter_that_writes_the_fields_meets_nothing_that_cannot_be_written(
    logger, caplog, capsys, value, shown
):
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(fields)s"))
    logger.logger.addHandler(handler)
    try:
        logger.error({"n": value, "m": 1}, "big")
    finally:
        logger.logger.removeHandler(handler)
    assert written.getvalue() == f"{{'n': {shown}, 'm': 1}}\n"
    assert capsys.readouterr().err == ""


def test_a_field_that_can_be_shown_is_the_very_object(logger, caplog):
    thing = object()
    logger.error({"thing": thing, "n": 10**4_000}, "kept")
    assert caplog.records[0].fields == {"thing": thing, "n": 10**4_000}


def test_exception_outside_a_handler_logs_without_a_traceback(logger, caplog):
    logger.exception("hello")  # noqa: LOG004  the mistake is the point
    assert only(caplog).exc_info is None
    assert only(caplog).exc_text is None


def test_a_level_that_is_off_costs_no_repr(logger, caplog):
    class Counted:
        shown = 0

        def __repr__(self):
            Counted.shown += 1
            return "x"

    caplog.set_level(logging.ERROR, logger="agentctx_nb")
    logger.info({"value": Counted()}, "hello")
    assert Counted.shown == 0
    assert not caplog.records


def test_no_handler_is_added():
    RuntimeLogger("lonely").child(a=1)
    assert logging.getLogger("agentctx_nb.lonely").handlers == []
    assert logging.getLogger("agentctx_nb").handlers == []

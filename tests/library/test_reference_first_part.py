from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from agentctx_nb import library
from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.library import (
    ADMIN_STATS,
    CURRENT_TIME,
    FACTS,
    RECENT_MESSAGES,
    USER_PREFERENCES,
    USER_PROFILE,
    reference_providers,
)
from agentctx_nb.model import Entity, Memory
from agentctx_nb.moments import from_milliseconds, iso, milliseconds
from agentctx_nb.runtime import AgentRuntime

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NAMES = ("CURRENT_TIME", "USER_PROFILE", "ADMIN_STATS", "RECENT_MESSAGES", "USER_PREFERENCES", "FACTS")


@pytest.fixture
def runtime():
    made = AgentRuntime(clock=lambda: NOON)
    for provider in reference_providers():
        made.register_provider(provider)
    return made


def fill(runtime, *, entity: Entity | None = None, **tables: list[Memory]) -> None:
    async def write():
        if entity is not None:
            await runtime.create_entity(entity)
        for table, memories in tables.items():
            for memory in memories:
                await runtime.create_memory(memory, table)

    asyncio.run(write())


def compose(runtime, name: str, **fields):
    """Return what provider ``name`` adds to the state of a message."""

    async def one():
        return await runtime.compose_state(Memory("hi", **fields), [name], only_include=True, strict=True)

    state = asyncio.run(one())
    return state.data.providers[name]


def test_all_are_there_in_the_order_of_the_page():
    assert tuple(provider.name for provider in reference_providers() if provider.name in NAMES) == NAMES
    assert set(NAMES) < set(library.__all__)
    assert all(provider.description for provider in reference_providers())


def test_flags_and_positions_are_the_page_s():
    assert [p.name for p in reference_providers() if p.private] == ["ADMIN_STATS"]
    assert {p.name: p.position for p in reference_providers() if p.position} == {"RECENT_MESSAGES": -1}
    assert not any(p.dynamic or p.always_run for p in reference_providers() if p.name in NAMES)


def test_current_time(runtime):
    found = compose(runtime, CURRENT_TIME.name)
    assert found.text == "Current time: 2026-01-01T12:00:00.000Z"
    assert found.values == {"currentTime": "2026-01-01T12:00:00.000Z", "timestamp": 1767268800000}
    assert found.data["date"] is NOON


def test_current_time_is_in_utc_wherever_the_clock_hangs():
    berlin = datetime(2026, 1, 1, 13, 0, 0, 987654, tzinfo=timezone(timedelta(hours=1)))
    made = AgentRuntime(clock=lambda: berlin)
    made.register_provider(CURRENT_TIME)
    assert compose(made, CURRENT_TIME.name).text == "Current time: 2026-01-01T12:00:00.987Z"


class Nowhere(tzinfo):
    def utcoffset(self, moment):
        return None


@pytest.mark.parametrize(
    "wrong", [datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=Nowhere()), 1767268800, None]
)
def test_a_clock_that_does_not_tell_where_it_hangs_is_refused(wrong):
    made = AgentRuntime(clock=lambda: wrong)
    made.register_provider(CURRENT_TIME)
    with pytest.raises(DefinitionTypeError, match="clock must return a timezone-aware datetime, not"):
        made.clock()
    assert "clock must return" in str(made.compose("hello", [CURRENT_TIME.name]).errors[CURRENT_TIME.name])


@pytest.mark.parametrize(
    "wrong",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    ],
)
def test_a_clock_at_a_moment_that_utc_has_not_is_refused(wrong):
    with pytest.raises(DefinitionError, match="clock must return a datetime that UTC has too, not"):
        AgentRuntime(clock=lambda: wrong).clock()


def test_user_profile(runtime):
    entity = Entity("u1", names=["Ada", "Countess"], created_at=1735689600000)
    fill(runtime, entity=entity)
    found = compose(runtime, USER_PROFILE.name, entity_id="u1")
    assert found.text == "User: Ada\nJoined: 2025-01-01T00:00:00.000Z"
    assert found.values == {"userName": "Ada", "userId": "u1"}
    assert found.data["entity"].names == ["Ada", "Countess"]


@pytest.mark.parametrize("names", [[], [""], ["  "]])
def test_a_user_without_a_name_goes_by_the_id(runtime, names):
    fill(runtime, entity=Entity("u1", names=names))
    found = compose(runtime, USER_PROFILE.name, entity_id="u1")
    assert found.text == "User: u1\nJoined: 2026-01-01T12:00:00.000Z"


@pytest.mark.parametrize("moment", [8.64e15, -8.64e15])
def test_a_day_no_calendar_of_python_has_is_left_out_of_a_profile(runtime, moment):
    asyncio.run(runtime.create_entity(Entity("far", ["Ada"], created_at=moment)))
    assert compose(runtime, USER_PROFILE.name, entity_id="far").text == "User: Ada"


@pytest.mark.parametrize("entity_id", [None, "nobody"])
@pytest.mark.parametrize("provider", [USER_PROFILE, USER_PREFERENCES], ids=lambda p: p.name)
def test_nobody_has_no_profile_and_no_preferences(runtime, provider, entity_id):
    found = compose(runtime, provider.name, entity_id=entity_id)
    assert found.text == ""
    assert dict(found.values) == {}


@pytest.mark.parametrize(
    ("preferences", "text"),
    [
        ({"language": "English", "timezone": "UTC"}, "Preferred language: English\nTimezone: UTC"),
        ({"timezone": "Europe/Berlin", "units": "metric"}, "Timezone: Europe/Berlin"),
        ({"language": ""}, ""),
        ({}, ""),
    ],
)
def test_user_preferences(runtime, preferences, text):
    fill(runtime, entity=Entity("u1", metadata={"preferences": preferences}))
    found = compose(runtime, USER_PREFERENCES.name, entity_id="u1")
    assert found.text == text
    assert found.values == preferences
    assert found.data["preferences"] == preferences


@pytest.mark.parametrize("metadata", [{}, {"preferences": None}, {"preferences": "English"}])
def test_preferences_that_are_no_dict_are_none(runtime, metadata):
    fill(runtime, entity=Entity("u1", metadata=metadata))
    found = compose(runtime, USER_PREFERENCES.name, entity_id="u1")
    assert (found.text, found.data["preferences"]) == ("", {})


def test_recent_messages_are_the_last_ten_of_the_room_oldest_first(runtime):
    fill(
        runtime,
        messages=[
            *(
                Memory({"text": f"line {n}", "user": "ada"}, room_id="lobby", created_at=n)
                for n in range(1, 13)
            ),
            Memory({"text": "elsewhere", "user": "bob"}, room_id="hall"),
        ],
    )
    found = compose(runtime, RECENT_MESSAGES.name, room_id="lobby")
    assert found.text == "Recent messages:\n" + "\n".join(f"ada: line {n}" for n in range(3, 13))
    assert [m.content.text for m in found.data["messages"]] == [f"line {n}" for n in range(12, 2, -1)]


def test_a_message_without_a_user_goes_by_its_entity(runtime):
    fill(
        runtime,
        entity=Entity("u1", names=["Ada"]),
        messages=[
            Memory("one", room_id="r", entity_id="u1", created_at=1),
            Memory("two", room_id="r", entity_id="u2", created_at=2),
            Memory("three", room_id="r", created_at=3),
            Memory({"text": None}, room_id="r", created_at=4),
        ],
    )
    found = compose(runtime, RECENT_MESSAGES.name, room_id="r")
    assert found.text == "Recent messages:\nAda: one\nu2: two\nunknown: three"


@pytest.mark.parametrize("room_id", [None, "empty"])
@pytest.mark.parametrize("provider", [RECENT_MESSAGES, FACTS], ids=lambda p: p.name)
def test_no_room_shows_nothing_of_other_rooms(runtime, provider, room_id):
    row = [Memory({"text": "private", "user": "ada"}, room_id="lobby"), Memory("nowhere")]
    fill(runtime, messages=row, facts=row)
    assert compose(runtime, provider.name, room_id=room_id).text == ""


@pytest.mark.parametrize("provider", [RECENT_MESSAGES, FACTS], ids=lambda provider: provider.name)
def test_that_a_message_has_no_room_is_logged(runtime, provider, caplog):
    runtime.register_provider(provider)
    said = f"{provider.name}: the message has no room_id"
    with caplog.at_level("INFO"):
        runtime.compose(Memory("hi", room_id="lobby"), [provider.name], only_include=True)
        assert said not in caplog.text
        runtime.compose("hi", [provider.name], only_include=True)
    assert said in caplog.text


def test_facts_are_the_last_twenty_of_the_room(runtime):
    fill(
        runtime,
        facts=[Memory(f"fact {n}", room_id="r", created_at=n) for n in range(25)]
        + [Memory({"text": ""}, room_id="r", created_at=24)],
    )
    found = compose(runtime, FACTS.name, room_id="r")
    assert found.text == "Known facts:\n" + "\n".join(f"- fact {n}" for n in range(24, 5, -1))
    assert len(found.data["facts"]) == 20


def test_admin_stats_counts_users_and_messages(runtime):
    fill(
        runtime,
        entity=Entity("u1"),
        messages=[Memory("a"), Memory("b")],
        facts=[Memory("c")],
    )
    found = compose(runtime, ADMIN_STATS.name)
    assert found.text == "System stats: 1 users, 2 messages"
    assert found.data["stats"] == {"activeUsers": 1, "messageCount": 2}


def test_a_plain_message_runs_all_but_the_private_one_without_a_failure(runtime):
    async def whole():
        return await runtime.compose_state("hello", strict=True)

    state = asyncio.run(whole())
    assert state.text == "Current time: 2026-01-01T12:00:00.000Z"
    assert "ADMIN_STATS" not in state.data.providers


@pytest.mark.parametrize("count", [0, 1, -1, 1767268800123, 253402300799999])
def test_moments_and_milliseconds_are_one_to_one(count):
    assert milliseconds(from_milliseconds(count)) == count


def test_a_moment_without_a_zone_is_taken_as_utc():
    assert iso(datetime(2026, 1, 1)) == "2026-01-01T00:00:00.000Z"

from __future__ import annotations

import asyncio
import logging

import pytest

from agentctx_nb import AgentRuntime, Memory
from agentctx_nb.errors import DefinitionError
from agentctx_nb.library import WEATHER
from agentctx_nb.library.http_client import ServiceError
from agentctx_nb.library.weather import ATTRIBUTION
from agentctx_nb.library.weather_codes import WEATHER_WORDS, weather_words
from tests.library.loopback import Reply

GEO, FORECAST = "/geo/v1/search", "/v1/forecast"


def ask(service, message, *, entity=None, **settings):
    """Return the state of ``message`` composed with WEATHER alone."""

    async def run():
        async with AgentRuntime(settings={**service.settings, **settings}) as runtime:
            runtime.register_provider(WEATHER)
            if entity is not None:
                await runtime.create_entity(entity)
            return await runtime.compose_state(message, ["WEATHER"], only_include=True)

    return asyncio.run(run())


def test_the_text_says_the_weather_now_and_in_the_next_days_and_whose_data_it_is(service):
    state = ask(service, "what's the weather in bergen?")
    assert state.text.splitlines() == [
        "Weather in Bergen: 8°C, light rain",
        "Today: 5 to 9°C, light rain, 80% chance of precipitation",
        "Tomorrow: 3 to 6°C, overcast, 10% chance of precipitation",
        "Saturday: -5 to 0°C, light snow",
        "Weather data by Open-Meteo.com (CC BY 4.0)",
    ]


def test_values_are_named_as_on_the_page(service):
    values = ask(service, "weather in Bergen").values
    assert (values["temperature"], values["conditions"]) == (8, "light rain")
    assert (values["temperatureUnit"], values["weatherLocation"]) == ("°C", "Bergen")


def test_data_hold_the_weather_and_the_attribution(service):
    data = ask(service, "weather in Bergen").data.providers["WEATHER"].data
    assert data["attribution"] == ATTRIBUTION
    weather = data["weather"]
    assert (weather["temperature"], weather["feelsLike"], weather["weatherCode"]) == (8, 5, 61)
    assert (weather["windSpeed"], weather["windSpeedUnit"], weather["humidity"]) == (18, "km/h", 90)
    assert (weather["country"], weather["timezone"]) == ("Norway", "Europe/Oslo")
    assert weather["observedAt"] == "2026-01-01T12:00"
    assert [day["date"] for day in weather["forecast"]] == ["2026-01-01", "2026-01-02", "2026-01-03"]


def test_the_place_is_looked_up_and_its_position_asked_about(service):
    ask(service, "weather in Bergen")
    assert service.queries(GEO) == [{"name": "Bergen", "count": "1", "language": "en", "format": "json"}]
    (query,) = service.queries(FORECAST)
    assert (query["latitude"], query["longitude"], query["timezone"]) == ("60.39", "5.32", "auto")
    assert "temperature_unit" not in query


@pytest.mark.parametrize(
    "given",
    [
        {"WEATHER_UNITS": "imperial"},
        {"entity": {"id": "u1", "metadata": {"preferences": {"units": "imperial"}}}},
    ],
)
def test_imperial_units_by_a_setting_or_a_preference(service, given):
    state = ask(service, Memory("weather in Bergen", entity_id="u1"), **given)
    assert state.text.startswith("Weather in Bergen: 47°F, light rain\n")
    assert state.values["temperatureUnit"] == "°F"
    assert service.queries(FORECAST)[0]["wind_speed_unit"] == "mph"
    assert state.data.providers["WEATHER"].data["weather"]["windSpeedUnit"] == "mph"


def test_a_preference_goes_before_the_setting_and_one_that_is_no_unit_does_not_count(service):
    entity = {"id": "u1", "metadata": {"preferences": {"units": "metric"}}}
    message = Memory("weather in Bergen", entity_id="u1")
    assert "8°C" in ask(service, message, entity=entity, WEATHER_UNITS="imperial").text
    entity["metadata"]["preferences"]["units"] = "beaufort"
    assert "47°F" in ask(service, message, entity=entity, WEATHER_UNITS="imperial").text


@pytest.mark.parametrize(
    ("text", "shown", "latitude"),
    [
        ("weather in Paris", "Paris", "48.85"),
        ("weather in Paris, France", "Paris, France", "48.85"),
        ("weather in Paris, Texas", "Paris, Texas", "33.66"),
        ("weather in paris texas", "Paris, Texas", "33.66"),
        ("weather in Paris, TX", "Paris, Texas", "33.66"),
        ("weather in Paris, Texas, USA", "Paris, Texas", "33.66"),
        ("weather in Portland, ME", "Portland, Maine", "43.66"),
        ("weather in Portland Oregon", "Portland, Oregon", "45.52"),
        ("weather in new york", "New York", "40.71"),
        ("weather in Washington, D.C.", "Washington, District of Columbia", "38.9"),
        ("weather in Perth, WA", "Perth, Western Australia", "-31.95"),
        ("weather in Perth, Scotland", "Perth, Scotland", "56.4"),
        ("weather in Quebec, QC", "Québec, Quebec", "46.81"),
        ("weather for 90210", "Beverly Hills", "34.09"),
        ("weather in Lago Texas", "Lago Texas", "1.0"),
    ],
)
def test_the_right_one_of_several_places_is_taken(service, text, shown, latitude):
    state = ask(service, text)
    assert state.text.startswith(f"Weather in {shown}: ")
    assert service.queries(FORECAST)[0]["latitude"] == latitude


def test_a_place_that_is_not_in_the_region_asked_for_is_not_given_for_it(service, caplog):
    with caplog.at_level(logging.WARNING):
        state = ask(service, "weather in Bergen, Texas")
    assert state.text == ""
    assert "no place is known as 'Bergen, Texas'" in caplog.text
    assert service.queries(FORECAST) == []


def test_a_place_nobody_knows_gives_no_text_and_a_sentence_in_the_log(service, caplog):
    with caplog.at_level(logging.WARNING):
        state = ask(service, "weather in Atlantis")
    assert (state.text, state.report["WEATHER"].outcome) == ("", "empty")
    assert "WEATHER: no place is known as 'Atlantis'" in caplog.text


@pytest.mark.parametrize(
    ("preferences", "metadata", "setting", "shown"),
    [
        ({"location": "Bergen"}, {"location": "Paris"}, "Singapore", "Bergen"),
        ({}, {"location": "Paris"}, "Singapore", "Paris"),
        ({"location": ""}, {}, "Singapore", "Singapore"),
        ("none", {}, "Singapore", "Singapore"),
    ],
)
def test_a_message_without_a_place_is_about_where_the_user_is(service, preferences, metadata, setting, shown):
    entity = {"id": "u1", "metadata": {"preferences": preferences, **metadata}}
    state = ask(service, Memory("will it rain?", entity_id="u1"), entity=entity, WEATHER_LOCATION=setting)
    assert state.text.startswith(f"Weather in {shown}: ")


def test_the_place_of_the_message_goes_before_where_the_user_is(service):
    assert ask(service, "weather in Bergen", WEATHER_LOCATION="Paris").text.startswith("Weather in Bergen")


@pytest.mark.parametrize("text", ["will it rain?", "", None])
def test_no_place_at_all_gives_no_text_and_says_what_to_set(service, caplog, text):
    with caplog.at_level(logging.INFO):
        state = ask(service, Memory({"text": text}))
    assert (state.text, state.report["WEATHER"].outcome) == ("", "empty")
    assert "set WEATHER_LOCATION" in caplog.text
    assert service.asked == []


@pytest.mark.parametrize(("days", "lines"), [(0, 0), ("1", 1), (6, 6), (7, 6)])
def test_the_number_of_days_is_a_setting_and_an_empty_day_is_left_out(service, days, lines):
    assert len(ask(service, "weather in Bergen", WEATHER_FORECAST_DAYS=days).text.splitlines()) == lines + 2
    assert ("daily" in service.queries(FORECAST)[0]) == (int(days) > 0)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"WEATHER_UNITS": "imperal"}, "did you mean 'imperial'?"),
        ({"WEATHER_FORECAST_DAYS": 17}, "WEATHER_FORECAST_DAYS is a number from 0 to 16, not 17"),
        ({"WEATHER_FORECAST_DAYS": "many"}, "WEATHER_FORECAST_DAYS is a number, not 'many'"),
        ({"WEATHER_TIMEOUT": True}, "WEATHER_TIMEOUT is a number, not True"),
        ({"WEATHER_TIMEOUT": 10**400}, "WEATHER_TIMEOUT is a number, not a long int"),
        (
            {"WEATHER_BASE_URL": "localhost"},
            "WEATHER_BASE_URL is an address such as 'https://api.open-meteo.com/v1'",
        ),
        ({"WEATHER_GEOCODING_URL": "http://localhost:99999"}, "WEATHER_GEOCODING_URL is no address such as"),
        ({"WEATHER_BASE_URL": "http://localhost:99999/v1"}, "out of range"),
        ({"WEATHER_BASE_URL": "http://localhost:http"}, "WEATHER_BASE_URL is no address such as"),
        ({"WEATHER_BASE_URL": "http://localhost:0"}, "port 0 is none"),
        ({"WEATHER_BASE_URL": "http://[::1"}, "WEATHER_BASE_URL is no address such as"),
        ({"WEATHER_BASE_URL": "http://"}, "it names no host"),
        ({"WEATHER_BASE_URL": "http:///v1"}, "it names no host"),
        ({"WEATHER_BASE_URL": "http://a\x00b"}, "a request to Open-Meteo cannot be sent: "),
        ({"WEATHER_BASE_URL": "http://\ud800.com"}, "a request to Open-Meteo cannot be sent: "),
        ({"WEATHER_BASE_URL": "http://localhost:1/\ud800"}, "a request to Open-Meteo cannot be sent: "),
    ],
)
def test_a_wrong_setting_fails_in_words(service, setting, words):
    error = ask(service, "weather in Bergen", **setting).errors["WEATHER"]
    assert isinstance(error, DefinitionError)
    assert words in str(error)


def test_a_busy_service_is_asked_again(service):
    service.script(FORECAST, Reply(503), Reply(429, headers={"Retry-After": "0"}))
    assert ask(service, "weather in Bergen").text.startswith("Weather in Bergen")
    assert len(service.queries(FORECAST)) == 3


def test_a_service_that_wants_to_be_left_alone_for_long_is(service):
    service.script(
        FORECAST, Reply(429, {"error": True, "reason": "Daily limit reached."}, {"Retry-After": "3600"})
    )
    error = ask(service, "weather in Bergen").errors["WEATHER"]
    assert str(error) == "Open-Meteo answered 429 (Too Many Requests): Daily limit reached."
    assert len(service.queries(FORECAST)) == 1


@pytest.mark.parametrize(
    ("path", "reply", "words"),
    [
        (FORECAST, Reply(400, {"error": True, "reason": "Latitude is wrong."}), "Open-Meteo answered 400 (Bad Request): Latitude is wrong."),
        (FORECAST, Reply(200, b"<html>"), "Open-Meteo did not answer in JSON but '<html>'"),
        (FORECAST, Reply(200, {"current": {"temperature_2m": None}}), "Open-Meteo answered without a temperature"),
        (FORECAST, Reply(200, []), "Open-Meteo answered without a temperature"),
        (GEO, Reply(404, b""), "Open-Meteo's place search answered 404 (Not Found)"),
        (FORECAST, Reply(302, b"", {"Location": "http://127.0.0.1:9/x"}), "Open-Meteo answered 302 (Found), that it moved"),
        (FORECAST, Reply(799, b""), "Open-Meteo answered 799"),
        (FORECAST, Reply(200, b"x" * 10_000_001), "Open-Meteo answered with more than 10 MB"),
    ],
    ids=lambda value: value.status if isinstance(value, Reply) else None,
)  # fmt: skip
def test_what_goes_wrong_is_a_failed_outcome_in_words(service, path, reply, words):
    service.script(path, reply)
    state = ask(service, "weather in Bergen")
    assert (state.text, state.report["WEATHER"].outcome) == ("", "failed")
    assert isinstance(state.errors["WEATHER"], ServiceError)
    assert words in str(state.errors["WEATHER"])


PLACE = {"name": "Bergen", "latitude": 60.4, "longitude": 5.3}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([], "with a list where an object belongs"),
        (None, "with null where an object belongs"),
        ("Bergen", "with a text where an object belongs"),
        ({"results": None}, "with null where the list of places belongs"),
        ({"results": 5}, "with a number where the list of places belongs"),
        ({"results": {"name": "Bergen"}}, "with an object where the list of places belongs"),
        ({"results": [None, "Bergen", []]}, "without a place that has a name, a latitude and a longitude"),
        ({"results": [PLACE | {"latitude": "60.4"}]}, "without a place that has"),
        ({"results": [PLACE | {"longitude": True}]}, "without a place that has"),
        ({"results": [PLACE | {"latitude": float("nan")}]}, "without a place that has"),
        ({"results": [PLACE | {"latitude": 10**400}]}, "without a place that has"),
        ({"results": [PLACE | {"name": 5}]}, "without a place that has"),
        (b'{"results": [' + b"[" * 100_000, "did not answer in JSON but"),
    ],
    ids=str,
)
def test_a_place_search_of_another_shape_is_a_failed_one_in_words(service, said, words):
    service.script(GEO, Reply(200, said))
    error = ask(service, "weather in Bergen, Norway").errors["WEATHER"]
    assert isinstance(error, ServiceError)
    assert str(error).startswith("Open-Meteo's place search ")
    assert words in str(error)


@pytest.mark.parametrize("odd", [5, None, [], {}, "x", True])
def test_what_is_odd_about_a_place_beside_its_position_is_passed_over(service, odd):
    fields = ["country", "country_code", "admin1", "admin2"]
    service.script(GEO, Reply(200, {"results": [None, PLACE | dict.fromkeys(fields, odd)]}))
    assert ask(service, "weather in Bergen, Somewhere").text.startswith("Weather in Bergen")


def test_odd_but_readable_answers_are_read(service):
    service.script(GEO, Reply(200, {}))
    assert ask(service, "weather in Bergen").report["WEATHER"].outcome == "empty"
    current = {"time": "soon", "temperature_2m": -0.4, "weather_code": 42}
    daily = {"time": ["later"], "temperature_2m_max": [1], "temperature_2m_min": [0]}
    service.script(FORECAST, Reply(200, {"current": current, "daily": daily}))
    lines = ask(service, "weather in Bergen").text.splitlines()
    assert lines[:2] == ["Weather in Bergen: 0°C, conditions unknown", "later: 0 to 1°C, conditions unknown"]


NUMBERS = [float("nan"), float("inf"), 10**400, "8", None, True, [8]]


@pytest.mark.parametrize("odd", NUMBERS, ids=type)
def test_a_forecast_without_numbers_has_no_days_and_without_a_temperature_it_fails(service, odd):
    names = ["weather_code", "temperature_2m_max", "temperature_2m_min", "precipitation_probability_max"]
    current = {"temperature_2m": 8} | dict.fromkeys(["weather_code", "apparent_temperature", "time"], odd)
    daily = {"time": ["2026-01-01", 5, None]} | {name: [odd, 1, 1] for name in names}
    columns = {"time": ["2026-01-01"]} | dict.fromkeys(names, odd)
    for days in (daily, columns, {"time": odd}, odd):
        service.script(FORECAST, Reply(200, {"current": current, "daily": days}))
        state = ask(service, "weather in Bergen")
        assert state.text.splitlines()[0] == "Weather in Bergen: 8°C, conditions unknown"
        assert "to 1°C" not in state.text
    service.script(FORECAST, Reply(200, {"current": {"temperature_2m": odd}}))
    error = ask(service, "weather in Bergen").errors["WEATHER"]
    assert str(error) == "Open-Meteo answered without a temperature"


def test_a_slow_service_is_given_up_after_its_timeout(service):
    service.delay = 0.5
    state = ask(service, "weather in Bergen", WEATHER_TIMEOUT=0.05)
    assert str(state.errors["WEATHER"]) == "Open-Meteo's place search did not answer within 0.05 s"


def test_a_service_that_hangs_up_or_is_not_there_is_said_to_be_out_of_reach(service):
    service.script(GEO, Reply(0), Reply(0), Reply(0))
    assert "Open-Meteo's place search cannot be reached: " in str(
        ask(service, "weather in Bergen").errors["WEATHER"]
    )
    state = ask(service, "weather in Bergen", WEATHER_GEOCODING_URL="http://127.0.0.1:1")
    assert "cannot be reached" in str(state.errors["WEATHER"])


def test_it_is_woken_by_the_page_s_keywords_only(service):
    runtime = AgentRuntime(settings=service.settings)
    runtime.register_provider(WEATHER)
    for text in ("What's the weather like today?", "temperature", "a forecast", "will it rain"):
        assert "WEATHER" in runtime.match(text).woken
    assert "WEATHER" not in runtime.match("hello, is the training over?").woken


@pytest.mark.parametrize("code", sorted(WEATHER_WORDS))
def test_every_code_has_words_of_its_own(code):
    assert weather_words(code) == weather_words(float(code)) == WEATHER_WORDS[code]
    assert list(WEATHER_WORDS.values()).count(WEATHER_WORDS[code]) == 1


@pytest.mark.parametrize("code", [None, 4, -1, 61.5, True, "61", float("nan"), float("inf")])
def test_what_is_no_code_is_said_to_be_unknown(code):
    assert weather_words(code) == "conditions unknown"

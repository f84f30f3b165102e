"""WEATHER: what it is like at the place the message names, now and in the next days, by Open-Meteo.

The place is looked up by its name, so no key and no list of places is needed. Open-Meteo is free for
non-commercial use and its data are under CC BY 4.0: the credit in the text and in the data belongs to them.

Settings: ``WEATHER_LOCATION`` (where the message names no place and the entity's preferences no ``location``),
``WEATHER_UNITS`` (``"metric"`` or ``"imperial"``), ``WEATHER_FORECAST_DAYS`` (0 to 16, by default 3),
``WEATHER_TIMEOUT`` (seconds), ``WEATHER_BASE_URL`` and ``WEATHER_GEOCODING_URL``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from agentctx_nb.library.answers import is_number
from agentctx_nb.library.geocoding import find_spot
from agentctx_nb.library.http_client import TIMEOUT_SECONDS, ServiceError, fetch
from agentctx_nb.library.places import find_place
from agentctx_nb.library.service_settings import address, choice, number
from agentctx_nb.library.weather_codes import weather_words
from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.library.geocoding import Spot
    from agentctx_nb.model import Memory

__all__ = ["ATTRIBUTION", "WEATHER"]

ATTRIBUTION = "Weather data by Open-Meteo.com (CC BY 4.0)"

_CURRENT = "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m"
_DAILY = "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max"
_UNITS = ("metric", "imperial")
_IMPERIAL = {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"}
_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


async def _weather(runtime: Any, message: Memory) -> ProviderResult:
    preferences, where = await _known_of(runtime, message)
    place = find_place(message.content.text) or where
    if place is None:
        runtime.logger.info(
            "WEATHER: the message names no place; set WEATHER_LOCATION, or preferences.location of the entity"
        )
        return ProviderResult()
    units = preferences.get("units")
    if units not in _UNITS:
        units = choice(runtime, "WEATHER_UNITS", "metric", of=_UNITS)
    spot = await find_spot(runtime, place)
    if spot is None:
        runtime.logger.warning("WEATHER: no place is known as %r", place)
        return ProviderResult()
    weather = _read(await _ask(runtime, spot, units=units), spot, units=units)
    now = f"Weather in {spot.name}: {weather['temperature']}{weather['temperatureUnit']}, {weather['conditions']}"
    return ProviderResult(
        text="\n".join([now, *map(_day_line, weather["forecast"]), ATTRIBUTION]),
        values={
            "temperature": weather["temperature"],
            "temperatureUnit": weather["temperatureUnit"],
            "conditions": weather["conditions"],
            "weatherLocation": spot.name,
        },
        data={"weather": weather, "attribution": ATTRIBUTION},
    )


async def _known_of(runtime: Any, message: Memory) -> tuple[Mapping[str, Any], str | None]:
    """Return the preferences of whoever wrote the message, and the place to take when it names none."""
    entity = await runtime.get_entity_by_id(message.entity_id)
    metadata = entity.metadata if entity is not None else {}
    preferences = metadata.get("preferences")
    if not isinstance(preferences, Mapping):
        preferences = {}
    usual = (preferences.get("location"), metadata.get("location"), runtime.get_setting("WEATHER_LOCATION"))
    named = [place.strip() for place in usual if isinstance(place, str) and place.strip()]
    return preferences, named[0] if named else None


async def _ask(runtime: Any, spot: Spot, *, units: str) -> Any:
    """Return Open-Meteo's forecast for ``spot``."""
    days = int(number(runtime, "WEATHER_FORECAST_DAYS", 3, least=0, most=16))
    answer = await fetch(
        runtime,
        address(runtime, "WEATHER_BASE_URL", "https://api.open-meteo.com/v1") + "/forecast",
        service="Open-Meteo",
        params={
            "latitude": spot.latitude,
            "longitude": spot.longitude,
            "current": _CURRENT,
            "timezone": "auto",  # days as they are at the place
            **({"daily": _DAILY, "forecast_days": days} if days else {}),
            **(_IMPERIAL if units == "imperial" else {}),
        },
        timeout=number(runtime, "WEATHER_TIMEOUT", TIMEOUT_SECONDS, least=0.01, most=600),
    )
    answer.raise_for_status()
    return answer.json()


def _read(answer: Any, spot: Spot, *, units: str) -> dict[str, Any]:
    """Return the forecast as this provider's data, its temperatures in whole degrees."""
    current = answer.get("current") if isinstance(answer, Mapping) else None
    if not isinstance(current, Mapping) or not is_number(current.get("temperature_2m")):
        raise ServiceError("Open-Meteo answered without a temperature")
    unit = "°F" if units == "imperial" else "°C"
    return {
        "location": spot.name,
        "country": spot.country,
        "latitude": spot.latitude,
        "longitude": spot.longitude,
        "timezone": answer.get("timezone"),
        "observedAt": current.get("time"),
        "temperature": round(current["temperature_2m"]),
        "temperatureUnit": unit,
        "feelsLike": _whole(current.get("apparent_temperature")),
        "conditions": weather_words(current.get("weather_code")),
        "weatherCode": current.get("weather_code"),
        "humidity": current.get("relative_humidity_2m"),
        "windSpeed": current.get("wind_speed_10m"),
        "windSpeedUnit": "mph" if units == "imperial" else "km/h",
        "units": units,
        "forecast": list(_days(answer.get("daily"), str(current.get("time") or "")[:10], unit)),
    }


def _days(daily: Any, today: str, unit: str) -> list[dict[str, Any]]:
    """Return one dict a day of the columns Open-Meteo answers in."""
    if not isinstance(daily, Mapping) or not isinstance(daily.get("time"), list):
        return []
    found = [daily.get(name) for name in _DAILY.split(",")]
    columns = [column if isinstance(column, list) else [] for column in found]
    days = []
    for number_of_day, day in enumerate(daily["time"]):
        if not isinstance(day, str):
            continue
        code, high, low, chance = (
            column[number_of_day] if number_of_day < len(column) else None for column in columns
        )
        if is_number(high) and is_number(low):  # the last day of a model may be empty
            days.append(
                {
                    "date": day,
                    "day": _day_name(day, today),
                    "high": round(high),
                    "low": round(low),
                    "temperatureUnit": unit,
                    "conditions": weather_words(code),
                    "chanceOfPrecipitation": chance,
                }
            )
    return days


def _day_line(day: Mapping[str, Any]) -> str:
    chance = day["chanceOfPrecipitation"]
    wet = f", {chance:g}% chance of precipitation" if is_number(chance) else ""
    return f"{day['day']}: {day['low']} to {day['high']}{day['temperatureUnit']}, {day['conditions']}{wet}"


def _day_name(day: str, today: str) -> str:
    try:
        then, now = date.fromisoformat(day), date.fromisoformat(today)
    except ValueError:
        return day
    ahead = (then - now).days
    return ("Today", "Tomorrow")[ahead] if ahead in {0, 1} else _DAY_NAMES[then.weekday()]


def _whole(value: Any) -> int | None:
    return round(value) if is_number(value) else None


WEATHER = Provider(
    "WEATHER",
    _weather,
    description="Current weather information",
    dynamic=True,
    relevance_keywords=("weather", "temperature", "forecast", "rain"),
)

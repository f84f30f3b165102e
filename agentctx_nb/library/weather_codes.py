"""The WMO codes of a weather report in words, as a person would say them.

The codes are those of WMO table 4677 that Open-Meteo uses for ``weather_code``.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WEATHER_WORDS", "weather_words"]

WEATHER_WORDS: Mapping[int, str] = MappingProxyType(
    {
        0: "clear sky",
        1: "mainly clear",
        2: "partly cloudy",
        3: "overcast",
        45: "fog",
        48: "freezing fog",
        51: "light drizzle",
        53: "drizzle",
        55: "heavy drizzle",
        56: "light freezing drizzle",
        57: "freezing drizzle",
        61: "light rain",
        63: "rain",
        65: "heavy rain",
        66: "light freezing rain",
        67: "freezing rain",
        71: "light snow",
        73: "snow",
        75: "heavy snow",
        77: "snow grains",
        80: "light rain showers",
        81: "rain showers",
        82: "violent rain showers",
        85: "light snow showers",
        86: "heavy snow showers",
        95: "thunderstorm",
        96: "thunderstorm with light hail",
        99: "thunderstorm with heavy hail",
    }
)


def weather_words(code: float | None) -> str:
    """Return the words for a WMO weather code; an unknown or missing one says that it is.

    >>> weather_words(61), weather_words(61.0), weather_words(42), weather_words(None)
    ('light rain', 'light rain', 'conditions unknown', 'conditions unknown')
    """
    known = not isinstance(code, bool) and isinstance(code, int | float) and code in WEATHER_WORDS
    return WEATHER_WORDS[int(code)] if known and code is not None else "conditions unknown"

"""Where a place is, by its name: Open-Meteo's geocoding, and which of several towns of one name is meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentctx_nb.library.http_client import TIMEOUT_SECONDS, fetch
from agentctx_nb.library.regions import COUNTRIES, STATES, split_region
from agentctx_nb.library.service_settings import address, number

__all__ = ["Spot", "find_spot"]

_CANDIDATES = 20


class Spot(NamedTuple):
    """A place on the map; ``name`` says which one where the question did."""

    name: str
    latitude: float
    longitude: float
    country: str | None = None


async def find_spot(runtime: Any, place: str) -> Spot | None:
    """Return where ``place`` is, or None where no place of that name and region is known.

    The service knows towns by their name alone and finds nothing for "Portland, OR": the town is asked for, and
    the region picks among the answers.
    """
    town, region = split_region(place)
    found = await _named(runtime, town, region)
    if found is None and region and "," not in place:  # what looks like a region may be part of the name
        found = await _named(runtime, place, "")
    return found


async def _named(runtime: Any, town: str, region: str) -> Spot | None:
    hints = [plain for hint in region.split(",") if (plain := _plain(hint))]
    countries = [COUNTRIES[hint] for hint in hints if hint in COUNTRIES]
    answer = await fetch(
        runtime,
        address(runtime, "WEATHER_GEOCODING_URL", "https://geocoding-api.open-meteo.com/v1") + "/search",
        service="Open-Meteo's place search",
        params={
            "name": town,
            "count": _CANDIDATES if hints else 1,
            "language": "en",
            "format": "json",
            **({"countryCode": countries[0]} if countries else {}),
        },
        timeout=number(runtime, "WEATHER_TIMEOUT", TIMEOUT_SECONDS, least=0.01, most=600),
    )
    answer.raise_for_status()
    said = answer.json()
    results = (
        said.get("results") if isinstance(said, Mapping) else None
    )  # the key is left out when none is found
    candidates = [result for result in results or [] if isinstance(result, Mapping) and _has_position(result)]
    for result in candidates:
        if all(_fits(hint, result) for hint in hints):
            return _spot(result, hints)
    known = any(hint in COUNTRIES or hint in STATES for hint in hints)
    return None if known or not candidates else _spot(candidates[0], hints)


def _spot(result: Mapping[str, Any], hints: list[str]) -> Spot:
    name = str(result.get("name"))
    if hints:
        by_country = all(hint in COUNTRIES and hint not in STATES for hint in hints)
        which = result.get("country") if by_country else result.get("admin1") or result.get("country")
        if which and which != name:
            name = f"{name}, {which}"
    return Spot(name, result["latitude"], result["longitude"], result.get("country"))


def _fits(hint: str, result: Mapping[str, Any]) -> bool:
    """Tell whether a candidate lies in the region that ``hint`` names."""
    code = result.get("country_code")
    if code is not None and COUNTRIES.get(hint) == code:
        return True
    if hint == "".join(word[0] for word in _plain(str(result.get("admin1") or "")).split()):
        return True  # "WA" is Western Australia as well as Washington
    country, state = STATES.get(hint, (None, hint))
    if country is not None and country != code:
        return False
    return state in {
        _plain(str(result.get(key) or "")) for key in ("admin1", "admin2", "country", "country_code")
    }


def _plain(text: str) -> str:
    """Return ``text`` without capitals, accents and full stops: "Québec" and "quebec" are one."""
    spread = unicodedata.normalize("NFKD", text.replace(".", ""))
    return "".join(char for char in spread if not unicodedata.combining(char)).casefold().strip()


def _has_position(result: Mapping[str, Any]) -> bool:
    return all(isinstance(result.get(key), int | float) for key in ("latitude", "longitude"))

"""Where a place is, by its name: Open-Meteo's geocoding, and which of several towns of one name is meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentctx_nb.library.answers import is_number
from agentctx_nb.library.http_client import TIMEOUT_SECONDS, ServiceError, fetch
from agentctx_nb.library.regions import COUNTRIES, STATES, split_region
from agentctx_nb.library.service_settings import address, number

__all__ = ["Spot", "find_spot"]

_CANDIDATES = 20
_KINDS = {type(None): "null", bool: "a truth value", dict: "an object", list: "a list", str: "a text"}
_SERVICE = "Open-Meteo's place search"


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
        service=_SERVICE,
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
    candidates = _candidates(answer.json())
    for result in candidates:
        if all(_fits(hint, result) for hint in hints):
            return _spot(result, hints)
    known = any(hint in COUNTRIES or hint in STATES for hint in hints)
    return None if known or not candidates else _spot(candidates[0], hints)


def _candidates(said: Any) -> list[Mapping[str, Any]]:
    """Return the places of an answer; one of another shape than is documented is a failed one."""
    if not isinstance(said, Mapping):
        raise ServiceError(f"{_SERVICE} answered with {_kind(said)} where an object belongs")
    results = said.get("results", [])  # the key is left out when none is found
    if not isinstance(results, list):
        raise ServiceError(f"{_SERVICE} answered with {_kind(results)} where the list of places belongs")
    candidates = [result for result in results if isinstance(result, Mapping) and _is_place(result)]
    if results and not candidates:
        raise ServiceError(f"{_SERVICE} answered without a place that has a name, a latitude and a longitude")
    return candidates


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def _spot(result: Mapping[str, Any], hints: list[str]) -> Spot:
    name = str(result["name"])
    if hints:
        by_country = all(hint in COUNTRIES and hint not in STATES for hint in hints)
        which = result.get("country") if by_country else result.get("admin1") or result.get("country")
        if isinstance(which, str) and which and which != name:
            name = f"{name}, {which}"
    country = result.get("country")
    return Spot(name, result["latitude"], result["longitude"], country if isinstance(country, str) else None)


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


def _is_place(result: Mapping[str, Any]) -> bool:
    name, latitude, longitude = [result.get(key) for key in ("name", "latitude", "longitude")]
    named = isinstance(name, str) and bool(name.strip())
    return named and is_number(latitude, largest=90) and is_number(longitude, largest=180)

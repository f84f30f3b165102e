"""Countries and states as people name them after a town: "Portland, OR", "Paris, France", "London Ontario".

What follows a town is looked up here twice: to know that it belongs to the place, and to pick the right one of
several towns with one name.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COUNTRIES", "STATES", "is_region", "split_region"]

# Country codes of ISO 3166 by name; only names people put after a town, not every country there is.
COUNTRIES: Mapping[str, str] = MappingProxyType(
    {
        "algeria": "DZ", "argentina": "AR", "australia": "AU", "austria": "AT", "bangladesh": "BD",
        "belgium": "BE", "bolivia": "BO", "brasil": "BR", "brazil": "BR", "bulgaria": "BG", "cambodia": "KH",
        "canada": "CA", "chile": "CL", "china": "CN", "colombia": "CO", "costa rica": "CR", "croatia": "HR",
        "cuba": "CU", "cyprus": "CY", "czechia": "CZ", "czech republic": "CZ", "denmark": "DK",
        "deutschland": "DE", "ecuador": "EC", "egypt": "EG", "estonia": "EE", "ethiopia": "ET", "finland": "FI",
        "france": "FR", "germany": "DE", "ghana": "GH", "great britain": "GB", "greece": "GR", "hungary": "HU",
        "iceland": "IS", "india": "IN", "indonesia": "ID", "iran": "IR", "iraq": "IQ", "ireland": "IE",
        "israel": "IL", "italy": "IT", "jamaica": "JM", "japan": "JP", "kenya": "KE", "latvia": "LV",
        "lebanon": "LB", "lithuania": "LT", "luxembourg": "LU", "malaysia": "MY", "malta": "MT", "mexico": "MX",
        "morocco": "MA", "nepal": "NP", "netherlands": "NL", "new zealand": "NZ", "nigeria": "NG",
        "norway": "NO", "nz": "NZ", "pakistan": "PK", "panama": "PA", "peru": "PE", "philippines": "PH",
        "poland": "PL", "portugal": "PT", "romania": "RO", "russia": "RU", "saudi arabia": "SA", "serbia": "RS",
        "singapore": "SG", "slovakia": "SK", "slovenia": "SI", "south africa": "ZA", "south korea": "KR",
        "korea": "KR", "spain": "ES", "sri lanka": "LK", "sweden": "SE", "switzerland": "CH", "taiwan": "TW",
        "tanzania": "TZ", "thailand": "TH", "tunisia": "TN", "turkey": "TR", "uae": "AE", "uganda": "UG",
        "uk": "GB", "ukraine": "UA", "united arab emirates": "AE", "united kingdom": "GB",
        "united states": "US", "united states of america": "US", "uruguay": "UY", "us": "US", "usa": "US",
        "venezuela": "VE", "vietnam": "VN",
    }
)  # fmt: skip

# (country code, full name in lower case) by abbreviation and by name: states, provinces, the nations of the UK.
_ABBREVIATED = {
    "US": {
        "al": "alabama", "ak": "alaska", "az": "arizona", "ar": "arkansas", "ca": "california",
        "co": "colorado", "ct": "connecticut", "de": "delaware", "dc": "district of columbia", "fl": "florida",
        "ga": "georgia", "hi": "hawaii", "id": "idaho", "il": "illinois", "in": "indiana", "ia": "iowa",
        "ks": "kansas", "ky": "kentucky", "la": "louisiana", "me": "maine", "md": "maryland",
        "ma": "massachusetts", "mi": "michigan", "mn": "minnesota", "ms": "mississippi", "mo": "missouri",
        "mt": "montana", "ne": "nebraska", "nv": "nevada", "nh": "new hampshire", "nj": "new jersey",
        "nm": "new mexico", "ny": "new york", "nc": "north carolina", "nd": "north dakota", "oh": "ohio",
        "ok": "oklahoma", "or": "oregon", "pa": "pennsylvania", "ri": "rhode island", "sc": "south carolina",
        "sd": "south dakota", "tn": "tennessee", "tx": "texas", "ut": "utah", "vt": "vermont", "va": "virginia",
        "wa": "washington", "wv": "west virginia", "wi": "wisconsin", "wy": "wyoming",
    },
    "CA": {
        "ab": "alberta", "bc": "british columbia", "mb": "manitoba", "nb": "new brunswick",
        "ns": "nova scotia", "on": "ontario", "qc": "quebec", "sk": "saskatchewan",
    },
    "AU": {
        "nsw": "new south wales", "qld": "queensland",
        "tas": "tasmania", "vic": "victoria",
    },
    "GB": {"eng": "england", "sco": "scotland", "wls": "wales", "nir": "northern ireland"},
}  # fmt: skip

STATES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        spelling: (country, name)
        for country, states in _ABBREVIATED.items()
        for short, name in states.items()
        for spelling in (short, name)
    }
)

# "New Mexico" and "Lake Washington" are whole names.
_PARTS_OF_NAMES = frozenset(
    (
        "baja", "central", "ciudad", "de", "east", "fort", "lake", "little", "lower", "mount", "new", "north",
        "northern", "of", "port", "south", "southern", "upper", "west",
    )
)  # fmt: skip


def split_region(place: str) -> tuple[str, str]:
    """Return the town and what says which one; the second is empty where nothing does.

    A region is what stands after a comma, or a known one at the end of the name.

    >>> split_region("Portland, OR"), split_region("Paris Texas"), split_region("New Mexico")
    (('Portland', 'OR'), ('Paris', 'Texas'), ('New Mexico', ''))
    """
    town, comma, region = place.partition(",")
    if comma:
        return town.strip(), region.strip()
    words = place.split()
    for length in (3, 2, 1):
        region = " ".join(words[-length:])
        before = words[:-length]
        if before and before[-1].casefold() not in _PARTS_OF_NAMES and is_region(region):
            return " ".join(before), region
    return place, ""


def is_region(text: str) -> bool:
    """Tell whether ``text`` is a known country or state; two letters have to be in capitals.

    >>> is_region("D.C."), is_region("oregon"), is_region("OR"), is_region("or")
    (True, True, True, False)
    """
    plain = text.replace(".", "")
    if len(plain) == 2 and not plain.isupper():  # "in" and "or" are words
        return False
    return plain.casefold() in COUNTRIES or plain.casefold() in STATES

"""A service on the loopback interface that answers as Open-Meteo and Finnhub document it, errors and delays too."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

KEY = "test-key-of-the-loopback"

PLACES = [
    # as the geocoding answers: empty fields are left out
    {"id": 1, "name": "Bergen", "latitude": 60.39, "longitude": 5.32, "country_code": "NO", "country": "Norway",
     "admin1": "Vestland", "timezone": "Europe/Oslo", "population": 213585},
    {"id": 2, "name": "Paris", "latitude": 48.85, "longitude": 2.35, "country_code": "FR", "country": "France",
     "admin1": "Île-de-France", "timezone": "Europe/Paris"},
    {"id": 3, "name": "Paris", "latitude": 33.66, "longitude": -95.56, "country_code": "US",
     "country": "United States", "admin1": "Texas", "admin2": "Lamar"},
    {"id": 12, "name": "Portland", "latitude": -38.34, "longitude": 141.6, "country_code": "AU",
     "country": "Australia", "admin1": "Oregon"},
    {"id": 13, "name": "Washington", "latitude": 37.13, "longitude": -113.51, "country_code": "US",
     "country": "United States", "admin1": "Utah"},
    {"id": 14, "name": "Perth", "latitude": 56.4, "longitude": -3.43, "country_code": "GB",
     "country": "United Kingdom", "admin1": "Scotland"},
    {"id": 15, "name": "Perth", "latitude": -31.95, "longitude": 115.86, "country_code": "AU",
     "country": "Australia", "admin1": "Western Australia"},
    {"id": 4, "name": "Portland", "latitude": 45.52, "longitude": -122.68, "country_code": "US",
     "country": "United States", "admin1": "Oregon", "admin2": "Multnomah"},
    {"id": 5, "name": "Portland", "latitude": 43.66, "longitude": -70.26, "country_code": "US",
     "country": "United States", "admin1": "Maine"},
    {"id": 6, "name": "New York", "latitude": 40.71, "longitude": -74.01, "country_code": "US",
     "country": "United States", "admin1": "New York"},
    {"id": 7, "name": "Beverly Hills", "latitude": 34.09, "longitude": -118.41, "country_code": "US",
     "country": "United States", "admin1": "California", "postcodes": ["90210"]},
    {"id": 8, "name": "Washington", "latitude": 38.9, "longitude": -77.04, "country_code": "US",
     "country": "United States", "admin1": "District of Columbia"},
    {"id": 9, "name": "Québec", "latitude": 46.81, "longitude": -71.21, "country_code": "CA", "country": "Canada",
     "admin1": "Quebec"},
    {"id": 10, "name": "Singapore", "latitude": 1.29, "longitude": 103.85, "country_code": "SG",
     "country": "Singapore"},
    {"id": 11, "name": "Lago Texas", "latitude": 1.0, "longitude": 2.0, "country_code": "CO"},
]  # fmt: skip

QUOTES = {
    "AAPL": {
        "c": 189.5,
        "d": 2.25,
        "dp": 1.2014,
        "h": 190.1,
        "l": 187,
        "o": 187.2,
        "pc": 187.25,
        "t": 1767268800,
    },
    "MSFT": {"c": 420, "d": -2.1, "dp": -0.4975, "h": 424, "l": 419, "o": 423, "pc": 422.1, "t": 1767268800},
    "BRK.B": {"c": 455.126, "d": 0, "dp": 0, "h": 456, "l": 450, "o": 455, "pc": 455.126, "t": 1767268800},
    "NVDA": {"c": 0.12345, "d": 0.00001, "dp": 0.004, "h": 1, "l": 0.1, "o": 0.1, "pc": 0.12344, "t": 0},
}
UNKNOWN = {"c": 0, "d": None, "dp": None, "h": 0, "l": 0, "o": 0, "pc": 0, "t": 0}


@dataclass
class Reply:
    """One scripted answer: ``delay`` seconds late; a status of 0 hangs up without an answer."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0


@dataclass
class Asked:
    """One request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Loopback:
    """The service; ``script(path, *replies)`` puts answers before the documented ones."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.at_once = self.most_at_once = 0
        self.delay = 0.0
        self._scripted: dict[str, deque[Reply]] = defaultdict(deque)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that point WEATHER and STOCK_PRICES here."""
        return {
            "WEATHER_BASE_URL": f"{self.url}/v1",
            "WEATHER_GEOCODING_URL": f"{self.url}/geo/v1",
            "STOCK_BASE_URL": f"{self.url}/api/v1",
        }

    def script(self, path: str, *replies: Reply) -> None:
        self._scripted[path].extend(replies)

    def queries(self, path: str) -> list[dict[str, str]]:
        return [asked.query for asked in self.asked if asked.path == path]

    def answer(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            if self._scripted[asked.path]:
                return self._scripted[asked.path].popleft()
        routes = {"/geo/v1/search": search, "/v1/forecast": forecast, "/api/v1/quote": quote, "/echo": echo}
        if asked.path not in routes:
            return Reply(404, {"error": "there is nothing here"})
        return routes[asked.path](asked)

    def _handler(service: Loopback) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                with service._lock:
                    service.connections += 1

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with service._lock:
                    service.at_once += 1
                    service.most_at_once = max(service.most_at_once, service.at_once)
                asked = Asked(
                    self.command,
                    parts.path,
                    dict(parse_qsl(parts.query, keep_blank_values=True)),
                    headers,
                    body,
                )
                reply = service.answer(asked)
                time.sleep(reply.delay or service.delay)
                with service._lock:
                    service.at_once -= 1
                if reply.status == 0:
                    self.close_connection = True
                    return
                sent = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(sent)))
                    self.end_headers()
                    self.wfile.write(sent)
                except OSError:  # the client did not wait
                    self.close_connection = True

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def search(asked: Asked) -> Reply:
    """Answer as the geocoding does: by the name alone, with no ``results`` where there are none."""
    name, code = asked.query["name"].casefold(), asked.query.get("countryCode")
    found = [
        {key: value for key, value in place.items() if key != "postcodes"}
        for place in PLACES
        if (place["name"].casefold().replace("é", "e") == name or name in place.get("postcodes", ()))
        and code in {None, place["country_code"]}
    ][: int(asked.query["count"])]
    return Reply(body={**({"results": found} if found and len(name) > 1 else {}), "generationtime_ms": 0.5})


def forecast(asked: Asked) -> Reply:
    """Answer as the forecast does, with the units asked for."""
    query = asked.query
    if not -90 <= float(query["latitude"]) <= 90:
        reason = f"Latitude must be in range of -90 to 90°. Given: {query['latitude']}."
        return Reply(400, {"error": True, "reason": reason})
    imperial = query.get("temperature_unit") == "fahrenheit"
    days = int(query.get("forecast_days", 0))
    answer: dict[str, Any] = {
        "latitude": float(query["latitude"]),
        "longitude": float(query["longitude"]),
        "generationtime_ms": 0.1,
        "utc_offset_seconds": 3600,
        "timezone": "Europe/Oslo",
        "timezone_abbreviation": "GMT+1",
        "elevation": 12,
        "current_units": {
            "time": "iso8601",
            "temperature_2m": "°F" if imperial else "°C",
            "weather_code": "wmo code",
        },
        "current": {
            "time": "2026-01-01T12:00",
            "interval": 900,
            "temperature_2m": 46.6 if imperial else 8.1,
            "apparent_temperature": 40.2 if imperial else 4.6,
            "relative_humidity_2m": 90,
            "weather_code": 61,
            "wind_speed_10m": 11.2 if imperial else 18,
        },
    }
    if "daily" in query:
        answer["daily"] = {
            "time": [f"2026-01-{day:02}" for day in range(1, days + 1)],
            "weather_code": [61, 3, 71, 0, 0, 0, 0][:days],
            "temperature_2m_max": [9.4, 6.5, -0.2, 1, 1, 1, None][:days],
            "temperature_2m_min": [5.2, 2.9, -4.8, 0, 0, 0, None][:days],
            "precipitation_probability_max": [80, 10, None, 0, 0, 0, None][:days],
        }
    return Reply(body=answer)


def quote(asked: Asked) -> Reply:
    """Answer as Finnhub's quote does: a wrong key is 401, an unknown symbol is zeros and nulls."""
    if asked.headers.get("x-finnhub-token") != KEY:
        return Reply(401, {"error": "Invalid API key"})
    return Reply(body=QUOTES.get(asked.query["symbol"], UNKNOWN))


def echo(asked: Asked) -> Reply:
    """Answer with the request."""
    return Reply(
        body={
            "method": asked.method,
            "query": asked.query,
            "token": asked.headers.get("x-token"),
            "body": json.loads(asked.body) if asked.body else None,
        }
    )

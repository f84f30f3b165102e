"""What is printed and logged while something runs: overheard, passed on with its secrets masked."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["overheard"]

_STREAMS = ("stdout", "stderr")


class _Hearing(NamedTuple):
    """One who listens: what it has heard, by where it was written, and what hides its secrets."""

    heard: dict[str, list[str]]
    mask: Callable[[str], str]


# Streams and loggers belong to the process, so all who listen at the same time share what stands in front of
# them: each hears everything, and the last to leave takes it away.
_lock = threading.Lock()
_hearings: list[_Hearing] = []
_kept_back: dict[str, tuple[int, bool]] = {}  # logger -> how many keep its records back, and if it propagated


@contextmanager
def overheard(mask: Callable[[str], str], *, own: logging.Logger) -> Iterator[dict[str, list[str]]]:
    """Yield what is written to stdout, to stderr and to any logger meanwhile, by where it was written.

    Records of ``own`` go no further; those of all other loggers reach their handlers as ever, which are not
    ours to change. Several may listen at once, in any thread, and leave in any order; streams and loggers
    are as they were when the last has left.
    """
    hearing = _Hearing({"stdout": [], "stderr": [], "logs": []}, mask)
    handler = _Listener(hearing.heard["logs"])
    listened = (logging.getLogger(), own)
    with _lock:
        _hearings.append(hearing)
        for name in _STREAMS:
            stream = getattr(sys, name)
            if not isinstance(stream, _Ear):
                setattr(sys, name, _Ear(stream, name))
        many, propagated = _kept_back.get(own.name, (0, own.propagate))
        _kept_back[own.name] = many + 1, propagated
        own.propagate = False
        for logger in listened:
            logger.addHandler(handler)
    try:
        yield hearing.heard
    finally:
        with _lock:
            for logger in listened:
                logger.removeHandler(handler)
            many, propagated = _kept_back.pop(own.name)
            if many > 1:
                _kept_back[own.name] = many - 1, propagated
            else:
                own.propagate = propagated
            _hearings[:] = [other for other in _hearings if other is not hearing]
            if not _hearings:
                for name in _STREAMS:
                    stream = getattr(sys, name)
                    if isinstance(stream, _Ear):  # else somebody has put another in its place
                        setattr(sys, name, stream.behind)


def _heard(name: str, text: str) -> str:
    """Tell all who listen what was written to the stream ``name``; return it with no secret of theirs in it."""
    hearings = tuple(_hearings)
    for hearing in hearings:
        hearing.heard[name].append(text)
    for hearing in hearings:
        text = hearing.mask(text)
    return text


class _Ear:
    """A stream in front of ``behind``, to which what is written goes on masked."""

    def __init__(self, behind: Any, name: str) -> None:
        self.behind = behind
        self._name = name

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        masked = _heard(self._name, text)
        if self.behind is not None:  # there is none without a console
            self.behind.write(masked)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        return _BytesEar(self.behind.buffer, self._name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


class _BytesEar:
    """The binary stream under an `_Ear`."""

    def __init__(self, behind: Any, name: str) -> None:
        self._behind = behind
        self._name = name

    def write(self, data: Any) -> int:
        held = bytes(data)
        text = held.decode("utf-8", "surrogateescape")
        masked = _heard(self._name, text)
        self._behind.write(held if masked == text else masked.encode("utf-8", "surrogateescape"))
        return len(held)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


class _Listener(logging.Handler):
    def __init__(self, heard: list[str]) -> None:
        super().__init__()
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._heard.append(self.format(record))
        except Exception:  # noqa: BLE001  a record that cannot be written, whoever made it
            self._heard.append(str(record.msg))

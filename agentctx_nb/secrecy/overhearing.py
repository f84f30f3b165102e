"""What is printed and logged while something runs: overheard, passed on with its secrets masked."""

from __future__ import annotations

import logging
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["overheard"]


@contextmanager
def overheard(mask: Callable[[str], str], *, own: logging.Logger) -> Iterator[dict[str, list[str]]]:
    """Yield what is written to stdout, to stderr and to any logger meanwhile, by where it was written.

    Records of ``own`` go no further; those of all other loggers reach their handlers as ever, which are not
    ours to change. Streams and loggers are as they were afterwards.
    """
    import sys

    heard: dict[str, list[str]] = {"stdout": [], "stderr": [], "logs": []}
    handler = _Listener(heard["logs"])
    listened, propagated = (logging.getLogger(), own), own.propagate
    for logger in listened:
        logger.addHandler(handler)
    own.propagate = False
    try:
        with (
            redirect_stdout(_Ear(sys.stdout, heard["stdout"], mask)),
            redirect_stderr(_Ear(sys.stderr, heard["stderr"], mask)),
        ):
            yield heard
    finally:
        own.propagate = propagated
        for logger in listened:
            logger.removeHandler(handler)


class _Ear:
    """A stream that keeps what is written to it and writes it, masked, to another."""

    def __init__(self, stream: Any, heard: list[str], mask: Callable[[str], str]) -> None:
        self._stream = stream
        self._heard = heard
        self._mask = mask

    def write(self, text: str) -> int:
        self._heard.append(text)
        if self._stream is not None:  # there is none without a console
            self._stream.write(self._mask(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Listener(logging.Handler):
    def __init__(self, heard: list[str]) -> None:
        super().__init__()
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._heard.append(self.format(record))
        except Exception:  # noqa: BLE001  a record that cannot be written, whoever made it
            self._heard.append(str(record.msg))

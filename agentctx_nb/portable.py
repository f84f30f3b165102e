"""Exceptions as they can be put into a pickle."""

from __future__ import annotations

from typing import Any

from agentctx_nb.errors import AgentCtxError, describe

__all__ = ["portable_error"]


def portable_error(error: Exception) -> Exception | _Rebuilt:
    """Return what a pickle can hold of ``error``: itself, its parts, or a sentence where it cannot be read back.

    Many exceptions can be written to a pickle and not be read from it, since their ``__init__`` wants
    other arguments than those they keep. Tracebacks stay behind in any case.
    """
    import pickle

    said = describe(error)
    for kept in (error, _Rebuilt(error)):
        try:
            read = pickle.loads(pickle.dumps(kept))  # noqa: S301  written just here
            if type(read) is type(error) and describe(read) == said:
                return kept
        except Exception:  # noqa: BLE001, S112  whatever it raises, the other way may work
            continue
    return AgentCtxError(said)


class _Rebuilt:
    """Stands for an exception in a pickle, which reads it back without its ``__init__``."""

    __slots__ = ("_error",)

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __reduce__(self) -> tuple[Any, ...]:
        error = self._error
        return _rebuild, (type(error), error.args, error.__dict__)


def _rebuild(kind: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error

"""A ``.env`` file as a layer of settings, read by python-dotenv; the process environment is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, MissingExtraError
from agentctx_nb.names import shown

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["read_env_file"]


def read_env_file(path: str | PathLike[str]) -> dict[str, str]:
    """Return the names and values in the file at ``path``; of a name given twice the last counts.

    Values stand as written: ``${NAME}`` is not filled in, since it would read the process environment,
    which nobody asked for, and cut a password that holds a ``$``.

    Raises
    ------
    DefinitionError
        There is no such file, it is no text, or a line of it cannot be read.
    MissingExtraError
        python-dotenv is not installed.
    """
    if not isinstance(path, str) and not hasattr(path, "__fspath__"):
        raise DefinitionTypeError(f"env_file is the path of a file such as '.env', not {shown(path)}")
    try:
        from dotenv.parser import parse_stream
    except ImportError as exc:
        raise MissingExtraError("python-dotenv", extra="dotenv", purpose="env_file") from exc
    found: dict[str, str] = {}
    try:
        # Windows editors put a mark before the first name, which "-sig" reads past.
        stream = Path(path).open(encoding="utf-8-sig")  # noqa: SIM115  closed by the `with` below
    except OSError as exc:
        raise _unreadable(path, exc.strerror or type(exc).__name__) from None
    except (TypeError, ValueError):  # a path of bytes, or with a null character in it
        raise _unreadable(path, "that is no path") from None
    try:
        with stream:
            for binding in parse_stream(stream):
                if binding.error or (binding.key is not None and binding.value is None):
                    # The line itself is not shown: it may be a secret in quotes that do not match.
                    line = binding.original.line
                    raise DefinitionError(f"line {line} of env_file {str(path)!r} is not written NAME=value")
                if binding.key is not None and binding.value is not None:
                    found[binding.key] = binding.value
    except OSError as exc:
        raise _unreadable(path, exc.strerror or type(exc).__name__) from None
    except UnicodeDecodeError:
        raise DefinitionError(f"env_file {str(path)!r} is no text in UTF-8") from None
    return found


def _unreadable(path: str | PathLike[str], why: str) -> DefinitionError:
    return DefinitionError(f"env_file {str(path)!r} cannot be read: {why}; leave it out or name one")

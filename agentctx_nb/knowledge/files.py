"""Which files stand under a path, in a steady order, and which of them are left out."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, did_you_mean
from agentctx_nb.knowledge.readers import is_known, suffix_of
from agentctx_nb.names import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Found", "find", "is_gone", "matches", "resolve", "storable"]

_LEFT_OUT = {"__pycache__", "node_modules", "site-packages", "venv"}
_TELLTALES = ("pyvenv.cfg", "conda-meta", "CACHEDIR.TAG")  # an environment or a cache, whatever its name


class NothingThereError(DefinitionError):
    """There is no file or folder at ``place``, the path it would really have."""

    def __init__(self, message: str, place: Path) -> None:
        super().__init__(message)
        self.place = place


@dataclass(slots=True)
class Found:
    """The files to read by their place under the root, and what was passed over.

    Parameters
    ----------
    root
        The folder; of a single file the one it stands in.
    files
        Paths by `source`: relative to the root, with ``/`` between folders.
    refused
        Folders that cannot be listed, with the reason.
    links
        How many links were not followed.
    others
        How many files of each further kind there are.
    """

    root: Path
    files: dict[str, Path] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    links: int = 0
    others: Counter[str] = field(default_factory=Counter)


def resolve(path: str | os.PathLike[str]) -> Path:
    """Return the real path of a file or folder that is there.

    Raises
    ------
    DefinitionError
        It is neither; where nothing is there, a `NothingThereError`.
    """
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise DefinitionTypeError(f"learn takes the path of a file or folder, not {shown(path)}")
    if not os.fspath(path).strip():
        raise DefinitionError("learn needs the path of a file or folder")
    given = Path(path)
    try:
        given = given.expanduser()
        real = given.resolve(strict=True)
    except FileNotFoundError:
        near = _beside(given)
        said = f"there is no file or folder {str(given)!r}{did_you_mean(given.name, near)}"
        raise NothingThereError(said, given.resolve()) from None
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL, no permission
        raise DefinitionError(f"{str(given)!r} cannot be opened: {_reason(error)}") from None
    if not real.is_dir() and not real.is_file():
        raise DefinitionError(f"{str(given)!r} is neither a file nor a folder")
    return real


def find(path: Path, *, pattern: str | None = None) -> Found:
    """Return the files to read under ``path``, a real path, sorted by their names.

    Links are not followed, so that a loop or a link out of the folder brings nothing in; hidden folders,
    caches, builds and virtual environments are left out. ``pattern`` chooses files of any kind; without it
    those of kinds there is a reader for.
    """
    if path.is_file():
        return Found(path.parent, {storable(path.name): path})
    found = Found(path)
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            found.refused[_source(folder, path) + "/"] = _reason(error)
            continue
        folders = []
        for entry in entries:
            place = Path(entry.path)
            source = _source(place, path)
            if entry.is_symlink():
                found.links += not entry.name.startswith(".")
            elif entry.is_dir(follow_symlinks=False):
                if not _is_left_out(place):
                    folders.append(place)
            elif entry.is_file(follow_symlinks=False) and not entry.name.startswith("."):
                if matches(source, pattern) if pattern is not None else is_known(entry.name):
                    found.files[source] = place
                else:
                    found.others[suffix_of(entry.name) or "no suffix"] += 1
        waiting += reversed(folders)
    found.files = dict(sorted(found.files.items()))
    return found


def matches(source: str, pattern: str) -> bool:
    """Whether a place under the root fits a pattern; one without ``/`` is about the name alone.

    >>> matches("guide/a.md", "*.md"), matches("a.md", "**/*.md"), matches("guide/a.md", "guide/*.txt")
    (True, True, False)
    """
    wanted = pattern.strip("/").split("/")
    parts = source.split("/")
    return fnmatchcase(parts[-1], wanted[0]) if len(wanted) == 1 else _fits(parts, wanted)


def _fits(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Compare folder by folder; ``**`` stands for any number of them."""
    reached = {0}  # how many of the parts the patterns so far can have taken
    for part in wanted:
        if part == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], part)}
    return len(parts) in reached


def is_gone(path: Path) -> bool:
    """Whether a file is certainly not there; one that cannot be looked at may be."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def storable(name: str) -> str:
    r"""Return a file's name as text any store takes: bytes that are no UTF-8 as ``\xff``.

    >>> storable("caf\udce9.txt")
    'caf\\xe9.txt'
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _source(place: Path, root: Path) -> str:
    return storable(place.relative_to(root).as_posix())


def _is_left_out(folder: Path) -> bool:
    name = folder.name.lower()
    if name.startswith(".") or name in _LEFT_OUT or name.endswith(".egg-info"):
        return True
    return any(os.path.lexists(folder / telltale) for telltale in _TELLTALES)


def _beside(path: Path) -> list[str]:
    try:
        return sorted([entry.name for entry in path.parent.iterdir()])[:1000]
    except (OSError, ValueError):
        return []


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).lower()

"""``[tool.agentctx_nb]`` in the ``pyproject.toml`` of the project: the settings of `AgentContext` for all its notebooks."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets import TraitError

from agentctx_nb.errors import did_you_mean
from agentctx_nb.names import shown
from agentctx_nb.notebook.mistakes import SettingsError
from agentctx_nb.notebook.settings import AgentContext, bounds_of, setting_names

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["apply_project_file", "find_section", "settings_of"]

NAME = "pyproject.toml"
SECTION = "agentctx_nb"
_LARGEST = 1_000_000  # bytes
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")  # an editor may have saved it in one that TOML has not


def settings_of(shell: InteractiveShell) -> AgentContext:
    """Return the settings of a shell: those of its profile, the project's file over them."""
    try:
        settings = AgentContext(parent=shell)
    except TraitError as error:
        raise SettingsError(f"the profile of IPython sets AgentContext: {error}") from None
    apply_project_file(settings)
    return settings


def apply_project_file(settings: AgentContext, start: Path | None = None) -> None:
    """Set what the nearest section from ``start`` (the working directory) upwards says.

    Raises
    ------
    SettingsError
        The file cannot be read as TOML or is too large, a key is unknown, or a value is out of bounds; ``settings`` is as before.
    """
    try:
        found = find_section(Path.cwd() if start is None else start)
    except FileNotFoundError:  # the working directory itself is gone
        found = None
    if found is None:
        return
    path, section = found
    shown_path = _shown_path(path)
    known = setting_names()
    before = {key: getattr(settings, key) for key in known}
    try:
        for key, value in section.items():
            if key not in known:
                near = did_you_mean(key, known) or f"; there are {', '.join(known)}"
                raise SettingsError(f"{shown_path}: [tool.{SECTION}] has no key {key!r}{near}")
            _set(settings, key, value, shown_path)
    except SettingsError:
        for key, value in before.items():
            setattr(settings, key, value)
        raise


def find_section(start: Path) -> tuple[Path, dict[str, Any]] | None:
    """Return the nearest ``pyproject.toml`` with our section, and the section; None where there is none.

    The search ends above the directory that holds ``.git``, the top of a project.
    """
    for folder in (start, *start.parents):
        path = folder / NAME
        section = _section(path)
        if section is not None:
            return path, section
        if (folder / ".git").exists():
            return None
    return None


def _section(path: Path) -> dict[str, Any] | None:
    written = _read(path)
    if not any(SECTION.encode(encoding) in written for encoding in _ENCODINGS):
        return None  # most files: not worth parsing, nor ours to complain of
    try:
        tool = tomllib.loads(written.decode("utf-8-sig").replace("\r\n", "\n")).get("tool", {})
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{_shown_path(path)} cannot be read as TOML: {_why(error)}") from None
    section = tool.get(SECTION) if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise SettingsError(f"{_shown_path(path)}: tool.{SECTION} is a table, not {shown(section)}")
    return section


def _read(path: Path) -> bytes:
    """Return what is in the file, and nothing where there is none: a pipe would be waited for."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            written = file.read(_LARGEST + 1)
    except OSError:
        return b""
    if len(written) > _LARGEST:
        raise SettingsError(f"{_shown_path(path)} is larger than 1 MB, and was not read for settings")
    return written


def _why(error: Exception) -> str:
    if isinstance(error, tomllib.TOMLDecodeError):
        return str(error)
    if isinstance(error, RecursionError):
        return "its brackets are nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not written in UTF-8 (byte {error.start:,})"
    return "a number in it has too many digits"


def _set(settings: AgentContext, key: str, value: Any, shown_path: str) -> None:
    try:
        setattr(settings, key, value)
    except TraitError as error:
        sentence = str(error)
        if key != "presets" or not sentence.startswith(("preset ", "option ", "the name of a preset")):
            sentence = f"{key} is {bounds_of(key)}, not {shown(value)}"
        raise SettingsError(f"{shown_path}: {sentence}") from None


def _shown_path(path: Path) -> str:
    """Return the path as seen from the working directory: the same on every machine."""
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:  # another drive
        return path.name

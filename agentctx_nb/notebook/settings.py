"""How the magics behave: the traits of ``%config AgentContext``, and the keys of ``[tool.agentctx_nb]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Float, Int, TraitError, Unicode, validate
from traitlets.config import Configurable

from agentctx_nb.errors import did_you_mean
from agentctx_nb.names import shown
from agentctx_nb.notebook.commands import COMPOSE
from agentctx_nb.notebook.mistakes import ArgumentError
from agentctx_nb.render.bounds import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["NOT_IN_PRESETS", "AgentContext", "bounds_of", "checked_preset", "setting_names"]

NOT_IN_PRESETS = ("preset", "save", "out", "message")
"""Options of ``%compose`` that say nothing about how to compose."""


class Seconds(Float[Any, Any]):
    """A number that is not ``True``, which a float would take for one second."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Refuse what is no number of seconds."""
        if isinstance(value, bool):
            raise TraitError(_sentence("timeout", value))
        seconds = super().validate(obj, value)
        if not 0 < seconds <= 3600:
            raise TraitError(_sentence("timeout", value))
        return seconds


class AgentContext(Configurable):
    """Defaults of the magics in one shell; each trait's ``bounds`` say in words what it may be."""

    rows = Int(
        LIMITS.rows,
        min=1,
        max=LIMITS.rows,
        help=f"Most rows of a table that a cell shows: 1 to {LIMITS.rows}.",
    ).tag(config=True, bounds=f"a whole number from 1 to {LIMITS.rows}")
    cell = Int(
        LIMITS.cell,
        min=10,
        max=LIMITS.cell,
        help=f"Most characters in one field of a table: 10 to {LIMITS.cell}.",
    ).tag(config=True, bounds=f"a whole number from 10 to {LIMITS.cell}")
    text = Bool(
        True,  # traitlets takes its defaults by place
        help="Whether a state that is shown ends with the composed text.",
    ).tag(config=True, bounds="true or false")
    timeout = Seconds(
        None,
        allow_none=True,
        help="Seconds for a whole %compose that names no --timeout; more than 0 and up to 3600, or None.",
    ).tag(config=True, bounds="a number of seconds, more than 0 and up to 3600")
    strict = Bool(
        False,
        help="Whether %compose and %act raise what fails, as with --strict.",
    ).tag(config=True, bounds="true or false")
    room = Unicode(
        None,
        allow_none=True,
        help="The room_id of messages that name none; a text of up to 200 characters, or None.",
    ).tag(config=True, bounds="a text of up to 200 characters")
    entity = Unicode(
        None,
        allow_none=True,
        help="The entity_id of messages that name none; a text of up to 200 characters, or None.",
    ).tag(config=True, bounds="a text of up to 200 characters")
    presets = Dict(
        help='Options of %compose under a name for --preset, as {"quick": {"include": ["A"], "only": True}}.',
    ).tag(config=True, bounds="a table of presets, each a table of options of %compose")

    mask: Callable[[str], str] = str
    """What a mistake of ``%config`` is shown through; the shell's own, once it is there."""

    def update_config(self, config: Any) -> None:
        """Take what ``%config`` sets; a mistake is said in one line and changes nothing.

        IPython would log the error, with a handler for all logs from then on, and warn of an unknown name.
        """
        known = setting_names()
        asked = dict(config.get(type(self).__name__, {}))
        unknown = [key for key in asked if key not in known]
        if unknown:
            near = did_you_mean(unknown[0], known) or f"; there are {', '.join(known)}"
            self._refuse(config, f"there is no setting {shown(unknown[0])}{near}")
            return
        before = {key: getattr(self, key) for key in asked}
        try:
            super().update_config(config)
        except TraitError as error:
            for key, value in before.items():
                setattr(self, key, value)
            (key, value), *_ = asked.items()
            said = str(error)
            is_theirs = key != "presets" or said.startswith("The ")  # what traitlets says of a type
            self._refuse(config, _sentence(key, value) if is_theirs else said)

    def _refuse(self, config: Any, sentence: str) -> None:
        config.pop(type(self).__name__)  # or the shell, which is asked next, would keep it for a reload
        sys.stderr.write(self.mask(f"AgentContext: {sentence}") + "\n")

    @validate("rows", "cell")
    def _whole(self, proposal: Any) -> int:
        if isinstance(proposal.value, bool):
            raise TraitError(_sentence(proposal.trait.name, proposal.value))
        return int(proposal.value)

    @validate("room", "entity")
    def _short(self, proposal: Any) -> str | None:
        value: str | None = proposal.value
        if value is not None and len(value) > 200:
            raise TraitError(_sentence(proposal.trait.name, value))
        return value

    @validate("presets")
    def _checked_presets(self, proposal: Any) -> dict[str, dict[str, Any]]:
        try:
            return {name: checked_preset(name, options) for name, options in proposal.value.items()}
        except ArgumentError as error:
            raise TraitError(str(error)) from None


def setting_names() -> list[str]:
    """Return the names of all settings, sorted."""
    return sorted(AgentContext.class_traits(config=True))


def bounds_of(key: str) -> str:
    """Return what the setting ``key`` may be, in words."""
    return str(AgentContext.class_traits(config=True)[key].metadata["bounds"])


def _sentence(key: str, value: object) -> str:
    return f"{key} is {bounds_of(key)}, not {shown(value)}"


def checked_preset(name: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of one preset by key, each checked as on the line of ``%compose``."""
    if not isinstance(name, str) or not name or any(c.isspace() for c in name):
        raise ArgumentError(f"the name of a preset is a word, not {shown(name)}")
    if not isinstance(options, dict):
        raise ArgumentError(f"preset {name} is a table of options of %compose, not {shown(options)}")
    known = {option.key: option for option in COMPOSE.options if option.name not in NOT_IN_PRESETS}
    checked = {}
    for key, value in options.items():
        option = known.get(str(key).replace("-", "_"))
        if option is None:
            near = did_you_mean(str(key), known) or f"; there are {', '.join(known)}"
            raise ArgumentError(f"preset {name} cannot hold an option {shown(key)}{near}")
        try:
            checked[option.key] = option.given(value)
        except ArgumentError as error:
            raise ArgumentError(f"option {option.key} of preset {name}: {error}") from None
    if checked.get("only") and "include" not in checked:
        raise ArgumentError(f"preset {name} has only without include; name those to run in include")
    return checked

"""One ``%compose``: what it composes, how, and what becomes of the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from traitlets import TraitError

from agentctx_nb.errors import did_you_mean
from agentctx_nb.model import Content, Memory, as_message
from agentctx_nb.names import shown
from agentctx_nb.notebook.arguments import without_quotes
from agentctx_nb.notebook.mistakes import ArgumentError, nobody_yet
from agentctx_nb.notebook.reading import referred
from agentctx_nb.notebook.settings import checked_preset
from agentctx_nb.notebook.swallowed import swallowed
from agentctx_nb.runtime import AgentRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentctx_nb.notebook.arguments import Command
    from agentctx_nb.notebook.settings import AgentContext

__all__ = ["Request", "check_out", "read_request"]

RENAMED = {"include": "include_list", "only": "only_include", "fresh": "skip_cache"}
NOT_HOW = ("preset", "save", "out")
OF_THE_MESSAGE = ("room", "entity", "content", "message")


@dataclass(frozen=True, slots=True)
class Request:
    """A message and the options of `AgentRuntime.compose_state`; ``out`` names a variable for the state.

    ``note`` is what to say of the line, if anything.
    """

    message: Memory
    options: dict[str, Any] = field(default_factory=dict)
    out: str | None = None
    silent: bool = False
    note: str = ""


def read_request(
    command: Command,
    line: str,
    cell: str | None,
    *,
    variables: Mapping[str, Any],
    settings: AgentContext,
    providers: Callable[[], Iterable[str]] = tuple,
) -> Request:
    """Read the line of ``command``, or that of its cell magic with the message in ``cell``.

    What the line says wins over its preset, and that over the settings. ``providers`` gives the names there
    are, for what is said of a preset that is kept.
    """
    command = command.written(cell)
    line = line.rstrip()
    silent = line.endswith(";")
    given = command.message(line.removesuffix(";"), variables)
    if silent and ";" in given.message and without_quotes(given.message) == given.message:
        silent, given = False, command.message(line, variables)  # it has semicolons of its own: this is one
    if cell is not None and given.message:
        raise ArgumentError(
            f"the message of %%{command.name} is the cell below it; "
            f"write %{command.name} for a message on the line"
        )
    said = given.options
    options: dict[str, Any] = {"timeout": settings.timeout, "strict": settings.strict}
    if "preset" in said:
        options |= preset(said["preset"], settings)
    options |= {key: value for key, value in said.items() if key not in NOT_HOW}
    if options.get("only") and "include" not in options:
        raise ArgumentError("--only runs just those of --include; add --include A,B")
    check_out(said, variables)
    saved = save(said, settings, providers()) if "save" in said else ""
    spoken = given.message if cell is None else cell.removesuffix("\n")
    message = _message(command, spoken, options, variables, typed=cell is None)
    message = _addressed(message, options, settings)
    composing = {
        RENAMED.get(key, key): value
        for key, value in options.items()
        if key not in OF_THE_MESSAGE and value is not None
    }
    note = swallowed(command, line.removesuffix(";") if silent else line, given.message)
    note = note or _named(command, line, given.message, variables)
    note = "; ".join([told for told in (saved, note) if told])
    return Request(message, composing, said.get("out"), silent, "" if silent else note)


def check_out(said: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    """Raise `ArgumentError` where ``--out`` names the runtime, which would be gone."""
    name = said.get("out", "")
    if isinstance(variables.get(name), AgentRuntime):
        raise ArgumentError(f"--out {name} would take the place of the runtime; give another name")


def _named(command: Command, line: str, message: str, variables: Mapping[str, Any]) -> str:
    """Return what to say of a message that is the name of a text with a dollar before it, as typed."""
    name = referred(message)
    if name is None or not isinstance(variables.get(name), str) or line.split()[-2:-1] == ["--"]:
        return ""
    return (
        f"{message} is the message as it stands; the text in the variable is "
        f"{command.sign}{command.name} --message {message}"
    )


def preset(name: str, settings: AgentContext) -> dict[str, Any]:
    """Return the options kept under ``name``; `ArgumentError` for another name, or options that are none."""
    if name not in settings.presets:
        known = [kept for kept in settings.presets if isinstance(kept, str)]
        near = did_you_mean(name, known)
        there = f"; there {'is' if len(known) == 1 else 'are'} {', '.join(known)}"
        hint = (
            near or (there if known else "") or "; keep some in [tool.agentctx_nb.presets] of pyproject.toml"
        )
        raise ArgumentError(f"there is no preset {name!r}{hint}")
    return checked_preset(name, settings.presets[name])  # one that was put there is looked at only now


def save(said: Mapping[str, Any], settings: AgentContext, providers: Iterable[str]) -> str:
    """Keep the options of a line, and of the preset it named, as a preset of this shell; return what to say."""
    kept = preset(said["preset"], settings) if "preset" in said else {}
    kept |= {key: value for key, value in said.items() if key not in (*NOT_HOW, "message")}
    replaced = said["save"] in settings.presets
    try:
        settings.presets = {**settings.presets, said["save"]: kept}
    except TraitError as error:
        raise ArgumentError(f"--save NAME: {error}") from None
    done = f"{'replaced' if replaced else 'kept'} preset {said['save']}"
    if not kept:
        return f"{done}, which holds no options; write them on the line that saves it"
    wrong = nobody_yet(kept.get("include", ()), list(providers))
    return "; ".join([f"{done}: {', '.join([f'--{key}' for key in kept])}", *wrong])


def _message(
    command: Command, spoken: str, options: dict[str, Any], variables: Mapping[str, Any], *, typed: bool
) -> Memory:
    """Return the message: as spoken, unless it is all ``$name`` of a message or comes by ``--message``."""
    if "message" in options:
        if spoken:
            where = "behind it" if typed else "in the cell below it"
            raise ArgumentError(
                f"{command.sign}{command.name} has two messages, one in --message and one {where}"
            )
        return as_message(options["message"])
    if typed:
        held = variables.get(referred(spoken) or "")
        if isinstance(held, Memory) or (isinstance(held, Mapping) and "content" in held):
            return as_message(held)
        spoken = without_quotes(spoken)
    return Memory(Content(spoken))


def _addressed(message: Memory, options: dict[str, Any], settings: AgentContext) -> Memory:
    """Return the message with the room, the sender and the attributes that the options give it."""
    room, entity = options.get("room", message.room_id), options.get("entity", message.entity_id)
    room = settings.room if room is None else room
    entity = settings.entity if entity is None else entity
    more = options.get("content") or {}
    if not isinstance(more, Mapping) or not all(isinstance(key, str) for key in more):
        raise ArgumentError(
            f'--content JSON: it is an object such as {{"source": "mail"}}, not {shown(more)}'
        )
    if "text" in more:
        raise ArgumentError("--content JSON: the text of the message is the message itself")
    if not more and (room, entity) == (message.room_id, message.entity_id):
        return message
    content = Content(**{**message.content.to_dict(), **more})
    return replace(message, content=content, room_id=room, entity_id=entity)

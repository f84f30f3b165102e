"""What the magics for prompts and actions take, and the help they show."""

from __future__ import annotations

from agentctx_nb.notebook.arguments import Command, Option, as_names, as_object, as_text, as_variable
from agentctx_nb.notebook.commands import INCLUDE, ONLY, STRICT

__all__ = ["ACT", "ACTION", "ACTIONS", "PROMPT"]

PROMPT = Command(
    name="prompt",
    summary="Keep the cell as a prompt template, show it filled in, or list the prompts.",
    usage=(
        "%%prompt NAME [options]    the cell below is the template NAME, in Handlebars, as typed",
        "%prompt NAME [options]     show that prompt with the values filled in",
        "%prompt                    list the prompts",
    ),
    options=(
        Option(
            "message",
            "compose this and fill it in; unquoted, it runs to the end of the line",
            "TEXT",
            as_object,
        ),
        Option(
            "state",
            "fill in the state in this variable; the last composed one if not given",
            "VAR",
            as_object,
        ),
        Option("extra", "variables to fill in beside the state, under their own names", "a,b", as_names),
        Option("missing", "what a name nobody wrote becomes: empty, error or keep", "POLICY", as_text),
    ),
    offers="prompt",
    examples=(
        "%%prompt REPLY --message will it rain?\n{{providers}}\n\nAnswer {{#if formal}}formally{{else}}warmly{{/if}}.",
        "%prompt REPLY --state state --extra question",
    ),
)

ACTION = Command(
    name="action",
    summary="Make the cell an action, or show one.",
    usage=(
        "%%action NAME [options]    the cell below is the action NAME, in place of an older one",
        "%action NAME               show that action and its source",
    ),
    options=(Option("description", 'what it does, in quotes: "two words"', "TEXT", as_text),),
    offers="action",
    examples=(
        (
            '%%action SEND_REMINDER\n"""Say when it will ring."""\n'
            'zone = state.data.providers.USER_PREFERENCES.data.preferences.timezone or "UTC"\n'
            'return {"success": True, "text": f"at nine, {zone}"}'
        ),
        (
            "%%action SEND_REMINDER\nasync def validate(runtime, message):\n"
            '    return "remind" in message.content.text\n\n'
            'async def handler(runtime, message, state):\n    return "done"'
        ),
    ),
)


ACT = Command(
    name="act",
    summary="Run an action on a message, with the state composed for it.",
    usage=("%act [options] NAME message    all behind the name is the message, as typed",),
    options=(
        INCLUDE,
        ONLY,
        Option("state", "run it on the state in this variable instead", "VAR", as_object),
        STRICT,
        Option("out", "keep the result in this variable and show nothing", "NAME", as_variable, short="o"),
        Option("room", "room_id of the message", "R", as_text),
        Option("entity", "entity_id of the message", "E", as_text),
    ),
    offers="action",
    spoken=True,
    examples=("%act SEND_REMINDER Call Ada at nine", "%act --state state SEND_REMINDER Call Ada at nine"),
)

ACTIONS = Command(
    name="actions",
    summary="List the actions in the order of their first registration.",
    usage=("%actions",),
    options=(),
    examples=("%actions",),
)

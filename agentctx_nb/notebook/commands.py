"""What each magic takes, and the help it shows."""

from __future__ import annotations

from agentctx_nb.notebook.arguments import (
    Command,
    Option,
    as_json,
    as_names,
    as_number,
    as_object,
    as_text,
    as_variable,
)

__all__ = [
    "COMPOSE",
    "INCLUDE",
    "LEARN",
    "LOOK",
    "ONLY",
    "PIN",
    "PROVIDER",
    "PROVIDERS",
    "REMEMBER",
    "STRICT",
]

PROVIDER = Command(
    name="provider",
    summary="Make the cell a provider, or show one.",
    usage=(
        "%%provider NAME [options]    the cell below is the provider NAME, in place of an older one",
        "%provider NAME [options]     show that provider, its source and its last outcome",
    ),
    options=(
        Option("dynamic", "run only when named or woken by a keyword"),
        Option("keywords", "what in a message wakes it, between commas", "a,b", as_names),
        Option("position", "place in the text, lowest first; 0 if not given", "N", as_number),
        Option("private", "leave it out of lists; only its name runs it"),
        Option("always-run", "run it whatever the lists say"),
        Option("description", 'what it tells, in quotes: "two words"', "TEXT", as_text),
        Option("timeout", "seconds after which it is cancelled", "S", as_number),
        Option("ttl", "seconds for which a good result is used again", "S", as_number),
        Option("after", "providers whose results it needs in state", "X,Y", as_names, offers="provider"),
    ),
    offers="provider",
    sign="%%",
    examples=(
        '%%provider WEATHER --dynamic --keywords rain,forecast\n"""What the weather does."""\n"Rain until noon."',
        (
            "%%provider GREETING\n#| position: -10\nasync def get(runtime, message, state):\n"
            '    return {"text": f"They said: {message.content.text}", "values": {"greeted": True}}'
        ),
    ),
)

LOOK = Command(
    name="provider",
    summary="Show a provider.",
    usage=("%provider NAME [options]",),
    options=(
        Option("history", "list its earlier versions"),
        Option("rollback", "put its version N back in place, as a new version", "N", as_number),
        Option("remove", "take it out; --rollback puts it back"),
    ),
    offers="provider",
    examples=("%provider WEATHER", "%provider WEATHER --rollback 2"),
)

INCLUDE = Option(
    "include", "run these too, dynamic and private ones as well", "A,B", as_names, offers="provider"
)
ONLY = Option("only", "run just those of --include")
STRICT = Option("strict", "raise what fails instead of showing it")

_COMPOSING = (
    INCLUDE,
    ONLY,
    Option(
        "preset", "the options kept under this name; those on the line win", "NAME", as_text, offers="preset"
    ),
    Option("timeout", "seconds for the whole composition", "S", as_number),
    Option("fresh", "use no kept result"),
    Option("room", "room_id of the message", "R", as_text),
    Option("entity", "entity_id of the message", "E", as_text),
    Option("content", "more attributes of its content, such as source", "JSON", as_json),
    Option("message", "the message, where it is in a variable: $text", "$NAME", as_object),
)

COMPOSE = Command(
    name="compose",
    summary="Run the providers a message calls for and show what the prompt would hold.",
    usage=(
        "%compose [options] message    all behind the options is the message, as typed",
        "%compose [options] message;   the same, showing nothing; one with more semicolons is just a message",
        "%%compose [options]           the cell below is the message",
    ),
    options=(
        *_COMPOSING,
        Option("out", "keep the state in this variable and show nothing", "NAME", as_variable, short="o"),
        Option("save", "keep the options of this line under this name, for --preset", "NAME", as_text),
        STRICT,
    ),
    spoken=True,
    examples=(
        "%compose will it rain tomorrow?",
        "state = %compose --include WEATHER,NEWS --only what's up with $AAPL?",
        "%compose --message $text -o state",
    ),
)

PIN = Command(
    name="pin",
    summary="Compose a message now, and after each cell that changes a provider, to see what changed.",
    usage=(
        "%pin [options] message    pin this message in place of another",
        "%pin                      show the pinned message and what it composes",
        "%pin --off                end it",
    ),
    options=(*_COMPOSING, Option("off", "pin nothing any more")),
    spoken=True,
    examples=("%pin will it rain tomorrow?", "%pin --include NEWS what happened?", "%pin --off"),
)

PROVIDERS = Command(
    name="providers",
    summary="List the providers in the order of their texts.",
    usage=("%providers [options]",),
    options=(Option("all", "private ones too"),),
    examples=("%providers", "%providers --all"),
)

LEARN = Command(
    name="learn",
    summary="Keep a table up to date with a file or a folder: Markdown, text, reStructuredText, HTML, notebooks, Python, PDF.",
    usage=("%learn PATH [options]    put quotes around a path with spaces",),
    options=(
        Option("table", "where the chunks go; documents if not given", "NAME", as_text),
        Option("room", "the room they are found in; the agent's own if not given", "R", as_text),
        Option("pattern", "which files, of any kind: *.md or guide/**/*.txt", "GLOB", as_text),
        Option("no-progress", "show no line of progress on long work"),
    ),
    examples=("%learn docs/", '%learn "my notes" --table notes --pattern *.md'),
)

REMEMBER = Command(
    name="remember",
    summary="Store a fact in a table, once.",
    usage=("%remember TABLE [options] text    all behind the options is the text, as typed",),
    options=(Option("room", "the room it is found in; the agent's own if not given", "R", as_text),),
    spoken=True,
    examples=(
        "%remember facts Ada's office is in Oslo.",
        "%remember facts --room lobby The door code changed.",
    ),
)

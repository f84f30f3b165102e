"""More than a hundred secrets, each in a place and an encoding of its own, and not one in anything shown."""

from __future__ import annotations

import base64
import html
import json
import logging
import random
import traceback
from urllib.parse import quote

import pytest

from agentctx_nb import AgentRuntime, Memory
from agentctx_nb.render.views import provider_card, providers_table

ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def base64_at(shift, encode=base64.b64encode):
    def encoded(secret):
        return encode(("abc"[:shift] + secret + ":end").encode()).decode()

    return encoded


ENCODINGS = {
    "as it is": lambda secret: secret,
    "URL": lambda secret: quote(secret, safe=""),
    "HTML": html.escape,
    "JSON": lambda secret: json.dumps(secret)[1:-1],
    "hex": lambda secret: secret.encode().hex(),
    "base64": base64_at(0),
    "base64, second alignment": base64_at(1),
    "base64, third alignment": base64_at(2),
    "urlsafe base64": base64_at(0, base64.urlsafe_b64encode),
    "short": lambda secret: secret,
}
# Of these nobody keeps a list: what they write is compared after it is decoded.
ENCODERS_OF_THEIR_OWN = {
    "colons": lambda secret: secret.encode().hex(":"),
    "address of JavaScript": lambda secret: quote(secret, safe="!'()*~"),
    "address of another mind": lambda secret: quote(secret, safe='/+"<&'),
    "all in percent": lambda secret: "".join(f"%{byte:02x}" for byte in secret.encode()),
    "all in entities": lambda secret: "".join(f"&#{ord(char)};" for char in secret),
    "HTML of PHP": lambda secret: html.escape(secret).replace("&#x27;", "&#039;"),
    "JSON of Go": lambda secret: json.dumps(secret)[1:-1].replace("<", "\\u003c").replace("&", "\\u0026"),
    "JSON in an address": lambda secret: quote(json.dumps(secret)[1:-1]),
}
PLACES = (
    "text", "value", "key of a value", "data", "error", "cause", "note", "log message", "log field", "log exception",
    "provider name", "keyword", "description", "setting", "default", "entity", "memory", "metadata", "extra",
    "action result", "action error", "message",
)  # fmt: skip


class Held:
    """One secret, and what is to be found nowhere: every stretch of what was written of it."""

    def __init__(self, number, place, encoding):
        draw = random.Random(number)
        short = encoding == "short"
        self.name = f"S{number}"
        self.place = place
        self.secret = "".join(draw.choices(ALNUM, k=6 if short else 14))
        if not short:
            self.secret += '/+"<&é' + "".join(draw.choices(ALNUM, k=8))
        self.written = {**ENCODINGS, **ENCODERS_OF_THEIR_OWN}[encoding](self.secret)
        whole = self.written.rstrip("=")
        # In base64 the first and last characters are those of what stands beside the secret.
        inner = whole[4:-6] if "base64" in encoding else whole
        size = min(len(inner), 10)
        self.stretches = {inner[at : at + size] for at in range(len(inner) - size + 1)}
        self.stretches |= {self.secret}

    def in_a_sentence(self):
        return f"look: {self.written} there"


HELD = [
    Held(number, place, encoding)
    for number, (place, encoding) in enumerate(
        [
            *((place, encoding) for place in PLACES for encoding in ENCODINGS),
            *((place, encoding) for place in ("text", "error") for encoding in ENCODERS_OF_THEIR_OWN),
        ]
    )
]


def of(place):
    return [held.in_a_sentence() for held in HELD if held.place == place]


def failing():
    try:
        try:
            raise KeyError("; ".join(of("cause")))
        except KeyError as exc:
            raise RuntimeError("; ".join(of("error"))) from exc
    except RuntimeError as exc:
        for note in of("note"):
            exc.add_note(note)
        raise


@pytest.fixture(scope="module")
def runtime():
    runtime = AgentRuntime(
        "held",
        secrets={held.name: held.secret for held in HELD},
        settings={f"note_{number}": text for number, text in enumerate(of("setting"))},
        defaults={f"default_{number}": text for number, text in enumerate(of("default"))},
        count_tokens=len,
        embedder=lambda texts: [[1.0, float(len(text) % 7)] for text in texts],
    )

    async def profile(runtime, message, state):
        entity = await runtime.get_entity_by_id("ada")
        memories = await runtime.get_memories(table_name="facts")
        return {
            "text": "\n".join([*of("text"), *(memory.content.text for memory in memories)]),
            "values": {
                "listed": of("value"),
                **dict.fromkeys(of("key of a value"), 1),
                **{f"v{number}": text for number, text in enumerate(of("value"))},
                "profile": entity.metadata,
            },
            "data": {"rows": of("data"), "entity": entity, "memories": memories},
        }

    runtime.register_provider({"name": "PROFILE", "get": profile, "description": " ".join(of("description"))})
    runtime.register_provider({"name": "BAD", "get": failing})
    for text in of("provider name"):
        runtime.register_provider(
            {
                "name": text,
                "get": lambda: "x",
                "dynamic": True,
                "relevance_keywords": of("keyword"),
                "private": False,
            }
        )

    def act():
        return {
            "text": " ".join(of("action result")),
            "values": {"k": of("action result")},
            "data": {"d": "x"},
        }

    def act_badly():
        raise ValueError("; ".join(of("action error")))

    runtime.register_action({"name": "ACT", "handler": act})
    runtime.register_action({"name": "BADLY", "handler": act_badly})
    return runtime


@pytest.fixture(scope="module")
def outputs(runtime):
    """Everything that is shown of all that, by what it is."""
    import asyncio

    return asyncio.run(everything(runtime))


async def everything(runtime):
    found = {}

    def show(what, thing):
        found[f"{what}: repr"] = repr(thing)
        if not isinstance(thing, str):
            found[f"{what}: str"] = str(thing)
        if hasattr(type(thing), "_repr_mimebundle_"):
            found.update({f"{what}: {kind}": form for kind, form in thing._repr_mimebundle_().items()})
        frame = thing.to_frame() if hasattr(type(thing), "to_frame") else thing
        if hasattr(type(frame), "to_csv"):
            cells = [str(cell) for column in frame.columns for cell in frame[column]]
            found[f"{what}: frame"] = "\n".join([frame.to_csv(), *map(str, frame.index), *cells])

    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(f"{logging.Formatter().format(record)} {vars(record)}")
    logging.getLogger("agentctx_nb.held").addHandler(handler)
    for number, text in enumerate(of("memory")):
        vector = await runtime.embed(text)
        await runtime.create_memory(
            {"content": {"text": text, "source": of("metadata")[number]}, "embedding": vector}, "documents"
        )
    await runtime.create_entity({"id": "ada", "names": ["Ada"], "metadata": {"notes": of("entity")}})
    for text in of("metadata"):
        await runtime.create_memory(Memory({"text": f"fact {text}"}, metadata={"note": text}), "facts")
    for text in of("log message"):
        runtime.logger.error(text)
    for text in of("log field"):
        runtime.logger.error({"field": text, "deep": [{"in": (text,)}], text: 1}, "hello")
    for text in of("log exception"):
        runtime.logger.error(ValueError(text), "failed")
    message = " ".join([*of("message"), *of("keyword")])
    state = await runtime.compose_state(message, of("message")[:3])
    again = await runtime.compose_state("another")
    for name in (
        "report",
        "data",
        "errors",
        "values_frame",
        "why",
        "source_map",
        "values_view",
        "data_tree",
        "timeline",
    ):
        part = getattr(state, name)
        show(name, part() if callable(part) else part)
    show("state", state)
    show("found", state.find(of("text")[0]))
    show("found across", state.find("look:"))
    show("difference", state.diff(again))
    show("without", state.without("PROFILE"))
    show("values", {key: state.report[key] for key in ("PROFILE", "BAD")})
    show("unknown", state.report.unknown)
    show("entry", state.data.providers.PROFILE)
    show("view", state.data.providers.PROFILE.data)
    prompt = runtime.compose_prompt(
        state, "{{providers}} {{v1}} {{extra}} {{profile}}", extra=" ".join(of("extra"))
    )
    show("prompt", prompt)
    show("prompt map", prompt.source_map())
    show("where", prompt.where("look:"))
    show("match", runtime.match(message))
    show("near misses", runtime.match(message.replace("look: ", "look:x")).near_misses)
    show("providers", providers_table(runtime, include_private=True))
    for provider in runtime.list_providers(include_private=True):
        show(f"card {provider.name}", provider_card(runtime, provider.name))
    show("runtime", runtime)
    show("settings", runtime.settings)
    show("settings frame", runtime.settings_frame())
    show("reads", runtime.reads())
    show(
        "search",
        await runtime.explain_search(table_name="documents", query=of("memory")[0], match_threshold=0.9),
    )
    for action in ("ACT", "BADLY"):
        show(action, await runtime.run_action(action, "hi", state))
    for name in (HELD[0].secret, of("provider name")[0] + "s"):
        with pytest.raises(LookupError) as caught:
            runtime.get_provider(name)
        found[f"error about {name}"] = "".join(traceback.format_exception(caught.value)).replace(__file__, "")
    with pytest.raises(ExceptionGroup) as group:
        await runtime.compose_state(message, of("message"), strict=True)
    found["strict"] = "".join(traceback.format_exception(group.value)) + repr(group.value)
    show("log frame", runtime.log_frame())
    found["records"] = "\n".join(records)
    logging.getLogger("agentctx_nb.held").removeHandler(handler)
    return found


def test_there_are_more_than_a_hundred_and_each_is_put_somewhere():
    assert len(HELD) >= 200
    assert len({held.secret for held in HELD}) == len(HELD)


def test_not_one_is_in_anything_shown(outputs):
    assert len(outputs) > 100
    whole = "\n".join(outputs.values())
    leaked = [(held, stretch) for held in HELD for stretch in held.stretches if stretch in whole]
    where = [
        (held.place, held.name, what)
        for held, part in leaked
        for what, text in outputs.items()
        if part in text
    ]
    assert where == []


def test_what_was_shown_is_what_holds_them(outputs):
    """That nothing was found means something only where something was shown."""
    for what in (
        "state: text/html",
        "log frame: frame",
        "records",
        "strict",
        "settings frame: frame",
        "search: text/html",
    ):
        assert "[secret S" in outputs[what] or "[secret]" in outputs[what], what


def test_code_reads_all_of_them_raw(runtime):
    state = runtime.compose("hi")
    for held in HELD:
        if held.place == "text":
            assert held.written in state.text
        if held.place == "value":
            assert held.in_a_sentence() in state.values["listed"]
        if held.place == "entity":
            assert held.in_a_sentence() in state.values["profile"]["notes"]


def test_none_of_the_text_around_them_is_lost(runtime):
    for held in HELD:
        shown = runtime.mask(held.in_a_sentence())
        assert shown.startswith("look: ")
        assert shown.endswith(" there")

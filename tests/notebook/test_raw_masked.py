"""What code is handed raw shows no secret as the last line of a cell."""

from __future__ import annotations

import pytest

from agentctx_nb import Memory
from agentctx_nb.notebook.extension import unload

SET_UP = (
    "from agentctx_nb import Content, Entity\n"
    "runtime.set_setting('BANK_KEY', 's3cr3t-in-the-bank', secret=True)\n"
    "await runtime.create_memory({'content': {'text': 'key s3cr3t-in-the-bank', 'source': 's3cr3t-in-the-bank'}}, 'facts')\n"
    "await runtime.create_entity(Entity(id='ada', metadata={'api_key': 's3cr3t-in-the-bank'}))\n"
    "@runtime.provider('BAD')\n"
    "def bad(runtime):\n"
    "    raise ValueError('no ' + runtime.get_setting('BANK_KEY'))\n"
    "@runtime.provider('HEARD')\n"
    "def heard(runtime, message):\n"
    "    return {'data': {'message': message}}\n"
)


def raw(value):
    """Return the texts and errors in ``value`` as they are; their reprs are masked."""
    if isinstance(value, Memory):
        return value.content.text
    if isinstance(value, list | tuple):
        return " ".join(map(raw, value))
    if isinstance(value, dict):
        return raw([*value, *value.values()])
    return str(getattr(value, "text", None) or getattr(value, "metadata", None) or value)


@pytest.mark.parametrize(
    "cell",
    [
        "await runtime.get_memories(table_name='facts')",
        "(await runtime.get_memories(table_name='facts'))[0]",
        "(await runtime.get_memories(table_name='facts'))[0].content",
        "{'found': await runtime.get_memories(table_name='facts')}",
        "await runtime.get_entity_by_id('ada')",
        "state.errors['BAD']",
        "[state.errors['BAD']]",
        "state.data.providers.BAD.error",
        "state.data['providers']['HEARD']['data']['message']",
    ],
)
def test_what_a_cell_shows_of_it_is_masked_and_the_object_is_as_it_was(shell, cell):
    shell.run(SET_UP)
    shell.run("state = runtime.compose('s3cr3t-in-the-bank')")
    value = shell.run(cell)
    shown = shell.ip.display_formatter.format(value)[0]["text/plain"]
    assert "[secret BANK_KEY]" in shown
    assert "s3cr3t" not in shown
    assert "s3cr3t-in-the-bank" in raw(value)


def test_unloading_gives_the_printers_back(shell):
    formatter = shell.ip.display_formatter.formatters["text/plain"]
    ours = dict(formatter.type_printers)
    unload(shell.ip)
    theirs = formatter.type_printers
    assert BaseException in theirs
    assert theirs[BaseException] != ours[BaseException]
    assert {kind.__name__ for kind in ours.keys() - theirs.keys()} >= {"Memory", "Content", "Entity"}

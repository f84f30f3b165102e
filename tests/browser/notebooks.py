"""The notebooks the browser opens: the tutorials as they are, and one with everything to click and to fear."""

from __future__ import annotations

import shutil

import nbformat

from tests.browser.servers import ROOT

HOSTILE = (
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>"
    "</pre></td></table><svg onload='window.pwned = 3'></svg><a href='javascript:window.pwned=4'>x</a>"
)

SETUP = """\
%load_ext agentctx_nb
import asyncio

@runtime.provider("GREETING", position=-10)
async def greeting(runtime, message, state):
    return {"text": f"They said: {message.content.text}", "values": {"greeted": True, "place": "Oslo"}}

@runtime.provider("WEATHER", dynamic=True, relevance_keywords=["rain", "weather"])
async def weather(runtime, message, state):
    await asyncio.sleep(0.05)
    return {
        "text": "Rain until noon, 72 degrees.",
        "values": {"temperature": 72, "place": "Bergen"},
        "data": {"hours": [{"at": 9, "rain": True}, {"at": 12, "rain": False}]},
    }

@runtime.provider("SLOW", dynamic=True, relevance_keywords=["slow"])
async def slow(runtime, message, state):
    await asyncio.sleep(600)

@runtime.provider("BROKEN", dynamic=True, relevance_keywords=["broken"])
async def broken(runtime, message, state):
    raise ValueError("no forecast for this place")

@runtime.provider("HOSTILE", dynamic=True, relevance_keywords=["hostile"])
async def hostile(runtime, message, state):
    return {"text": MARKUP, "values": {MARKUP: MARKUP}, "data": {"deep": {MARKUP: [MARKUP]}}}
"""

VIEWS_SHOWN = {
    "state": "state",
    "why": "state.why()",
    "source-map": "state.source_map()",
    "values": "state.values_view()",
    "data": "state.data_tree()",
    "timeline": "state.timeline()",
    "diff": "state.diff(state.without('WEATHER'))",
    "cache-lens": "runtime.cache_lens(['hello', 'will it rain?'])",
}
VIEWS = "\n".join(
    [
        'state = runtime.compose("will it rain? is the forecast broken?")',
        *(f"display({view})" for view in VIEWS_SHOWN.values()),
    ]
)
HOSTILE_VIEWS = VIEWS.replace("will it rain? is the forecast broken?", "rain, and something hostile")

EXPLORER = 'explorer = runtime.explore("will it rain?")\nexplorer'


def write_notebooks(folder):
    """Put the notebooks into ``folder``."""
    folder.mkdir()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, folder)
    shutil.copytree(ROOT / "docs", folder.parent / "docs")  # which one of the tutorials learns
    setup = f"MARKUP = {HOSTILE!r}\n{SETUP}"
    _write(folder / "views.ipynb", [setup, HOSTILE_VIEWS, VIEWS])
    _write(folder / "explorer.ipynb", [setup, EXPLORER])


def _write(path, sources):
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)

"""Data turned into text, Markdown and HTML: the only code of this package that makes markup.

`bounds` masks, cuts and makes visible; `text`, `markdown` and `html` write, each escaping at one gate;
`table` and `page` are what shows itself; `views` says what is shown of a state and of a runtime.
"""

from __future__ import annotations

from agentctx_nb.render.page import Fold, Lines, Page
from agentctx_nb.render.table import Table
from agentctx_nb.render.views import (
    provider_card,
    providers_table,
    report_table,
    state_bundle,
    state_page,
    values_table,
)

__all__ = [
    "Fold",
    "Lines",
    "Page",
    "Table",
    "provider_card",
    "providers_table",
    "report_table",
    "state_bundle",
    "state_page",
    "values_table",
]

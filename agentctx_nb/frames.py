"""Rows to pandas, which is imported only when a frame is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["frame"]


def frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> Any:
    """Return ``rows`` as a pandas DataFrame with ``columns``; cells stay the objects they are.

    Raises
    ------
    MissingExtraError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as exc:
        raise MissingExtraError("pandas", extra="all", purpose="a frame") from exc
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    series = {
        name: pd.Series(_column(column), dtype=None if column and _numbers(column) else object)
        for name, column in zip(columns, cells, strict=True)
    }
    return pd.DataFrame(series, columns=list(columns))


def _numbers(cells: Sequence[Any]) -> bool:
    return all(cell is None or isinstance(cell, int | float) for cell in cells)


def _column(cells: Sequence[Any]) -> Any:
    """Numbers stay numbers; any other column is kept object by object."""
    if _numbers(cells):
        return list(cells)
    import numpy as np

    column = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):  # one by one: numpy would look inside lists and arrays
        column[i] = cell
    return column

"""Cells of tables and texts of tooltips: a value is written in the unit of its column's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nhalf.base.numbers import MISSING, fixed, format_number, percent, whole
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time

UNITS: Mapping[str, Callable[[Any], str]] = {
    "s": format_time,
    "bytes": format_size,
    "Bps": format_rate,
    "share": percent,
    "cycles": lambda cycles: fixed(cycles, 2),
    "concentration": format_number,
}
"""How values are written, by the last word of their column's name."""
Cell = str | Callable[[Row], str]
"""A column of rows, or what makes a cell of a row."""


def cell(column: str, value: Any) -> str:
    """'1.2 µs' for 1.2e-6 in `median_s`; counts, names and lists as they are, '–' for nothing."""
    if value is None or value == []:
        return MISSING
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ", ".join(value)
    write = UNITS.get(column.rpartition("_")[2], whole if isinstance(value, int) else format_number)
    return write(value)


def texts(row: Row, **columns: str) -> Row:
    """The cells of some columns by other names: `size="bytes"` is {'size': '4 KiB'}."""
    return {name: cell(column, row[column]) for name, column in columns.items()}


def line(row: Row, columns: Sequence[Cell]) -> list[str]:
    """The cells of one row of a table."""
    return [
        cell(column, row[column]) if isinstance(column, str) else column(row) for column in columns
    ]

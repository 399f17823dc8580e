# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal, in the house style."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from nhalf.base.numbers import format_number
from nhalf.present.terminal.output import FORM, stdout_console

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console
    from rich.table import Table

RICH_ROWS_MAX = 40
COLUMNS_MIN = 3
BETWEEN = 3
"""Characters between two columns."""
FOLDED = 24
"""Longer words, such as lists of options, may be divided in columns that wrap."""
DROPPED = (
    *("source", "samples", "launches", "steps at", "state", "95 %", "95 % interval"),
    *("warnings", "n½", "threads", "where", "ranks", "year", "network", "nodes", "over time"),
    *("changes", "first run", "baseline", "now", "by how much", "points", "machine"),
)
"""Columns that a narrow terminal does without, in this order, before a value is cut."""
DROPPED_LAST = ("interval",)
"""Columns that are left out if it does not help either that the first column wraps."""


def house_table(*columns: str) -> Table:
    """An empty table in the house style: first and last column left, numbers right."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        # Only the last column may wrap, so that numbers stay whole on a narrow terminal.
        last = index == len(columns) - 1
        side: Literal["left", "right"] = "left" if index == 0 or last else "right"
        table.add_column(escape(column), justify=side, no_wrap=not last)
    return table


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table; columns that have no room are left out and named below."""
    console = console or stdout_console()
    dropped = [] if FORM.get() != "table" else _without_narrow(table, console)
    console.print(table)
    if dropped:
        words = f"left out, as the terminal is narrow: {', '.join(dropped)}"
        console.print(words, markup=False, style="dim")


def _without_narrow(table: Table, console: Console) -> list[str]:
    """Remove columns until the whole values of the others have room; their titles, in order."""
    dropped = _drop(table, DROPPED, console.width)
    first = table.columns[0]
    if _width(table) > console.width and first.no_wrap:
        first.no_wrap = False
        dropped += _drop(table, DROPPED_LAST, console.width)
        first.no_wrap = _width(table) > console.width
    return dropped


def _drop(table: Table, droppable: Sequence[str], width: int) -> list[str]:
    """Remove columns with these titles, in this order, until the table has the width."""
    dropped: list[str] = []
    for title in droppable:
        titles = [str(column.header) for column in table.columns]
        for place in reversed([place for place, name in enumerate(titles) if name == title]):
            if _width(table) <= width or len(table.columns) <= COLUMNS_MIN:
                return dropped
            del table.columns[place]
            for number, column in enumerate(table.columns):
                column._index = number
            dropped = list(dict.fromkeys([*dropped, title]))
    return dropped


def _width(table: Table) -> int:
    """The characters that a table needs; columns that may wrap break between words."""
    from rich.cells import cell_len

    from nhalf.present.terminal.forms import plain

    width = 2
    for place, column in enumerate(table.columns):
        texts = [plain(cell) for cell in (column.header, *column.cells)]
        is_last = place == len(table.columns) - 1
        words = [word for text in texts for word in ([text] if column.no_wrap else text.split())]
        longest = max(map(cell_len, words), default=0)
        needed = max(column.min_width or 0, longest if column.no_wrap else min(longest, FOLDED))
        width += min(needed, column.max_width or needed) + (0 if is_last else BETWEEN)
    return width


def show_frame(frame: pl.DataFrame) -> None:
    """Print any frame as a table."""
    rows = [[raw_text(value) for value in row] for row in frame.iter_rows()]
    show_table(frame.columns, rows)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print cells as a table; long ones without rich, which takes a millisecond per row."""
    from rich.markup import escape

    if len(rows) <= RICH_ROWS_MAX or FORM.get() != "table":
        table = house_table(*columns)
        for row in rows:
            table.add_row(*map(escape, row))
        print_table(table)
        return
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    sides = ["<", *[">"] * (len(widths) - 2), "<"][: len(widths)]
    line = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    head = (line.format(*columns), rule)
    body = (line.format(*row) for row in rows)
    sys.stdout.writelines(f"{text.rstrip()}\n" for text in (*head, *body))


def raw_text(value: object) -> str:
    """Format a value of a frame with all digits; a semicolon separates items, nothing is ''."""
    if isinstance(value, list):
        return "; ".join(map(raw_text, value))
    if isinstance(value, dict):
        return "=".join(map(raw_text, value.values()))
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(value)


def row_text(value: object) -> str:
    """Format a value of a row: all digits for the programs that read CSV, four for people."""
    if isinstance(value, float) and FORM.get() != "csv":
        return format_number(value, 4)
    return raw_text(value)

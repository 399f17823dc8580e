# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal, in the house style."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from nhalf.present.terminal.output import FORM, stdout_console

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

RICH_ROWS_MAX = 40


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


def show_frame(frame: pl.DataFrame) -> None:
    """Print any frame as a table."""
    rows = [[_text(value) for value in row] for row in frame.iter_rows()]
    show_table(frame.columns, rows)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print cells as a table; long ones without rich, which takes a millisecond per row."""
    from rich.markup import escape

    if len(rows) <= RICH_ROWS_MAX or FORM.get() != "table":
        table = house_table(*columns)
        for row in rows:
            table.add_row(*map(escape, row))
        stdout_console().print(table)
        return
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    sides = ["<", *[">"] * (len(widths) - 2), "<"][: len(widths)]
    line = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    head = (line.format(*columns), rule)
    body = (line.format(*row) for row in rows)
    sys.stdout.writelines(f"{text.rstrip()}\n" for text in (*head, *body))


def _text(value: object) -> str:
    """Format a value of a frame; semicolons separate the items of a list."""
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    if isinstance(value, dict):
        return "=".join(map(_text, value.values()))
    return "" if value is None else str(value)

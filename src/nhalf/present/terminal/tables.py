# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal, in the house style."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from nhalf.present.terminal.output import stdout_console

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

RICH_ROWS_MAX = 200


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
    """Any frame as a table."""
    rows = [["" if value is None else str(value) for value in row] for row in frame.iter_rows()]
    show_table(frame.columns, rows)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Cells as they are; long tables without rules, which take rich a millisecond per row."""
    from rich.markup import escape

    if len(rows) <= RICH_ROWS_MAX:
        table = house_table(*columns)
        for row in rows:
            table.add_row(*map(escape, row))
        stdout_console().print(table)
        return
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    line = "  ".join(f"{{:{'>' if place else '<'}{width}}}" for place, width in enumerate(widths))
    sys.stdout.writelines(f"{line.format(*row)}\n" for row in (columns, *rows))

"""Tables on a terminal, in the house style."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from nhalf.base.errors import unknown
from nhalf.base.numbers import format_number
from nhalf.present.terminal.output import FORM, stdout_console

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console
    from rich.table import Table

    from nhalf.exchange.styles import Style
    from nhalf.facts.facts import Facts
    from nhalf.present.wording import Cell


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


def headed_table(
    title: str,
    *columns: str,
    words: Collection[str] = (),
    whole: Collection[str] = (),
    caption: str = "",
    is_ruled: bool = True,
) -> Table:
    """An empty table below its title, if it has one: numbers, but in the columns of `words`.

    What the columns of `whole` hold is never wrapped. Unless it `is_ruled` it has no lines, and its
    title is not bold.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title, style="bold") if title and is_ruled else escape(title) or None,
        title_justify="left",
        caption=Text(caption, style="dim") if caption else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD if is_ruled else None,
        pad_edge=False,
    )
    for name in columns:
        side: Literal["left", "right"] = "left" if name in words else "right"
        table.add_column(name, justify=side, no_wrap=name in whole)
    return table


plain_table = partial(headed_table, is_ruled=False)


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table; on a narrow terminal as forms.py does."""
    (console or stdout_console()).print(table)


def add_literal(table: Table, *cells: str) -> None:
    """Add a row of texts that are printed as they are, `[x]` included."""
    from rich.markup import escape

    table.add_row(*map(escape, cells))


def show_frame(frame: pl.DataFrame) -> None:
    """Print any frame as a table."""
    rows = [[raw_text(value) for value in row] for row in frame.iter_rows()]
    show_table(frame.columns, rows)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print cells as a table; long ones without rich, which takes a millisecond per row."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    if (
        len(rows) <= RICH_ROWS_MAX
        or FORM.get() != "table"
        or sum(widths) + 2 * (len(widths) - 1) > stdout_console().width
    ):
        table = house_table(*columns)
        for row in rows:
            add_literal(table, *row)
        print_table(table)
        return
    sides = ["<", *[">"] * (len(widths) - 2), "<"][: len(widths)]
    form = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    head = (form.format(*columns), rule)
    body = (form.format(*row) for row in rows)
    sys.stdout.writelines(f"{text.rstrip()}\n" for text in (*head, *body))


def show_rows(rows: Iterable[object], columns: Mapping[str, Cell]) -> None:
    """Print a row for each row or object: by title its column, or what makes its cells."""
    from nhalf.present.wording import line

    show_table(list(columns), [line(row, columns.values()) for row in rows])


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


def style_of(name: str) -> Style:
    """A style by name; raises InputError for an unknown one."""
    from nhalf.base.plugins import load
    from nhalf.exchange import styles

    styles_by_name: dict[str, type[Style]] = load(styles.__name__, styles.Style)
    if name not in styles_by_name:
        raise unknown("style", name, styles_by_name)
    return styles_by_name[name]()


def patterns_of(style: str, text: str) -> str:
    """Benchmarks of a suite, separated by commas, as patterns; other names as they are."""
    chosen = style_of(style)
    return ",".join(chosen.pattern(word.strip()) for word in text.split(",") if word.strip())


def transport_of(style: str, text: str) -> str:
    """The transport of the benchmarks of a suite, if all that are named have one; else ''."""
    transports = {name.lower(): of_test for name, of_test in style_of(style).transports.items()}
    transport_names = {transports.get(word.strip().lower(), "") for word in text.split(",")}
    return transport_names.pop() if len(transport_names) == 1 else ""


def show_style(style: str, facts: Facts, shares: Sequence[float] = ()) -> None:
    """Print the tables on standard output; `shares` are quantiles of samples."""
    sys.stdout.write(style_of(style).text(facts, shares))
    sys.stdout.flush()

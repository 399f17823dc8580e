"""Tables on narrow terminals, where no number is ever cut, and for other programs."""

import csv
import functools
import io
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group
from rich.markup import render
from rich.table import Column, Table
from rich.text import Text

COLUMNS_MIN = 3
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
LEFT_OUT = "left out, as the terminal is narrow: "


def print_fitted(shown: object, put: Callable[..., None], width: int) -> None:
    """Print something by `put`; columns of tables that have no room are left out and named below.

    Where three columns are too wide, each row is printed as lines, a line for each column.
    """
    if isinstance(shown, Group):
        for part in shown.renderables:
            print_fitted(part, put, width)
    elif isinstance(shown, Table) and shown.columns:
        _print_table(shown, put, width)
    else:
        put(shown)


def _print_table(table: Table, put: Callable[..., None], width: int) -> None:
    dropped: list[str] = []
    if not _fits(table, width):
        dropped = _without_narrow(table, width)
    if _needed(table, width) <= width:
        put(table)
    else:
        _print_rows(table, put, width)
    if dropped:
        put(f"{LEFT_OUT}{', '.join(dropped)}", markup=False, style="dim")


def _fits(table: Table, width: int) -> bool:
    """Whether a table has its natural width, or a width that is its own business."""
    is_laid_out = any(column.width or column.ratio for column in table.columns)
    return is_laid_out or _total(table, _natural) <= width


def _without_narrow(table: Table, width: int) -> list[str]:
    """Remove columns until the whole values of the others have room; their titles, in order."""
    dropped = _drop(table, DROPPED, width)
    first = table.columns[0]
    if _needed(table, width) > width and first.no_wrap:
        first.no_wrap = False
        dropped += _drop(table, DROPPED_LAST, width)
        first.no_wrap = _needed(table, width) > width
    _share_out(table, width)
    return dropped


def _drop(table: Table, droppable: Sequence[str], width: int) -> list[str]:
    """Remove columns with these titles, in this order, until the table has the width."""
    dropped: list[str] = []
    for title in droppable:
        titles = [str(column.header) for column in table.columns]
        for place in reversed([place for place, name in enumerate(titles) if name == title]):
            if _needed(table, width) <= width or len(table.columns) <= COLUMNS_MIN:
                return dropped
            del table.columns[place]
            for number, column in enumerate(table.columns):
                column._index = number
            dropped = list(dict.fromkeys([*dropped, title]))
    return dropped


def _share_out(table: Table, width: int) -> None:
    """Give columns that wrap at least the width of their words, and share what is left.

    Left to itself, rich would make the widest ones equal and cut words of the others.
    """
    spare = width - _total(table, _least)
    if spare < 0:
        return
    for column in table.columns:
        if not column.no_wrap:
            own = min(_natural(column) - _least(column), spare)
            column.width, column.overflow = _least(column) + own, "fold"
            spare -= own


def _needed(table: Table, width: int) -> int:
    """The characters that a table needs; columns that may wrap break between words."""
    return width if _fits(table, width) else _total(table, _least)


def _total(table: Table, of_column: Callable[[Column], int]) -> int:
    """The characters of all columns and of what stands between them."""
    between = sum(map(table._get_padding_width, range(len(table.columns))))
    return table._extra_width + between + sum(map(of_column, table.columns))


def _natural(column: Column) -> int:
    return _bounded(column, _longest(column, lambda text: text.splitlines() or [""]))


def _least(column: Column) -> int:
    if column.no_wrap:
        return _natural(column)
    return _bounded(column, min(_longest(column, str.split), FOLDED))


def _bounded(column: Column, width: int) -> int:
    width = max(width, column.min_width or 0)
    return min(width, column.max_width or width)


def _longest(column: Column, parts: Callable[[str], Sequence[str]]) -> int:
    return max((cell_len(part) for text in _texts(column) for part in parts(text)), default=0)


def _texts(column: Column) -> list[str]:
    """The title of a column and its cells, without markup."""
    return [plain(text) for text in (column.header, *column.cells)]


def _print_rows(table: Table, put: Callable[..., None], width: int) -> None:
    """Print 'TITLE: VALUE' for each column of each row, with an empty line between rows.

    Values that are wider than the terminal are left to it, which divides their words, too.
    """
    if table.title:
        put(table.title)
    titles, *rows = zip(*map(_texts, table.columns), strict=True)
    for row in rows:
        put()
        for title, value in zip(titles, row, strict=True):
            if value.strip():
                is_whole = max(map(cell_len, value.split())) <= width
                put(Text(f"{title}: {value}" if title else value), soft_wrap=not is_whole)
    if table.caption:
        put(table.caption)


@functools.cache
def formed_console(form: str) -> Console:
    """The console that prints tables as CSV or Markdown; remarks beside CSV go to standard error.

    Each form has one console in a process, which counts the tables printed.
    """
    return Csv() if form == "csv" else Markdown()


class _Formed(Console):
    """Writes tables by `write`, and all other text by `remark`."""

    tables = 0
    """The number of tables printed."""

    def print(self, *objects: Any, **style: Any) -> None:
        """Print tables in their form, and text without its markup."""
        for renderable in objects:
            if isinstance(renderable, Group):
                self.print(*renderable.renderables, **style)
            elif isinstance(renderable, Table):
                self.write_table(renderable)
            else:
                as_markup = style.get("markup") is not False and isinstance(renderable, str)
                self.remark(str(render(renderable)) if as_markup else str(renderable))

    def write_table(self, table: Table) -> None:
        """Write one table to standard output."""
        columns = [plain(column.header) for column in table.columns]
        cells = [[plain(cell) for cell in column.cells] for column in table.columns]
        self.write(plain(table.title or ""), columns, list(zip(*cells, strict=True)))
        self.tables += 1

    def write(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Write columns and rows of a table to standard output."""
        raise NotImplementedError

    def remark(self, text: str) -> None:
        """Write text that is not a table."""
        raise NotImplementedError


class Csv(_Formed):
    """Writes CSV; an empty line separates tables."""

    def write(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Write the columns in the first line, without a title."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(rows)
        sys.stdout.write(("\n" if self.tables else "") + text.getvalue())

    def remark(self, text: str) -> None:
        """Write text to standard error, so that standard output holds only CSV."""
        sys.stderr.write(f"{text.strip()}\n" if text.strip() else "")


class Markdown(_Formed):
    """Writes tables in the Markdown of GitHub and MkDocs."""

    def write(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Write the table below its title, if it has one."""
        lines = [f"**{title}**\n"] if title else []
        lines += [_line(columns), "|" + "---|" * len(columns), *map(_line, rows)]
        sys.stdout.write("\n".join(lines) + "\n\n")

    def remark(self, text: str) -> None:
        """Write text as a paragraph."""
        sys.stdout.write(f"{text.strip()}\n\n" if text.strip() else "")


def plain(cell: object) -> str:
    """The text of a cell, without markup."""
    return cell.plain if isinstance(cell, Text) else str(render(str(cell)))


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

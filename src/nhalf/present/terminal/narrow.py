"""Tables on narrow terminals: columns are left out and words wrap, but no number is ever cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Column, Table

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
    from rich.console import Group
    from rich.table import Table

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
    """The width of the longest part of any text in a column."""
    from rich.cells import cell_len

    return max((cell_len(part) for text in _texts(column) for part in parts(text)), default=0)


def _texts(column: Column) -> list[str]:
    """The title of a column and its cells, without markup."""
    from nhalf.present.terminal.forms import plain

    return [plain(text) for text in (column.header, *column.cells)]


def _print_rows(table: Table, put: Callable[..., None], width: int) -> None:
    """Print 'TITLE: VALUE' for each column of each row, with an empty line between rows.

    Values that are wider than the terminal are left to it, which divides their words, too.
    """
    from rich.cells import cell_len
    from rich.text import Text

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

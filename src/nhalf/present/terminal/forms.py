"""Tables for other programs: CSV (RFC 4180) and Markdown."""

from __future__ import annotations

import csv
import functools
import io
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, Group
from rich.markup import render
from rich.table import Table
from rich.text import Text


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

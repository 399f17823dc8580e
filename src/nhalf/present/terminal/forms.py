# SPDX-License-Identifier: Apache-2.0
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

    There is one of each in a process, which knows what it has printed.
    """
    return Csv() if form == "csv" else Markdown()


class _Formed(Console):
    """Writes tables by `write`, and says everything else by `remark`."""

    tables = 0
    """How many it has printed."""

    def print(self, *objects: Any, **style: Any) -> None:
        """Tables in their form; text without its markup."""
        for one in objects:
            if isinstance(one, Group):
                self.print(*one.renderables, **style)
            elif isinstance(one, Table):
                self.write_table(one)
            else:
                as_markup = style.get("markup") is not False and isinstance(one, str)
                self.remark(str(render(one)) if as_markup else str(one))

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
        """Say what is no table."""
        raise NotImplementedError


class Csv(_Formed):
    """Several tables are parted by an empty line."""

    def write(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Columns in the first line, and no title."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(rows)
        sys.stdout.write(("\n" if self.tables else "") + text.getvalue())

    def remark(self, text: str) -> None:
        """Beside the table, so that a reader of CSV finds nothing else."""
        sys.stderr.write(f"{text.strip()}\n" if text.strip() else "")


class Markdown(_Formed):
    """Tables as GitHub and MkDocs read them."""

    def write(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """The title, if there is one, in bold above the table."""
        lines = [f"**{title}**\n"] if title else []
        lines += [_line(columns), "|" + "---|" * len(columns), *map(_line, rows)]
        sys.stdout.write("\n".join(lines) + "\n\n")

    def remark(self, text: str) -> None:
        """Its own paragraph."""
        sys.stdout.write(f"{text.strip()}\n\n" if text.strip() else "")


def plain(cell: object) -> str:
    """The text of a cell, without markup."""
    return cell.plain if isinstance(cell, Text) else str(render(str(cell)))


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

"""Derived results on a terminal: a table for each kind, or a line for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nhalf.base.carrier import carrier
from nhalf.base.listing import ranks_text
from nhalf.base.rows import Row
from nhalf.present.terminal.output import stdout_console
from nhalf.present.terminal.tables import show_table
from nhalf.results import kinds


def show_results(results: Mapping[str, list[Row]], titles: Mapping[str, str]) -> None:
    """Print a table per result; missing values and warnings stand below it."""
    kinds_by_name = kinds()
    for name, rows in results.items():
        kind = kinds_by_name[name]
        stdout_console().print(f"\n{kind.title}", markup=False)
        columns = [c for c in kind.columns if any(row.get(c.name) is not None for row in rows)]
        cells = [[*_subject(row, titles), *(c.cell(row) for c in columns)] for row in rows]
        show_table(["library", "ranks", *(column.title for column in columns)], cells)
        for row in rows:
            further = kind.further(row)
            if further is not None:
                show_table(*further)
            remarks = [*kind.sentences(row), row.get("missing"), *row.get("doubts", [])]
            for remark in filter(None, remarks):
                text = f"{', '.join(_subject(row, titles))} ranks: {remark}"
                stdout_console().print(text, markup=False)


def result_lines(results: Mapping[str, list[Row]], titles: Mapping[str, str]) -> Iterator[str]:
    """A line for each row of each result, for the end of a run."""
    kinds_by_name = kinds()
    for name, rows in results.items():
        for row in rows:
            library, ranks = _subject(row, titles)
            yield f"{library}, {ranks_text(ranks)}: {kinds_by_name[name].line(row)}"


def _subject(row: Row, titles: Mapping[str, str]) -> tuple[str, str]:
    """Name the library and the number of ranks of a row."""
    key = str(carrier(row["mpi"], row["transport"]))
    return titles.get(key, key), str(row["ranks"])

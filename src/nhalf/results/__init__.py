"""Derived results: computed from many points of the store together, and never stored.

To add one, put a file into this folder: `NAME.py` with one class that derives from `Result`. It
then appears in `run --json` and `show --json` under "results", as a table of `nhalf show`, as a
line at the end of `nhalf run` and, for panels, in `Facts.results`; no other file changes. A
method longer than a screen has its own files in a folder results/NAME, independent of tables.

    class Example(Result):
        title = "Sum of all times"
        patterns = frozenset({"pingpong"})
        columns = (Column("total_s", "total", format_time),)

        def of(self, measurements, summary):
            subjects = summary.group_by(RUN_SUBJECT, maintain_order=True)
            return subjects.agg(total_s=pl.col("median_s").sum()).to_dicts()
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from nhalf.base.numbers import fixed, half_width_text
from nhalf.base.plugins import load
from nhalf.base.rows import Row

if TYPE_CHECKING:
    from nhalf.store.places import Place, Start

FindPlaces = Callable[[], "Mapping[str, Mapping[Start, Sequence[Place]]]"]


@dataclass(frozen=True)
class Column:
    """One column of a result's table: a member of its rows, a heading, and a format for its values.

    A row without the member, or with None, shows a dash. If a row has the member `NAME_ci`, it is
    the 95 % interval (low, high) of the member NAME and is shown as its half-width.
    """

    name: str
    title: str
    write: Callable[[Any], str] = str
    with_interval: bool = True
    """Whether there is room for the interval: a terminal is 120 characters wide."""

    def cell(self, row: Row) -> str:
        """The value as people read it: '1.23 GB/s ±2.1 %'."""
        value = row.get(self.name)
        if value is None:
            return "–"
        interval = row.get(f"{self.name}_ci")
        if interval is None or not value or not self.with_interval:
            return self.write(value)
        reach = max(value - interval[0], interval[1] - value) / abs(value)
        return f"{self.write(value)} {half_width_text(reach)}"


def cycles_text(cycles: float) -> str:
    """Cycles with two decimals."""
    return fixed(cycles, 2)


class Result(ABC):
    """One kind of derived result; each of its rows is about one subject."""

    title: ClassVar[str]
    patterns: ClassVar[frozenset[str]]
    """The result is computed only if one of these patterns was measured."""
    parts: ClassVar[frozenset[str]] = frozenset()
    """Patterns whose points mean little by themselves: curves and models leave them out."""
    columns: ClassVar[Sequence[Column]]
    """What tables and lines show; rows may hold more."""

    @abstractmethod
    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per subject (or several), with values that JSON can hold; none without data.

        `measurements` and `summary` have the columns of store/keys.py and may hold several runs.
        Names end in their unit, `NAME_ci` is the interval of NAME, None is a missing number.
        Incomplete data is not an error: `missing` in the row then says in a sentence what it lacks
        ('' or absent: nothing), and `doubts` lists warnings as sentences.
        """

    def placed(
        self, measurements: pl.LazyFrame, summary: pl.DataFrame, find_places: FindPlaces
    ) -> list[Row]:
        """Compute the rows of a result that needs the places of the ranks."""
        return self.of(measurements, summary)

    def further(self, row: Row) -> tuple[list[str], list[list[str]]] | None:
        """Column titles and cells of a separate table for one row, if a line is not enough."""
        return None

    def sentences(self, row: Row) -> list[str]:
        """Further sentences on a row below its table, besides `missing` and `doubts`."""
        return []

    def line(self, row: Row) -> str:
        """One row as a line, without its subject."""
        if row.get("missing"):
            return f"no {self.title}: {row['missing']}"
        return ", ".join(f"{column.title} {column.cell(row)}" for column in self.columns)


def kinds() -> dict[str, Result]:
    """Load every result, by its name in JSON."""
    return {name.replace("-", "_"): kind() for name, kind in load("nhalf.results", Result).items()}


@functools.cache
def parts() -> frozenset[str]:
    """The patterns that serve only as parts of some result."""
    return frozenset().union(*(kind.parts for kind in kinds().values()))


def results(
    measurements: pl.LazyFrame, summary: pl.DataFrame, find_places: FindPlaces = dict
) -> dict[str, list[Row]]:
    """The rows of every result with data, by its name.

    `find_places` looks up the places of the ranks by run (store/places.py) for results that need
    them.
    """
    patterns = set(summary["pattern"].unique())
    rows_by_name = {
        name: kind.placed(measurements, summary, find_places)
        for name, kind in kinds().items()
        if kind.patterns & patterns
    }
    return {name: rows for name, rows in rows_by_name.items() if rows}


def as_json(rows_by_name: dict[str, list[Row]]) -> dict[str, Any]:
    """Build the object under "results": {NAME: {"rows": [...]}}."""
    return {name: {"rows": rows} for name, rows in rows_by_name.items()}

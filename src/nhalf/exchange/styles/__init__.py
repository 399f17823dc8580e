"""Results in the table formats of other suites, for readers and scripts that expect them.

One file is one suite. The numbers are nhalf's own (medians over launches, started together on
synchronised clocks where it is a collective); only their form is borrowed.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.errors import unknown
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.precision import with_repetitions
from nhalf.store.keys import RUN_CURVE

MPI = "mpi"
"""The default transport of benchmarks."""


class Style(ABC):
    """The tables of one suite."""

    benchmarks: ClassVar[dict[str, str]]
    """The suite's benchmarks that nhalf covers, by name: a pattern, and after a blank its axes."""
    transports: ClassVar[dict[str, str]] = {}
    """The transports of benchmarks without MPI messages."""

    @abstractmethod
    def table(self, benchmark: str, rows: list[Row]) -> Iterator[str]:
        """The lines of one benchmark's table; `rows` by size, with `repetitions`."""

    @abstractmethod
    def opening(self, library: str) -> Iterator[str]:
        """The lines before the tables of one library."""

    def closing(self) -> Iterator[str]:
        """The lines after the tables of one library."""
        yield from ()

    def pattern(self, name: str) -> str:
        """The pattern of a benchmark, or of a pattern's own name.

        Raises InputError for a name that is neither, with the closest known ones.
        """
        by_name = {
            benchmark.lower(): point.partition(" ")[0]
            for benchmark, point in self.benchmarks.items()
        }
        if name.lower() in by_name:
            return by_name[name.lower()]
        if name in by_name.values() or name == "all":
            return name
        raise unknown("benchmark", name, self.benchmarks)

    def text(self, facts: Facts) -> str:
        """The text of all tables."""
        return "".join(f"{line}\n" for line in self._lines(facts))

    def _lines(self, facts: Facts) -> Iterator[str]:
        names: dict[tuple[str, str], str] = {}
        for benchmark, point in self.benchmarks.items():
            names.setdefault((self.transports.get(benchmark, MPI), point), benchmark)
        patterns = [point.partition(" ")[0] for point in self.benchmarks.values()]
        covered = with_repetitions(facts).filter(pl.col("pattern").is_in(patterns))
        for (mpi, transport), of_library in covered.group_by(
            "mpi", "transport", maintain_order=True
        ):
            library = str(carrier(mpi, transport))
            yield from self.opening(facts.titles.get(library, library))
            for _, table in of_library.sort(*RUN_CURVE, "bytes").group_by(
                "pattern", *(name for name in RUN_CURVE if name != "pattern"), maintain_order=True
            ):
                rows = table.to_dicts()
                row = rows[0]
                axes = row["axes"].replace(f"pairs={row['ranks'] // 2}", "pairs=ranks/2")
                point = f"{row['pattern']} {axes}".strip()
                name = names.get((str(transport), point)) or names.get((MPI, point))
                if name:
                    yield from self.table(name, rows)
            yield from self.closing()


def microseconds(time_s: float) -> float:
    """Convert seconds to the unit of these tables."""
    return time_s * 1e6


def two_decimals(value: float) -> str:
    """A number as the suites print it, however long; '-' for none, where C would print nan."""
    return f"{value:.2f}" if math.isfinite(value) else "-"


def megabytes_per_second(row: Row) -> float:
    """The rate in the suites' unit, 1e6 bytes per second; 0 if nothing moves."""
    return float(row["bytes_per_time"] / row["median_s"] / 1e6) if row["median_s"] else 0.0


def over_ranks(row: Row) -> tuple[float, float, float]:
    """Least, largest and mean time of the ranks in microseconds.

    The largest is the time that nhalf reports, so that a table agrees with `nhalf show`.
    """
    largest = microseconds(row["median_s"])
    times = [microseconds(time_s) for time_s in row["rank_s"] or []]
    if not times:
        return largest, largest, largest
    return min(*times, largest), largest, min(sum(times) / len(times), largest)


def value(row: Row, name: str) -> float:
    """A named value of a point; NaN if there is none of this name."""
    matches: Iterable[float] = (
        item["value"] for item in row["values"] or [] if item["name"] == name
    )
    return next(iter(matches), float("nan"))

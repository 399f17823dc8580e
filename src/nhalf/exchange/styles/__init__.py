"""Results in the table formats of other suites, for readers and scripts that expect them.

One file is one suite. The numbers are nhalf's own (medians over launches, started together on
synchronised clocks where it is a collective); only their form is borrowed.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError, unknown
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.precision import with_repetitions
from nhalf.facts.tails import quantile_rows
from nhalf.store.keys import RUN_CURVE, RUN_POINT, axes_text, parse_axes

MPI = "mpi"
"""The default transport of benchmarks."""


class Style(ABC):
    """The tables of one suite."""

    benchmarks: ClassVar[dict[str, str]]
    """The suite's benchmarks that nhalf covers, by name: a pattern, and after a blank its axes."""
    transports: ClassVar[dict[str, str]] = {}
    """The transports of benchmarks without MPI messages."""

    prints_quantiles: ClassVar[bool] = False

    memories: ClassVar[frozenset[str]] = frozenset()
    """Values of the axis `memory` for which the suite has words, pairs included."""

    @abstractmethod
    def table(self, benchmark: str, rows: list[Row]) -> Iterator[str]:
        """The lines of a benchmark's table; `rows` by size, with `repetitions` and `quantiles`."""

    @abstractmethod
    def opening(self, library: str, memory: str = "") -> Iterator[str]:
        """The lines before the tables of one library and memory of buffers, if one is said.

        A style that names no memories is never given one.
        """

    def closing(self) -> Iterator[str]:
        """The lines after these tables."""
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

    def text(self, facts: Facts, shares: Sequence[float] = ()) -> str:
        """The text of all tables, with columns of these quantiles of samples, if any.

        Raises InputError for quantiles in a suite that prints none.
        """
        if shares and not self.prints_quantiles:
            raise InputError("this suite prints no quantiles", "leave out --quantiles")
        return "".join(f"{line}\n" for line in self._lines(facts, tuple(shares)))

    def _lines(self, facts: Facts, shares: tuple[float, ...]) -> Iterator[str]:
        times_s: dict[tuple[Any, ...], dict[float, float]] = {}
        for *key, q, time_s in _quantiles(facts, shares):
            times_s.setdefault(tuple(key), {})[q] = time_s
        names: dict[tuple[str, str], str] = {}
        for benchmark, point in self.benchmarks.items():
            names.setdefault((self.transports.get(benchmark, MPI), point), benchmark)
        patterns = [point.partition(" ")[0] for point in self.benchmarks.values()]
        covered = with_repetitions(facts).filter(pl.col("pattern").is_in(patterns))
        for (mpi, transport), of_library in covered.group_by(
            "mpi", "transport", maintain_order=True
        ):
            library = str(carrier(mpi, transport))
            tables: dict[str, list[tuple[str, list[Row]]]] = {}
            for _, table in of_library.sort(*RUN_CURVE, "bytes").group_by(
                "pattern", *(name for name in RUN_CURVE if name != "pattern"), maintain_order=True
            ):
                rows = table.to_dicts()
                for row in rows:
                    row["quantiles"] = times_s.get(tuple(row[name] for name in RUN_POINT), {})
                row = rows[0]
                axes = parse_axes(row["axes"])
                memory = axes.pop("memory", "")
                text = axes_text(axes).replace(f"pairs={row['ranks'] // 2}", "pairs=ranks/2")
                point = f"{row['pattern']} {text}".strip()
                name = names.get((str(transport), point)) or names.get((MPI, point))
                if name and (not memory or memory in self.memories):
                    tables.setdefault(memory, []).append((name, rows))
            for memory, in_memory in sorted(tables.items()) or [("", [])]:
                memory_said = (memory,) if memory else ()
                yield from self.opening(facts.titles.get(library, library), *memory_said)
                for name, rows in in_memory:
                    yield from self.table(name, rows)
                yield from self.closing()


def _quantiles(facts: Facts, shares: tuple[float, ...]) -> Iterable[tuple[Any, ...]]:
    """RUN_POINT, quantile and time of every point; nothing is computed for no `shares`."""
    if not shares:
        return ()
    return quantile_rows(facts, shares).select(*RUN_POINT, "q", "time_s").iter_rows()


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

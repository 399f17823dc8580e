"""Times between all pairs, and the nodes and links that are slower than the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from nhalf.base.numbers import UNKNOWN, WIDEST
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_time
from nhalf.results import Column, FindPlaces, Result
from nhalf.results.pair_map.times import LATENCY, PATTERNS, as_row, hosts_of, pair_maps
from nhalf.results.pair_map.words import equal_text, map_name, sentences

MEMBERS_MAX = 12
"""The number of columns that fit on a terminal."""


class PairMap(Result):
    """One row per library, ranks, placement, kind of map and size."""

    title: ClassVar[str] = "Pair map"
    patterns: ClassVar[frozenset[str]] = frozenset(PATTERNS)
    parts: ClassVar[frozenset[str]] = patterns
    columns: ClassVar[Sequence[Column]] = (
        Column("map", "map"),
        Column("between", "between"),
        Column("middle_s", "median pair", format_time),
        Column("threshold", "slow from"),
        Column("named", "slow"),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Compute the rows without places, so that only ranks can be named."""
        return self.placed(measurements, summary, dict)

    def placed(
        self, measurements: pl.LazyFrame, summary: pl.DataFrame, find_places: FindPlaces
    ) -> list[Row]:
        """One row per map, with the members from results/pair_map/times.py and its names."""
        return [
            _with_names(as_row(pair_map))
            for pair_map in pair_maps(measurements, hosts_of(find_places()))
        ]

    def sentences(self, row: Row) -> list[str]:
        """The slow members, or the statement that there are none."""
        threshold = row["threshold"]
        none = f"nothing is significantly slow (threshold {threshold})"
        sentences = row["sentences"] or ([row["equal"] or none] if threshold else [])
        return [f"{row['map']}: {sentence}" for sentence in sentences]

    def line(self, row: Row) -> str:
        """The median pair, and the number of slow members, which the findings name."""
        middle = self.columns[2].cell(row)
        verdict = row["missing"] or f"slow: {row['named'] if row['slow'] else 'none'}"
        return f"{self.title}, {row['map']}: median pair {middle}, {verdict}"

    def further(self, row: Row) -> tuple[list[str], list[list[str]]] | None:
        """The matrix, if there is room for it."""
        if len(row["members"]) > MEMBERS_MAX:
            return None
        cells = [
            [name, *(_cell(row, time_s) for time_s in line)]
            for name, line in zip(row["members"], row["times_s"], strict=True)
        ]
        return [f"{row['map']}: from, to", *row["members"]], cells


def _cell(row: Row, time_s: float | None) -> str:
    """A time or, for large messages, a rate."""
    if time_s is None:
        return ""
    is_time = row["pattern"] == LATENCY or not row["bytes"]
    return format_time(time_s) if is_time else format_rate(row["bytes"] / time_s)


def _threshold(ratio: float) -> str:
    """The ratio from which on a pair is slow; beyond WIDEST the launches agree on nothing."""
    return f"{ratio:.2f}x" if ratio < WIDEST else UNKNOWN


def _with_names(row: Row) -> Row:
    count = len(row["members"])
    threshold = row.get("threshold_ratio")
    return row | {
        "map": map_name(row),
        "between": f"{count} {row['level']}",
        "threshold": None if threshold is None else _threshold(threshold),
        "named": str(len(row["slow"])) if threshold is not None else None,
        "sentences": sentences(row),
        "equal": equal_text(row),
    }

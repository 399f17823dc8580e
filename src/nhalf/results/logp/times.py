"""Launch medians of the patterns of LogP as vectors over the same launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from nhalf.statistics.intervals import (
    Floats,
    Interval,
    launch_interval,
    signed_interval,
)

SEND, RECEIVE, GAP, ROUND_TRIP = "overhead-send", "overhead-recv", "gap", "roundtrip"

PATTERNS = frozenset({SEND, RECEIVE, GAP, ROUND_TRIP})

NEEDED = ((GAP, 0), (ROUND_TRIP, 0), (ROUND_TRIP, 1), (SEND, 1), (RECEIVE, 1))
"""The points from which every parameter except G follows: pattern and size in bytes."""

ROUNDING = 1e-9
"""On a machine without noise, less than this share of a round trip is 0."""


@dataclass
class Times:
    """Launch medians by pattern and size, as vectors over the same launches."""

    frame: pl.DataFrame
    count: int = 0
    vectors_s: dict[tuple[str, int], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = self.frame.group_by("pattern", "bytes", "launch").agg(pl.col("median_s").median())
        numbers = rows["launch"].unique().sort()
        self.count = len(numbers)
        for (pattern, size), group in rows.group_by("pattern", "bytes"):
            vector = np.full(self.count, np.nan)
            vector[numbers.search_sorted(group["launch"]).to_numpy()] = group["median_s"]
            self.vectors_s[str(pattern), int(str(size))] = vector

    def __call__(self, pattern: str, size: int) -> Floats:
        """Seconds per launch (launches,), NaN if a launch did not measure the point."""
        return self.vectors_s.get((pattern, size), np.full(self.count, np.nan))

    def gap_s(self, size: int) -> Floats:
        """g(m) of each launch, from round trips."""
        return self(ROUND_TRIP, size) - self(ROUND_TRIP, 0) + self(GAP, 0)

    def sizes(self, *patterns: str) -> list[int]:
        """The sizes at which any of the patterns (by default all) was measured."""
        chosen = patterns or tuple(PATTERNS)
        return sorted({size for pattern, size in self.vectors_s if pattern in chosen})


def interval(values: Floats, method: Callable[[Floats], Interval]) -> Interval | None:
    """The interval over the launches that have a value; None if none has."""
    finite = values[np.isfinite(values)]
    return method(finite) if finite.size else None


def positive(values: Floats) -> Interval | None:
    """The interval of directly measured times, one number per launch; NaN marks missing ones."""
    return interval(values, launch_interval)


def signed(values: Floats) -> Interval | None:
    """The interval of differences, which may be negative."""
    return interval(values, signed_interval)


def divided(above: Floats, below: Floats) -> Floats:
    """Divide; NaN where the quotient is undefined."""
    quotient = np.full(above.shape, np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient

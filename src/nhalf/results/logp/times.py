"""Launch medians of the patterns of LogP over the same launches, and what follows from them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from nhalf.statistics.intervals import Floats, Interval, launch_interval, signed_interval

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


def from_round_trips(times: Times) -> Interval | None:
    """g(1) = RTT(1) - RTT(0) + g(0), which may come out below 0."""
    return signed(times.gap_s(1))


def from_stream(times: Times) -> Interval | None:
    """The gap of the stream of one byte or, if that was not measured, of empty messages."""
    of_one_byte = positive(times(GAP, 1))
    return of_one_byte if of_one_byte is not None else positive(times(GAP, 0))


def is_noise(gap: Interval | None) -> bool:
    """Whether a difference of round trips is indistinguishable from 0: a gap is positive."""
    return gap is not None and gap.low <= 0


def reported(times: Times) -> Interval | None:
    """The gap of one byte: from round trips as in the method, if the result is positive."""
    gap, stream = from_round_trips(times), from_stream(times)
    return stream if stream is not None and is_noise(gap) else gap


@dataclass(frozen=True)
class Size:
    """The parameters at one size, each None if it was not measured.

    `gap_s` follows from round trips; `stream_gap_s` was measured in a saturated stream.
    """

    size_bytes: int
    send_overhead_s: Interval | None
    recv_overhead_s: Interval | None
    gap_s: Interval | None
    stream_gap_s: Interval | None


@dataclass(frozen=True)
class LogP:
    """The parameters of one library, in seconds (G: seconds per byte), None if unknown.

    `identifiable` is whether the interval of L lies above 0; None without an interval. `missing`
    says what was not measured, `doubts` what contradicts the model, in sentences.
    """

    launches: int
    half_round_trip_s: Interval | None
    send_overhead_s: Interval | None
    recv_overhead_s: Interval | None
    overhead_s: Interval | None
    gap_s: Interval | None
    latency_s: Interval | None
    gap_per_byte_s: Interval | None
    gap_per_byte_published_s: Interval | None
    parameterised_latency_s: Interval | None
    saturation_gap_s: Interval | None
    busy_share: Interval | None
    identifiable: bool | None
    sizes: tuple[Size, ...] = ()
    missing: str = ""
    doubts: tuple[str, ...] = ()

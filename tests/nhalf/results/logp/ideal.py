"""Machines of known parameters: their launch medians by the formulas, and what must come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from nhalf.results.logp.times import GAP, RECEIVE, ROUND_TRIP, SEND, LogP
from nhalf.statistics.intervals import Interval

SIZES = (0, 1, 8, 1024, 4096, 16384, 65536)

GIVEN = {"o_s": 1.5e-6, "o_r": 2.5e-6, "g": 6e-6, "L": 5e-6, "G": 1e-9}

MACHINES = {
    "gap above overheads": GIVEN,
    "gap below overheads": {**GIVEN, "g": 1e-7},
    "send is the bottleneck": {**GIVEN, "g": 1e-7, "o_s": 7e-6},
    "nothing but the network": {"o_s": 0.0, "o_r": 0.0, "g": 1e-6, "L": 3e-6, "G": 5e-10},
    "slow network": {"o_s": 2e-7, "o_r": 3e-7, "g": 4e-6, "L": 5e-5, "G": 8e-8},
}


def frame(rows: Sequence[tuple[str, int, int, float]]) -> pl.DataFrame:
    columns = {"pattern": pl.String, "bytes": pl.Int64, "launch": pl.Int32, "median_s": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")


def ideal(
    factors: Sequence[float] = (1.0, 1.0),
    sizes: Sequence[int] = SIZES,
    change: Callable[[str, int, float], float] = lambda pattern, size, time_s: time_s,
) -> pl.DataFrame:
    """Launch medians by the formulas, each launch slower by its factor; `change` alters points."""
    o_s, o_r, g, L, G = GIVEN.values()
    formulas = {
        SEND: lambda size: o_s,
        RECEIVE: lambda size: o_r,
        GAP: lambda size: g + size * G,
        ROUND_TRIP: lambda size: 2 * (o_s + L + o_r) + size * G,
    }
    return frame(
        [
            (pattern, size, launch, change(pattern, size, factor * formula(size)))
            for launch, factor in enumerate(factors)
            for pattern, formula in formulas.items()
            for size in sizes
        ]
    )


def truth(given: Mapping[str, float]) -> dict[str, float]:
    """The parameters that must be found, by the formulas at the head of this file."""
    o_s, o_r, g, L, G = (given[name] for name in GIVEN)
    empty_gap = max(g, o_s, o_r)
    half = o_s + L + o_r
    return {
        "half_round_trip_s": half,
        "send_overhead_s": o_s,
        "recv_overhead_s": o_r,
        "overhead_s": (o_s + o_r) / 2,
        "saturation_gap_s": empty_gap,
        "gap_s": empty_gap + G,
        "latency_s": L + G,
        "parameterised_latency_s": half - empty_gap,
        "gap_per_byte_s": G,
        "gap_per_byte_published_s": empty_gap / SIZES[-1] + G,
        "busy_share": (o_s + o_r) / half,
    }


def values(found: LogP) -> dict[str, float]:
    intervals = {name: value for name, value in vars(found).items() if isinstance(value, Interval)}
    return {name: interval.median for name, interval in intervals.items()}


def intervals_of(item: Any) -> list[Interval]:
    return [value for value in vars(item).values() if isinstance(value, Interval)]

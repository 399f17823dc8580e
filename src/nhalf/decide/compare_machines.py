"""Two machines by their models, pattern by pattern, and the crossings between them.

The method is that of G. Abandah's comparison of the SP2 with the SPP-1000 (1995). There is no
significance test: models have no launches that could be paired, and a machine of record has no
intervals.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError
from nhalf.machines.machine import LogGP, Machine
from nhalf.machines.timings import PatternTiming, timings
from nhalf.store.keys import parse_axes

PINGPONG = "pingpong"


@dataclass(frozen=True)
class MachineParameter:
    """One number of both machines, None if it is unknown; `name` ends with its unit."""

    name: str
    a: float | None
    b: float | None


def parameters_of(
    a: Machine,
    b: Machine,
    timed: Sequence[tuple[PatternTiming, PatternTiming]],
    mpi: tuple[str, str],
) -> tuple[MachineParameter, ...]:
    """The parameters of one message, then those of the LogP family, if a machine has them."""
    message = [
        (_message(a_timing), _message(b_timing))
        for a_timing, b_timing in timed
        if a_timing.pattern == PINGPONG
    ]
    a_values, b_values = message[0] if message else ({}, {})
    a_values |= _loggp(a, mpi[0])
    b_values |= _loggp(b, mpi[1])
    names = dict.fromkeys([*a_values, *b_values])
    return tuple(MachineParameter(name, a_values.get(name), b_values.get(name)) for name in names)


def _message(timing: PatternTiming) -> dict[str, float]:
    """Start-up time of the smallest message, rate of the longest ones and n_half."""
    if not timing.curves:
        return {}
    first, last = timing.curves[0].segments[0], timing.curves[0].segments[-1]
    values = {"t0_s": first.time_s(first.from_bytes), "r_inf_Bps": last.r_inf_Bps}
    values["n_half_bytes"] = values["t0_s"] * last.r_inf_Bps
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _loggp(machine: Machine, mpi: str) -> dict[str, float]:
    names = ("latency_s", "send_overhead_s", "recv_overhead_s", "gap_s", "gap_per_byte_s")
    matching: list[LogGP] = [
        loggp for loggp in machine.loggp if not mpi or carrier(loggp.mpi, loggp.transport) == mpi
    ]
    if not matching:
        return {}
    values = {name: getattr(matching[0], name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


SAME = 1.02
"""Smaller ratios do not count as a difference."""
SIZE_MAX = 2**20
"""The largest size for two models without an upper bound."""
RANKS_SHOWN = 4
SIZES_SHOWN = 3
RANKS_SCANNED = 256


@dataclass(frozen=True)
class ComparedSize:
    """Times of both machines at one size."""

    size_bytes: int
    a_s: float
    b_s: float

    @property
    def ratio(self) -> float:
        """Time of B over time of A; NaN where a model says of one that it takes no time."""
        is_ratio = self.a_s > 0 and self.b_s > 0
        return self.b_s / self.a_s if is_ratio else math.nan


@dataclass(frozen=True)
class MachineCrossing:
    """From `at` (a size, or a number of ranks) on the machine `faster` is the faster one."""

    at: int
    faster: str


@dataclass(frozen=True)
class RatioCurve:
    """A pattern of one number of ranks over sizes."""

    ranks: int
    places: tuple[ComparedSize, ...]
    crossings: tuple[MachineCrossing, ...]


@dataclass(frozen=True)
class RankCrossings:
    """The numbers of ranks at which the order changes, for one size."""

    size_bytes: int
    crossings: tuple[MachineCrossing, ...]


@dataclass(frozen=True)
class PatternRatio:
    """One pattern of both machines."""

    a: PatternTiming
    b: PatternTiming
    sized: bool
    curves: tuple[RatioCurve, ...]
    by_ranks: tuple[RankCrossings, ...]


@dataclass(frozen=True)
class MachineComparison:
    """The common patterns of two machines, and those of only one of them."""

    a: Machine
    b: Machine
    parameters: tuple[MachineParameter, ...]
    patterns: tuple[PatternRatio, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def compare_machines(
    a: Machine,
    b: Machine,
    mpi: tuple[str, str] = ("", ""),
    ranks: Sequence[int] = (),
    sizes: Sequence[int] = (),
) -> MachineComparison:
    """Compare every common pattern, at `ranks` and `sizes` (by default some of those both cover).

    Raises InputError if they have nothing in common.
    """
    a_timings, b_timings = timings(a, mpi[0]), timings(b, mpi[1])
    pairs = [
        _pair(a_timing, b_timing, ranks, sizes)
        for a_timing, b_timing in _paired(a_timings, b_timings)
    ]
    patterns = tuple(pair for pair in pairs if pair.curves)
    if not patterns:
        raise InputError(
            f"{a.name} and {b.name} have no model of a common pattern, size and number of ranks",
            "see what they have: nhalf machines show",
        )
    names = [{timing.pattern for timing in side} for side in (a_timings, b_timings)]
    parameters = parameters_of(a, b, [(pattern.a, pattern.b) for pattern in patterns], mpi)
    only_a = tuple(sorted(names[0] - names[1]))
    return MachineComparison(a, b, parameters, patterns, only_a, tuple(sorted(names[1] - names[0])))


def _paired(
    a_timings: Sequence[PatternTiming], b_timings: Sequence[PatternTiming]
) -> list[tuple[PatternTiming, PatternTiming]]:
    """Pair timings of the same pattern, at the same place and timed alike if both have them."""
    chosen: list[tuple[PatternTiming, PatternTiming]] = []
    keys = dict.fromkeys(timing.key for timing in a_timings)
    for key in sorted(keys, key=lambda key: key[0] != PINGPONG):
        sides = [
            [timing for timing in side if timing.key == key] for side in (a_timings, b_timings)
        ]
        pairs = [(a_timing, b_timing) for a_timing in sides[0] for b_timing in sides[1]]
        alike = [
            (a_timing, b_timing) for a_timing, b_timing in pairs if a_timing.where == b_timing.where
        ]
        pairs = alike or pairs[:]
        pairs.sort(key=_likeness)
        used_places: set[tuple[str, str]] = set()
        for a_timing, b_timing in pairs:
            if (a_timing.where, b_timing.where) not in used_places and (alike or not used_places):
                used_places.add((a_timing.where, b_timing.where))
                chosen.append((a_timing, b_timing))
    return chosen


def _likeness(pair: tuple[PatternTiming, PatternTiming]) -> tuple[int, bool, str]:
    """Sorts the most informative pair first: many common numbers of ranks, same kind of timing."""
    common = len(pair[0].ranks() & pair[1].ranks())
    return -min(common, RANKS_SHOWN), pair[0].how != pair[1].how, pair[0].where


def _pair(
    a: PatternTiming, b: PatternTiming, ranks: Sequence[int], sizes: Sequence[int]
) -> PatternRatio:
    sized = a.sized or b.sized
    grid = list(sizes) if sizes and sized else _sizes(a, b, sized)
    common = sorted(a.ranks() & b.ranks())

    def order(n: int, p: int) -> str:
        return faster(a.time_s(n, p), b.time_s(n, p))

    curves = []
    for p in ranks or _chosen_ranks(common):
        places = [ComparedSize(n, a.time_s(n, p), b.time_s(n, p)) for n in grid]
        places = [place for place in places if place.a_s > 0 and place.b_s > 0]
        if places:
            crossings = _changes([place.size_bytes for place in places], partial(order, p=p))
            curves.append(RatioCurve(p, tuple(places), crossings))
    shown = shown_sizes([place.size_bytes for curve in curves for place in curve.places])
    scanned = common[:: -(-len(common) // RANKS_SCANNED) or 1]
    by_ranks = [RankCrossings(n, _changes(scanned, partial(order, n))) for n in shown]
    return PatternRatio(a, b, sized, tuple(curves), tuple(row for row in by_ranks if row.crossings))


def _sizes(a: PatternTiming, b: PatternTiming, sized: bool) -> list[int]:
    """Powers of two that both models cover, with the ends."""
    (low_a, high_a), (low_b, high_b) = a.sizes(), b.sizes()
    low = max(low_a, low_b)
    high = min(SIZE_MAX if high_a is None else high_a, SIZE_MAX if high_b is None else high_b)
    if not sized or high <= low:
        return [low] if high >= low else []
    powers = [2**k for k in range(high.bit_length()) if low < 2**k < high]
    return [low, *powers, high]


def _chosen_ranks(common: Sequence[int]) -> list[int]:
    """A few of the numbers of ranks, powers of two where there are enough, with the last."""
    powers = [p for p in common if p & (p - 1) == 0]
    chosen = powers if len(powers) >= 2 else list(common)
    if len(chosen) <= RANKS_SHOWN:
        return chosen
    step = (len(chosen) - 1) / (RANKS_SHOWN - 1)
    return [chosen[round(place * step)] for place in range(RANKS_SHOWN)]


def shown_sizes(sizes: Sequence[int]) -> list[int]:
    """The smallest, the largest and one in between, as shown in a table."""
    different = sorted(set(sizes))
    if len(different) <= SIZES_SHOWN:
        return different
    return [different[0], different[len(different) // 2], different[-1]]


def faster(a_s: float, b_s: float) -> str:
    """Return the faster machine: 'A', 'B', or '' for neither."""
    if a_s <= 0 or b_s <= 0 or not math.isfinite(a_s + b_s):
        return ""
    if max(a_s / b_s, b_s / a_s) < SAME:
        return ""
    return "A" if a_s < b_s else "B"


def _changes(at: Sequence[int], order: Callable[[int], str]) -> tuple[MachineCrossing, ...]:
    """The values at which the order changes, found by bisection between two of `at`."""
    crossings: list[MachineCrossing] = []
    last, last_at = "", 0
    for value in at:
        now = order(value)
        if now and last and now != last:
            low, high = last_at, value
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if order(middle) == now else (middle, high)
            crossings.append(MachineCrossing(high, now))
        if now:
            last, last_at = now, value
    return tuple(crossings)


def as_json(comparison: MachineComparison) -> dict[str, Any]:
    """The output of `nhalf compare --json` for machines."""
    return {
        "a": comparison.a.name,
        "b": comparison.b.name,
        "parameters": [vars(parameter) for parameter in comparison.parameters],
        "patterns": [_pattern_json(pattern) for pattern in comparison.patterns],
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
    }


def _pattern_json(pattern: PatternRatio) -> dict[str, Any]:
    a, b = pattern.a, pattern.b
    return {
        **{"pattern": a.pattern, "algorithm": a.algorithm, "axes": parse_axes(a.axes)},
        **{"place_a": a.where, "place_b": b.where, "timed_a": a.how, "timed_b": b.how},
        "curves": [
            {
                "ranks": curve.ranks,
                "points": [
                    {"bytes": n.size_bytes, "a_s": n.a_s, "b_s": n.b_s, "ratio": n.ratio}
                    for n in curve.places
                ],
                "crossings": [
                    {"bytes": crossing.at, "faster": crossing.faster}
                    for crossing in curve.crossings
                ],
            }
            for curve in pattern.curves
        ],
        "rank_crossings": [
            {"bytes": row.size_bytes, "ranks": crossing.at, "faster": crossing.faster}
            for row in pattern.by_ranks
            for crossing in row.crossings
        ],
    }

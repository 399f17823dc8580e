# SPDX-License-Identifier: Apache-2.0
"""The parameters of the LogP family from four patterns, by the parameterised method.

o_s(m), o_r(m) are what a processor spends in a send and in a receive of m bytes, g(m) is the time
between two messages, L what is left of the way. Only g(0) needs a saturated network (T. Kielmann,
H. Bal, K. Verstoep, Fast Measurement of LogP Parameters for Message Passing Platforms, IPDPS 2000
Workshops, LNCS 1800):

    g(0) from a stream of empty messages;  RTT(m): m bytes there, an empty message back
    g(m) = RTT(m) - RTT(0) + g(0)          L = RTT(0)/2 - g(0)

and, in the terms of LogP (D. Culler et al., PPoPP 1993) and LogGP (A. Alexandrov et al., SPAA
1995), in which L leaves out what the processors do,

    L_LogP = L + g(1) - o_s(1) - o_r(1)    o = (o_s(1) + o_r(1))/2    g = g(1)
    G = slope of g(m) over large m; published values are g(m)/m at the largest m

Each launch gives one set of parameters, and intervals are taken over those sets: what a launch
does to all of its times cancels in their differences. Nothing is clipped: what comes out against
the assumptions of the model is said (`doubts`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.units import format_size, format_time
from nhalf.statistics.intervals import (
    Floats,
    Interval,
    launch_interval,
    ratio_interval,
    signed_interval,
)
from nhalf.statistics.summary import launch_medians
from nhalf.store.keys import RUN_SUBJECT

SEND, RECEIVE, GAP, ROUND_TRIP = "overhead-send", "overhead-recv", "gap", "roundtrip"
PATTERNS = frozenset({SEND, RECEIVE, GAP, ROUND_TRIP})

NEEDED = ((GAP, 0), (ROUND_TRIP, 0), (ROUND_TRIP, 1), (SEND, 1), (RECEIVE, 1))
"""What every parameter but G follows from: pattern and size in bytes."""

LARGE = 16
"""G is the slope over the sizes from a sixteenth of the largest one on."""
GROWTH = 2.0
"""G is given where the largest size has at least this many times the gap of an empty message:
otherwise nothing that was measured depends on the size."""
EXCESS = 1.02
"""An overhead counts as greater than the gap where its interval lies above this many times it."""
STREAM = 1.25
"""A stream counts as different from what round trips say beyond this factor."""
NEARLY = 0.8
"""Above this share of half a round trip, what the processors do is nearly all of it."""
NOISY = "its launches differ too much: measure more of them, or on an idle machine"
ROUNDING = 1e-9
"""On a machine without noise, less than this share of a round trip is 0."""


@dataclass(frozen=True)
class Size:
    """The parameters at one size, each None where it was not measured.

    `gap_s` follows from round trips; `stream_gap_s` was measured in a saturated stream.
    """

    size_bytes: int
    send_overhead_s: Interval | None
    recv_overhead_s: Interval | None
    gap_s: Interval | None
    stream_gap_s: Interval | None


@dataclass(frozen=True)
class LogP:
    """The parameters of one library, in seconds (G: seconds per byte), None where unknown.

    `identifiable` is whether the interval of L lies above 0; None where there is no interval.
    `missing` says what was not measured, `doubts` what speaks against the model, in sentences.
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


def each_logp(measurements: pl.LazyFrame) -> list[tuple[dict[str, Any], LogP]]:
    """The parameters of every subject (RUN_SUBJECT) for which one of the patterns was measured."""
    sound = pl.col("pattern").is_in(list(PATTERNS)) & pl.col("verified")
    launches = launch_medians(measurements.filter(sound))
    return [
        (dict(zip(RUN_SUBJECT, subject, strict=True)), logp(rows))
        for subject, rows in launches.group_by(RUN_SUBJECT, maintain_order=True)
    ]


def logp(launches: pl.DataFrame) -> LogP:
    """The parameters of one library from its launch medians.

    `launches` has the columns pattern, bytes, launch and median_s (seconds), of sound points only.
    """
    times = _Times(launches)
    half_s = times(ROUND_TRIP, 0) / 2
    empty_gap_s = times(GAP, 0)
    send_s, receive_s = times(SEND, 1), times(RECEIVE, 1)
    # The sum L + g(1), in which the gap of empty messages cancels: L is known without it.
    latency_s = _signed(times(ROUND_TRIP, 1) - half_s - send_s - receive_s)
    parameterised_s = _signed(half_s - empty_gap_s)
    slopes = _slopes(times)
    largest = max(times.sizes(ROUND_TRIP), default=0)
    sizes = tuple(_size(times, size) for size in times.sizes())
    found = LogP(
        launches=times.count,
        half_round_trip_s=_positive(half_s),
        send_overhead_s=_positive(send_s),
        recv_overhead_s=_positive(receive_s),
        overhead_s=_positive((send_s + receive_s) / 2),
        gap_s=_signed(times.gap_s(1)),
        latency_s=latency_s,
        gap_per_byte_s=_signed(slopes),
        gap_per_byte_published_s=_signed(times.gap_s(largest) / largest) if largest else None,
        parameterised_latency_s=parameterised_s,
        saturation_gap_s=_positive(empty_gap_s),
        busy_share=_positive(_divided(send_s + receive_s, half_s)),
        identifiable=_identifiable(latency_s, _positive(half_s), times.count),
        sizes=sizes,
        missing=_missing(times, slopes),
    )
    return _with_doubts(found, times)


@dataclass
class _Times:
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
        """Seconds per launch (launches,), NaN where a launch did not measure the point."""
        return self.vectors_s.get((pattern, size), np.full(self.count, np.nan))

    def gap_s(self, size: int) -> Floats:
        """g(m) of each launch, from round trips."""
        return self(ROUND_TRIP, size) - self(ROUND_TRIP, 0) + self(GAP, 0)

    def sizes(self, *patterns: str) -> list[int]:
        """The sizes at which any of the patterns (of all, where none is named) was measured."""
        chosen = patterns or tuple(PATTERNS)
        return sorted({size for pattern, size in self.vectors_s if pattern in chosen})


def _size(times: _Times, size: int) -> Size:
    return Size(
        size_bytes=size,
        send_overhead_s=_positive(times(SEND, size)),
        recv_overhead_s=_positive(times(RECEIVE, size)),
        gap_s=_signed(times.gap_s(size)),
        stream_gap_s=_positive(times(GAP, size)),
    )


def _interval(values: Floats, method: Callable[[Floats], Interval]) -> Interval | None:
    there = values[np.isfinite(values)]
    return method(there) if there.size else None


def _positive(values: Floats) -> Interval | None:
    """Of what was measured itself, one number per launch; NaN marks launches without it."""
    return _interval(values, launch_interval)


def _signed(values: Floats) -> Interval | None:
    """Of differences, which may be negative."""
    return _interval(values, signed_interval)


def _divided(above: Floats, below: Floats) -> Floats:
    """The quotient, NaN where there is none."""
    quotient = np.full(above.shape, np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def _slopes(times: _Times) -> Floats:
    """G of each launch: the middle of the slopes between all pairs of large sizes.

    (H. Theil, Indagationes Mathematicae 12 (1950) 85; P. Sen, JASA 63 (1968) 1379.) One size that
    went wrong does not bend it. NaN where a launch has no two of them.
    """
    nothing = np.full(times.count, np.nan)
    measured = times.sizes(ROUND_TRIP)
    if not measured or not _grows(times, measured[-1]):
        return nothing
    large = [size for size in measured if size >= measured[-1] / LARGE]
    gaps = np.array([times.gap_s(size) for size in large])
    first, second = np.triu_indices(len(large), k=1)
    between = np.subtract(*(np.array(large, dtype=np.float64)[i] for i in (second, first)))
    slopes = (gaps[second] - gaps[first]) / between[:, None]
    some = np.isfinite(slopes).any(axis=0)
    nothing[some] = np.nanmedian(slopes[:, some], axis=0)
    return nothing


def _grows(times: _Times, largest: int) -> bool:
    """Whether the largest message costs much more than an empty one."""
    ratio = _signed(_divided(times.gap_s(largest), times(GAP, 0)))
    return ratio is not None and ratio.median >= GROWTH


def _missing(times: _Times, slopes: Floats) -> str:
    """What was not measured, in a sentence; '' where everything was."""
    lacking = [(p, s) for p, s in NEEDED if not np.isfinite(times(p, s)).any()]
    if lacking:
        points = _listed([f"{pattern} of {size} B" for pattern, size in lacking])
        return f"{points} {'was' if len(lacking) == 1 else 'were'} not measured"
    together = np.isfinite(sum(times(pattern, size) for pattern, size in NEEDED))
    if not together.any():
        return "no launch measured all that the parameters need"
    if not np.isfinite(slopes).any():
        return "G needs two large sizes, whose messages clearly take longer than an empty one"
    return ""


def _identifiable(
    latency_s: Interval | None, half_s: Interval | None, launches: int
) -> bool | None:
    """Whether the interval of L excludes 0; None where there is none."""
    if latency_s is None or half_s is None or launches < 2:
        return None
    return latency_s.low > ROUNDING * half_s.median


def _with_doubts(found: LogP, times: _Times) -> LogP:
    doubts = [
        *_about_latency(found),
        *_about_parameterised(found),
        *_about_overheads(times),
        *_about_stream(times),
        *_about_clock(found),
    ]
    return LogP(**{**vars(found), "doubts": tuple(doubts)})


def _about_latency(found: LogP) -> Iterable[str]:
    """Where L cannot be told from 0, what can be told instead."""
    half, latency = found.half_round_trip_s, found.latency_s
    if half is None or latency is None or found.identifiable is not False:
        return
    yield (
        f"L cannot be told from 0 ({_with_ends(latency)}), because {_reason(found)}; what can be "
        f"used is half a round trip, the sum L + o_s + o_r: {_with_ends(half)}"
    )


def _reason(found: LogP) -> str:
    """Why L cannot be told from 0."""
    half, latency, busy = found.half_round_trip_s, found.latency_s, found.busy_share
    if half is None or latency is None or busy is None or not _sure(latency, half):
        return NOISY
    if busy.median > 1:
        return (
            "o_s + o_r, timed apart, is more than the whole way of a message: a receive that has "
            "to wait does part of its work before the message comes"
        )
    if busy.median > NEARLY:
        return "the processors' own work, o_s + o_r, is nearly the whole way of a message here"
    return NOISY


def _about_parameterised(found: LogP) -> Iterable[str]:
    """The same for the L of the parameterised method, which leaves out g(0) instead."""
    half, gap, latency = (
        found.half_round_trip_s,
        found.saturation_gap_s,
        found.parameterised_latency_s,
    )
    if half is None or gap is None or latency is None or found.launches < 2:
        return
    if latency.low > ROUNDING * half.median:
        return
    own = gap.median > NEARLY * half.median
    why = "messages follow each other hardly faster than one of them arrives"
    yield (
        "L of the parameterised model, RTT(0)/2 - g(0), cannot be told from 0 "
        f"({_with_ends(latency)}), because {why if own and _sure(latency, half) else NOISY}"
    )


def _sure(latency: Interval, half: Interval) -> bool:
    """Whether the interval of L is narrow against what L is a part of."""
    return latency.high - latency.low < half.median


def _about_overheads(times: _Times) -> Iterable[str]:
    """The model has o_s(m), o_r(m) <= g(m): sizes at which they are not, if any."""
    kinds: Mapping[str, tuple[str, str]] = {
        "o_s": (
            SEND,
            "a send alone takes longer than a message in a stream, as where it waits for "
            "the receiver",
        ),
        "o_r": (RECEIVE, "a receive that begins after a pause takes longer than one in a stream"),
    }
    for name, (pattern, why) in kinds.items():
        beyond: dict[int, tuple[float, float]] = {}
        for size in times.sizes(pattern):
            overhead_s, gap_s = times(pattern, size), times.gap_s(size)
            excess = _signed(overhead_s - EXCESS * gap_s)
            if excess is not None and excess.low > 0:
                beyond[size] = float(np.nanmedian(overhead_s)), float(np.nanmedian(gap_s))
        if beyond:
            worst = max(beyond, key=lambda size: beyond[size][0] - beyond[size][1])
            overhead, gap = (format_time(value) for value in beyond[worst])
            yield (
                f"{name} exceeds g {_at(list(beyond), worst, f'{overhead} against {gap}')}, "
                f"which the model does not know: {why}"
            )


def _about_stream(times: _Times) -> Iterable[str]:
    """Whether large messages in a stream come as far apart as the round trips say."""
    apart: dict[int, Interval] = {}
    for size in times.sizes(GAP):
        stream_s, gap_s = times(GAP, size), times.gap_s(size)
        both = (stream_s > 0) & (gap_s > 0)
        if size and both.any():
            ratio = ratio_interval(stream_s[both] / gap_s[both])
            if ratio.low > STREAM or ratio.high < 1 / STREAM:
                apart[size] = ratio
    if not apart:
        return
    worst = max(apart, key=lambda size: abs(math.log(apart[size].median)))
    ratio = apart[worst]
    slower = ratio.median > 1
    factor = ratio.median if slower else 1 / ratio.median
    words = "farther apart" if slower else "closer together"
    why = "they wait for each other" if slower else "they are sent and received at the same time"
    yield (
        f"in a stream messages come {words} than g(m) = RTT(m) - RTT(0) + g(0) says "
        f"{_at(list(apart), worst, f'{factor:.2g} times')}, because {why}"
    )


def _about_clock(found: LogP) -> Iterable[str]:
    """Overheads that the clock cannot see."""
    for name, attribute in (("o_s", "send_overhead_s"), ("o_r", "recv_overhead_s")):
        below = [
            size.size_bytes
            for size in found.sizes
            if (value := getattr(size, attribute)) is not None and value.median <= 0
        ]
        if below:
            where = _at(below, below[0], "shown as 0")
            yield f"{name} is below what the clock can resolve {where}"


def _at(sizes: list[int], worst: int, how: str) -> str:
    """'at 1 B (9 ns)', 'at 3 sizes from 1 B to 8 B (most at 4 B: 9 ns)'."""
    if len(sizes) == 1:
        return f"at {format_size(sizes[0])} ({how})"
    first, last = format_size(sizes[0]), format_size(sizes[-1])
    return f"at {len(sizes)} sizes from {first} to {last} (most at {format_size(worst)}: {how})"


def _with_ends(interval: Interval) -> str:
    """'371 ns, 360 ns to 380 ns'."""
    ends = f"{format_time(interval.low)} to {format_time(interval.high)}"
    return f"{format_time(interval.median)}, interval {ends}"


def _listed(words: list[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))

"""The parameters of the LogP family from four patterns, by the parameterised method.

o_s(m), o_r(m) are the processor time of a send and of a receive of m bytes, g(m) is the time
between two messages, L the rest of the transfer. Only g(0) needs a saturated network (T. Kielmann,
H. Bal, K. Verstoep, Fast Measurement of LogP Parameters for Message Passing Platforms, IPDPS 2000
Workshops, LNCS 1800):

    g(0) from a stream of empty messages;  RTT(m): m bytes there, an empty message back
    g(m) = RTT(m) - RTT(0) + g(0)          L = RTT(0)/2 - g(0)

and, in the terms of LogP (D. Culler et al., PPoPP 1993) and LogGP (A. Alexandrov et al., SPAA
1995), in which L excludes the processors' work,

    L_LogP = L + g(1) - o_s(1) - o_r(1)    o = (o_s(1) + o_r(1))/2    g = g(1)
    G = slope of g(m) over large m; published values are g(m)/m at the largest m

Each launch gives one set of parameters, and intervals are taken over those sets: a disturbance of
a whole launch cancels in the differences. Nothing is clipped: results that contradict the model's
assumptions are reported (`doubts`). If g(1) is indistinguishable from 0 because of noise, the gap
timed in the stream is reported, with a warning.
"""

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.listing import listed
from nhalf.base.numbers import format_number
from nhalf.base.units import format_size, format_time
from nhalf.results.logp.times import (
    GAP,
    NEEDED,
    PATTERNS,
    RECEIVE,
    ROUND_TRIP,
    ROUNDING,
    SEND,
    LogP,
    Size,
    Times,
    divided,
    from_round_trips,
    from_stream,
    is_noise,
    positive,
    reported,
    signed,
)
from nhalf.statistics.intervals import Floats, Interval, ratio_interval
from nhalf.statistics.summary import reported_medians
from nhalf.store.keys import RUN_SUBJECT

LARGE = 16
"""G is the slope over the sizes of at least a sixteenth of the largest one."""
GROWTH = 2.0
"""G is reported if the largest size has at least this many times the gap of an empty message:
otherwise no measured time depends on the size."""
IN_STATE = "in the state of the machine that most of the run was measured in"


def each_logp(stated: pl.DataFrame) -> list[tuple[dict[str, Any], LogP]]:
    """The parameters of every subject (RUN_SUBJECT) for which one of the patterns was measured.

    `stated` are all visits of the runs with their states (`stated_visits`): the parameters are
    those in the state of the machine that most of a run was measured in.
    """
    sound = pl.col("pattern").is_in(list(PATTERNS)) & pl.col("verified")
    launches = reported_medians(stated.filter(sound))
    elsewhere = stated.filter(sound & pl.col("elsewhere"))
    parameters = []
    for key, rows in launches.group_by(RUN_SUBJECT, maintain_order=True):
        subject = dict(zip(RUN_SUBJECT, key, strict=True))
        lost = elsewhere.filter(*(pl.col(name) == value for name, value in subject.items()))
        parameters.append((subject, logp(rows, set(lost.select("pattern", "bytes").rows()))))
    return parameters


def logp(launches: pl.DataFrame, elsewhere: Set[tuple[str, int]] = frozenset()) -> LogP:
    """The parameters of one library from its launch medians.

    `launches` has the columns pattern, bytes, launch and median_s (seconds), of valid points only;
    `elsewhere` are the patterns and sizes that were measured in another state of the machine.
    """
    times = Times(launches)
    half_s = times(ROUND_TRIP, 0) / 2
    empty_gap_s = times(GAP, 0)
    send_s, receive_s = times(SEND, 1), times(RECEIVE, 1)
    # In the sum L + g(1) the gap of empty messages cancels: L is known without it.
    latency_s = signed(times(ROUND_TRIP, 1) - half_s - send_s - receive_s)
    parameterised_s = signed(half_s - empty_gap_s)
    slopes = _slopes(times)
    largest = max(times.sizes(ROUND_TRIP), default=0)
    sizes = tuple(_size(times, size) for size in times.sizes())
    parameters = LogP(
        launches=times.count,
        half_round_trip_s=positive(half_s),
        send_overhead_s=positive(send_s),
        recv_overhead_s=positive(receive_s),
        overhead_s=positive((send_s + receive_s) / 2),
        gap_s=reported(times),
        latency_s=latency_s,
        gap_per_byte_s=signed(slopes),
        gap_per_byte_published_s=signed(times.gap_s(largest) / largest) if largest else None,
        parameterised_latency_s=parameterised_s,
        saturation_gap_s=positive(empty_gap_s),
        busy_share=positive(divided(send_s + receive_s, half_s)),
        identifiable=_identifiable(latency_s, positive(half_s), times.count),
        sizes=sizes,
        missing=_missing(times, slopes, elsewhere),
    )
    return with_warnings(parameters, times)


def _size(times: Times, size: int) -> Size:
    return Size(
        size_bytes=size,
        send_overhead_s=positive(times(SEND, size)),
        recv_overhead_s=positive(times(RECEIVE, size)),
        gap_s=signed(times.gap_s(size)),
        stream_gap_s=positive(times(GAP, size)),
    )


def _slopes(times: Times) -> Floats:
    """G of each launch: the median of the slopes between all pairs of large sizes.

    (H. Theil, Indagationes Mathematicae 12 (1950) 85; P. Sen, JASA 63 (1968) 1379.) A single
    outlier does not bias it. NaN for launches with fewer than two large sizes.
    """
    nothing = np.full(times.count, np.nan)
    measured = times.sizes(ROUND_TRIP)
    if not measured:
        return nothing
    # Whether the largest message costs much more than an empty one.
    growth = signed(divided(times.gap_s(measured[-1]), times(GAP, 0)))
    if growth is None or growth.median < GROWTH:
        return nothing
    large = [size for size in measured if size >= measured[-1] / LARGE]
    gaps = np.array([times.gap_s(size) for size in large])
    first, second = np.triu_indices(len(large), k=1)
    between = np.subtract(*(np.array(large, dtype=np.float64)[i] for i in (second, first)))
    slopes = (gaps[second] - gaps[first]) / between[:, None]
    some = np.isfinite(slopes).any(axis=0)
    nothing[some] = np.nanmedian(slopes[:, some], axis=0)
    return nothing


def _missing(times: Times, slopes: Floats, elsewhere: Set[tuple[str, int]]) -> str:
    """What was not measured, in a sentence; '' if nothing is missing."""
    lacking = [(p, s) for p, s in NEEDED if not np.isfinite(times(p, s)).any()]
    if lacking:
        points = listed([f"{pattern} of {size} B" for pattern, size in lacking])
        state = f" {IN_STATE}" if elsewhere >= set(lacking) else ""
        return f"{points} {'was' if len(lacking) == 1 else 'were'} not measured{state}"
    together = np.isfinite(sum(times(pattern, size) for pattern, size in NEEDED))
    if not together.any():
        return "no launch measured all the points that the parameters need"
    if not np.isfinite(slopes).any():
        return "G needs two large sizes, whose messages clearly take longer than an empty one"
    return ""


def _identifiable(
    latency_s: Interval | None, half_s: Interval | None, launches: int
) -> bool | None:
    """Whether the interval of L excludes 0; None without an interval."""
    if latency_s is None or half_s is None or launches < 2:
        return None
    return latency_s.low > ROUNDING * half_s.median


EXCESS = 1.02
"""An overhead exceeds the gap if its interval lies above this many times the gap."""

STREAM = 1.25
"""Beyond this factor, the gap of a stream differs from that of round trips."""

NEARLY = 0.8
"""Above this share of half a round trip, the processors' work is nearly all of it."""

NOISY = "its launches differ too much: measure more of them, or on an idle machine"


def with_warnings(parameters: LogP, times: Times) -> LogP:
    """Add to the parameters the warnings about them."""
    warnings = [
        *_about_latency(parameters),
        *_about_parameterised(parameters),
        *_about_overheads(times),
        *_about_gap(times),
        *_about_stream(times),
        *_about_clock(parameters),
    ]
    return replace(parameters, doubts=tuple(warnings))


def _about_latency(parameters: LogP) -> Iterable[str]:
    """If L cannot be distinguished from 0, what to use instead."""
    half, latency = parameters.half_round_trip_s, parameters.latency_s
    if half is None or latency is None or parameters.identifiable is not False:
        return
    yield (
        f"L is indistinguishable from 0 ({_with_ends(latency)}), because {_reason(parameters)}; "
        f"use half a round trip, the sum L + o_s + o_r, instead: {_with_ends(half)}"
    )


def _reason(parameters: LogP) -> str:
    """Why L cannot be distinguished from 0."""
    half, latency, busy = parameters.half_round_trip_s, parameters.latency_s, parameters.busy_share
    if half is None or latency is None or busy is None or not _sure(latency, half):
        return NOISY
    if busy.median > 1:
        return (
            "o_s + o_r, timed separately, exceed the total time of a message: a receive that has "
            "to wait does part of its work before the message arrives"
        )
    if busy.median > NEARLY:
        return "the processors' own work, o_s + o_r, is nearly the total time of a message here"
    return NOISY


def _about_parameterised(parameters: LogP) -> Iterable[str]:
    """If L of the parameterised method, from which g(0) is subtracted, is lost in the noise."""
    half, gap, latency = (
        parameters.half_round_trip_s,
        parameters.saturation_gap_s,
        parameters.parameterised_latency_s,
    )
    if half is None or gap is None or latency is None or parameters.launches < 2:
        return
    if latency.low > ROUNDING * half.median:
        return
    own = gap.median > NEARLY * half.median
    why = "the gap between messages is nearly the time that one of them takes"
    yield (
        "L of the parameterised model, RTT(0)/2 - g(0), is indistinguishable from 0 "
        f"({_with_ends(latency)}), because {why if own and _sure(latency, half) else NOISY}"
    )


def _sure(latency: Interval, half: Interval) -> bool:
    """Whether the interval of L is narrow compared with the whole that L is part of."""
    return latency.high - latency.low < half.median


def _about_overheads(times: Times) -> Iterable[str]:
    """The model assumes o_s(m), o_r(m) <= g(m): sizes that violate this, if any."""
    kinds: Mapping[str, tuple[str, str]] = {
        "o_s": (
            SEND,
            "a send alone takes longer than a message in a stream, for example because it waits "
            "for the receiver",
        ),
        "o_r": (RECEIVE, "a receive that begins after a pause takes longer than one in a stream"),
    }
    for name, (pattern, why) in kinds.items():
        beyond: dict[int, tuple[float, float]] = {}
        for size in times.sizes(pattern):
            overhead_s, gap_s = times(pattern, size), times.gap_s(size)
            excess = signed(overhead_s - EXCESS * gap_s)
            if excess is not None and excess.low > 0:
                beyond[size] = float(np.nanmedian(overhead_s)), float(np.nanmedian(gap_s))
        if beyond:
            worst = max(beyond, key=lambda size: beyond[size][0] - beyond[size][1])
            overhead, gap = (format_time(value) for value in beyond[worst])
            yield (
                f"{name} exceeds g {_at(list(beyond), worst, f'{overhead} against {gap}')}, "
                f"which the model does not allow: {why}"
            )


def _about_gap(times: Times) -> Iterable[str]:
    """If g is the stream's, because the difference of round trips is lost in their noise."""
    gap_s = from_round_trips(times)
    if gap_s is not None and is_noise(gap_s) and from_stream(times) is not None:
        yield (
            f"g(1) = RTT(1) - RTT(0) + g(0) is indistinguishable from 0 ({_with_ends(gap_s)}), "
            "because round trips differ too much between launches; g is the gap of the stream "
            "instead"
        )


def _about_stream(times: Times) -> Iterable[str]:
    """Whether the gap of large messages in a stream agrees with the round trips."""
    apart: dict[int, Interval] = {}
    for size in times.sizes(GAP):
        stream_s, gap_s = times(GAP, size), times.gap_s(size)
        is_usable = (stream_s > 0) & (gap_s > 0)
        if size and is_usable.any():
            ratio = ratio_interval(stream_s[is_usable] / gap_s[is_usable])
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
        f"in a stream messages arrive {words} than g(m) = RTT(m) - RTT(0) + g(0) predicts "
        f"{_at(list(apart), worst, f'{format_number(factor, 2)} times')}, because {why}"
    )


def _about_clock(parameters: LogP) -> Iterable[str]:
    """Overheads below the clock resolution."""
    for name, attribute in (("o_s", "send_overhead_s"), ("o_r", "recv_overhead_s")):
        below = [
            size.size_bytes
            for size in parameters.sizes
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

"""Warnings about the parameters of a library, in sentences, and usable alternatives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from nhalf.base.numbers import format_number
from nhalf.base.units import format_size, format_time
from nhalf.results.logp import gap
from nhalf.results.logp.times import (
    GAP,
    RECEIVE,
    ROUNDING,
    SEND,
    Times,
    signed,
)
from nhalf.results.logp.values import LogP
from nhalf.statistics.intervals import (
    Interval,
    ratio_interval,
)

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
    return LogP(**{**vars(parameters), "doubts": tuple(warnings)})


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
    gap_s = gap.from_round_trips(times)
    if gap_s is not None and gap.is_noise(gap_s) and gap.from_stream(times) is not None:
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

# SPDX-License-Identifier: Apache-2.0
"""A curve in straight pieces whose coefficients are never negative and never beyond a link's rate.

Simulators that multiply a latency and a rate can follow a line t0 + n/r with t0 >= 0 and
r <= rate of the link only. Published curves have more: terms of sqrt(n), t0 < 0, times that do not
grow at all. Such a range is divided until each piece is near enough.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nhalf.machines.curve import starts
from nhalf.machines.machine import FittedModel, Segment

ERROR = 0.002
"""Relative, of a piece; doubled until few enough pieces are left."""
PIECES_MAX = 128
"""Of a curve of few segments; one of many may have PIECES_PER_RANGE for each of them."""
PIECES_PER_RANGE = 2


@dataclass(frozen=True)
class Piece:
    """From `from_bytes` on, a message takes t0_s + n per_byte_s; both are at least 0."""

    from_bytes: int
    t0_s: float
    per_byte_s: float


def fastest_Bps(model: FittedModel) -> float:
    """The rate that a link needs at least: of no segment, and of no message, is it less."""
    rates = [1.0]
    for segment in model.segments:
        if math.isfinite(segment.r_inf_Bps) and segment.t0_s >= 0:
            rates.append(segment.r_inf_Bps)
        for size in (segment.from_bytes, segment.to_bytes):
            time_s = segment.time_s(size)
            if time_s > 0:
                rates.append(size / time_s)
    return max(rates)


def pieces(model: FittedModel, link_Bps: float, borders: Sequence[int] = ()) -> list[Piece]:
    """The curve in pieces, the first from 0, with a new one at each of the borders.

    `link_Bps` is at least `fastest_Bps(model)`.
    """
    least_s = 1 / link_Bps
    ranges = _ranges(model, borders)
    pieces_max = max(PIECES_MAX, PIECES_PER_RANGE * len(ranges))
    error = ERROR
    while True:
        # A range needs one piece at least, so some error leaves few enough.
        every = (
            piece
            for segment, low, high in ranges
            for piece in _pieces_of(_within(_extended(segment), least_s), low, high, least_s, error)
        )
        found = list(itertools.islice(every, pieces_max + 1))
        if len(found) <= pieces_max:
            return found
        error *= 2


def _ranges(model: FittedModel, borders: Sequence[int]) -> list[tuple[Segment, int, int]]:
    """Each segment between neighbouring borders, with the first and the last size."""
    found = []
    first = starts(model)
    ends = [*first[1:], max(model.segments[-1].to_bytes, first[-1]) + 1]
    for segment, low, end in zip(model.segments, first, ends, strict=True):
        cuts = sorted({low, *(border for border in borders if low < border < end)})
        for start, stop in zip(cuts, [*cuts[1:], end], strict=True):
            found.append((segment, start, stop - 1))
    return found


def _within(time_s: Callable[[float], float], least_s: float) -> Callable[[float], float]:
    """The time of a message that no link of `least_s` a byte can be ahead of."""
    return lambda size_bytes: max(time_s(size_bytes), size_bytes * least_s)


def _extended(segment: Segment) -> Callable[[float], float]:
    """The time of a segment; below its first size, where it could come to less than nothing, that
    of the first size.
    """
    if segment.t0_s >= 0 and segment.root_s >= 0:
        return segment.time_s
    return lambda size_bytes: segment.time_s(max(size_bytes, segment.from_bytes))


def _pieces_of(
    time_s: Callable[[float], float], low: int, high: int, least_s: float, error: float
) -> Iterator[Piece]:
    """One piece from `low` to `high` where it is near enough, otherwise those of both halves."""
    high = max(low, high)
    piece = _piece(time_s, low, high, least_s)
    looked_at = {low, (low + high) // 2, (3 * low + high) // 4, (low + 3 * high) // 4, high}
    near = all(
        abs(piece.t0_s + size * piece.per_byte_s - time_s(size)) <= error * abs(time_s(size))
        for size in looked_at
    )
    if near or high <= low:
        yield piece
        return
    # Where the link is too slow for the curve the absolute error counts, elsewhere the relative.
    even = piece.per_byte_s == least_s
    halfway = (low + high + 1) // 2 if even else round(math.sqrt(max(low, 1) * high))
    middle = min(max(halfway, low + 1), high)
    yield from _pieces_of(time_s, low, middle - 1, least_s, error)
    yield from _pieces_of(time_s, middle, high, least_s, error)


def _piece(time_s: Callable[[float], float], low: int, high: int, least_s: float) -> Piece:
    """The line through both ends, or through the middle where that would be no possible one."""
    at_low, at_high = max(0.0, time_s(low)), max(0.0, time_s(high))
    slope_s = (at_high - at_low) / (high - low) if high > low else least_s
    start_s = at_low - low * slope_s
    if slope_s >= least_s and start_s >= 0:
        return Piece(low, start_s, slope_s)
    middle = (low + high) / 2
    at_middle = max(0.0, time_s(middle))
    slope_s = max(slope_s, least_s)
    if at_middle < slope_s * middle:
        slope_s = max(least_s, at_middle / middle)
    return Piece(low, max(0.0, at_middle - slope_s * middle), slope_s)

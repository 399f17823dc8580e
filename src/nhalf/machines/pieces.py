"""Linear pieces of a curve, with coefficients that are not negative and within a link's rate.

Simulators that scale a latency and a rate can only follow a line t0 + n/r with t0 >= 0 and
r <= rate of the link. Published curves have more: terms of sqrt(n), t0 < 0, times that do not
grow at all. Such a range is divided until each piece is accurate enough.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from nhalf.machines.machine import FittedModel, Segment

ERROR = 0.002
"""Relative error of a piece; doubled until the pieces are few enough."""
PIECES_MAX = 128
"""Largest number of pieces of a curve, unless PIECES_PER_RANGE times its segments is larger."""
PIECES_PER_RANGE = 2


@dataclass(frozen=True)
class LinearPiece:
    """A line t0_s + n per_byte_s from `from_bytes` on, beside `busy_s`; none is below 0."""

    from_bytes: int
    t0_s: float
    per_byte_s: float
    busy_s: float = 0.0


def fastest_Bps(model: FittedModel) -> float:
    """The least rate of a link that is no less than any segment's and any message's."""
    rates = [1.0]
    for segment in model.segments:
        if math.isfinite(segment.r_inf_Bps) and segment.t0_s >= 0:
            rates.append(segment.r_inf_Bps)
        for size in (segment.from_bytes, segment.to_bytes):
            time_s = segment.time_s(size)
            if time_s > 0:
                rates.append(size / time_s)
    return max(rates)


def pieces(
    model: FittedModel, link_Bps: float, borders: Sequence[int] = (), busy_s: float = 0.0
) -> list[LinearPiece]:
    """The curve in pieces, the first from 0, with a new one at each of the borders.

    `link_Bps` is at least `fastest_Bps(model)`. Where a segment begins below `busy_s`, which the
    processors need of every message, its pieces are of what remains, if the link can do that.
    """
    least_s = 1 / link_Bps
    ranges = _ranges(model, borders)
    pieces_max = max(PIECES_MAX, PIECES_PER_RANGE * len(ranges))
    error = ERROR
    while True:
        # A range needs only one piece, so that some error yields few enough.
        candidates = (
            replace(piece, busy_s=apart_s)
            for segment, low, high in ranges
            for apart_s in (_apart_s(segment, (low, high), busy_s, least_s),)
            for piece in _pieces_of(
                _within(_extended(segment), apart_s, least_s), low, high, least_s, error
            )
        )
        kept_pieces = list(itertools.islice(candidates, pieces_max + 1))
        if len(kept_pieces) <= pieces_max:
            return kept_pieces
        error *= 2


def _ranges(model: FittedModel, borders: Sequence[int]) -> list[tuple[Segment, int, int]]:
    """Each segment between neighbouring borders, with the first and the last size."""
    ranges = []
    first = model.start_bytes
    ends = [*first[1:], max(model.segments[-1].to_bytes, first[-1]) + 1]
    for segment, low, end in zip(model.segments, first, ends, strict=True):
        cuts = sorted({low, *(border for border in borders if low < border < end)})
        for start, stop in zip(cuts, [*cuts[1:], end], strict=True):
            ranges.append((segment, start, stop - 1))
    return ranges


def _apart_s(segment: Segment, ends_bytes: tuple[int, int], busy_s: float, least_s: float) -> float:
    """What is taken off the times of a segment: `busy_s` where its t0 does not contain it."""
    is_possible = all(segment.time_s(end) - busy_s >= end * least_s for end in ends_bytes)
    return busy_s if segment.t0_s < busy_s and is_possible else 0.0


def _within(
    time_s: Callable[[float], float], apart_s: float, least_s: float
) -> Callable[[float], float]:
    """The time of a message without `apart_s`, but no less than that of a link with `least_s` per
    byte.
    """
    return lambda size_bytes: max(time_s(size_bytes) - apart_s, size_bytes * least_s)


def _extended(segment: Segment) -> Callable[[float], float]:
    """The time of a segment; that of its first size below it, if it could be negative there."""
    if segment.t0_s >= 0 and segment.root_s >= 0:
        return segment.time_s
    return lambda size_bytes: segment.time_s(max(size_bytes, segment.from_bytes))


def _pieces_of(
    time_s: Callable[[float], float], low: int, high: int, least_s: float, error: float
) -> Iterator[LinearPiece]:
    """One piece from `low` to `high` if it is accurate, otherwise the pieces of both halves."""
    high = max(low, high)
    piece = _piece(time_s, low, high, least_s)
    checked_sizes = {low, (low + high) // 2, (3 * low + high) // 4, (low + 3 * high) // 4, high}
    is_accurate = all(
        abs(piece.t0_s + size * piece.per_byte_s - time_s(size)) <= error * abs(time_s(size))
        for size in checked_sizes
    )
    if is_accurate or high <= low:
        yield piece
        return
    # The absolute error counts if the link is too slow for the curve, elsewhere the relative one.
    even = piece.per_byte_s == least_s
    halfway = (low + high + 1) // 2 if even else round(math.sqrt(max(low, 1) * high))
    middle = min(max(halfway, low + 1), high)
    yield from _pieces_of(time_s, low, middle - 1, least_s, error)
    yield from _pieces_of(time_s, middle, high, least_s, error)


def _piece(time_s: Callable[[float], float], low: int, high: int, least_s: float) -> LinearPiece:
    """The line through both ends, or one through the middle if that line is not allowed."""
    at_low, at_high = max(0.0, time_s(low)), max(0.0, time_s(high))
    slope_s = (at_high - at_low) / (high - low) if high > low else least_s
    start_s = at_low - low * slope_s
    if slope_s >= least_s and start_s >= 0:
        return LinearPiece(low, start_s, slope_s)
    middle = (low + high) / 2
    at_middle = max(0.0, time_s(middle))
    slope_s = max(slope_s, least_s)
    if at_middle < slope_s * middle:
        slope_s = max(least_s, at_middle / middle)
    return LinearPiece(low, max(0.0, at_middle - slope_s * middle), slope_s)

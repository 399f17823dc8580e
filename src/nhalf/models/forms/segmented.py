"""Segmented Hockney model: T(n) = t0 + n/r_inf in each of a few ranges of sizes."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.models.forms import Curve, Model
from nhalf.models.least_squares import (
    best_partitions,
    misfit_of,
    move_breaks,
    point_noise,
    segment_costs,
)
from nhalf.models.line import FittedPiece, check_curve, check_range, fit_piece

POINTS_PER_SEGMENT_MIN = 3
"""Any line fits two points: a third has to confirm it."""
SEGMENTS_MAX = 16
BLOCKS_MAX = 360
"""With more sizes, breaks are first placed between blocks of sizes, then moved to a size."""
NOISE_FLOOR = 1e-7
"""Relative rounding error of a clock read in double precision: less is no misfit."""
PICOSECOND_S = 1e-12
"""Times in virtual time are whole ones, which is no misfit either."""
NARROW_BRACKET = 1.6
"""A break known within this factor is taken to lie at the roundest size of its bracket."""
BRIDGE_PERCENT = 25.0
"""Below this change, times inside a break's bracket run straight from one segment to the next:
where the break lies is unknown, and half of a small change is the smaller error."""
BEND_PERCENT = 2.0
"""A change at a break below this is a bend (the slope changes, the time does not)."""


@dataclass(frozen=True)
class Break:
    """A change between two segments, known to lie in (low_bytes, high_bytes].

    `at_bytes` is the first size that is predicted by the right segment; `change_percent` is the
    right segment's time over the left one's there, minus one; `jump` is false for a bend.
    """

    low_bytes: float
    high_bytes: float
    at_bytes: float
    change_percent: float
    jump: bool


@dataclass(frozen=True)
class Segmented(Model):
    """Lines over ranges of sizes, fitted by least relative error; ranges may join in jumps.

    The division into k ranges is the best of all (dynamic programming). k minimises Schwarz's
    information criterion, with the noise that repeated launches show counted as observations.
    """

    what = "a line of start-up time and rate in each range between protocol changes"
    formula = "T(n) = t0 + n/r_inf, n_half = t0 r_inf"
    source = (
        "R. Hockney, Parallel Computing 20 (1994) 389; divisions by R. Bellman, CACM 4 (1961) 284; "
        "their number by G. Schwarz, Annals of Statistics 6 (1978) 461, "
        "N. Zhang and D. Siegmund, Biometrics 63 (2007) 22"
    )

    pieces: tuple[FittedPiece, ...]
    breaks: tuple[Break, ...]

    @classmethod
    def fit(cls, curve: Curve) -> Self:
        """The best segments for a curve of one or more sizes; raises InputError for a bad one."""
        check_curve(curve)
        noise = point_noise(curve)
        weight = _weights(noise)
        data = (curve.size_bytes, curve.time_s, weight)
        divisions = _divisions(*data) + _apart_from_empty(*data)
        misfits = [misfit_of(*data, starts) for starts in divisions]
        count = curve.size_bytes.size
        steps = PICOSECOND_S / curve.time_s[curve.time_s > 0]
        rounding = (
            math.sqrt(NOISE_FLOOR**2 + float(np.mean(steps**2)) / 12) if steps.size else NOISE_FLOOR
        )
        noise_variance = float((weight * noise**2).mean())
        best = _choose([len(d) for d in divisions], misfits, count, noise_variance, rounding)
        starts = divisions[best]
        return cls._from_starts(curve, weight, starts)

    @classmethod
    def _from_starts(cls, curve: Curve, weight: Floats, starts: list[int]) -> Self:
        """Fit the line of each segment, given the index of each segment's first point."""
        pieces = []
        for first, end in zip(starts, [*starts[1:], curve.size_bytes.size], strict=True):
            pieces.append(fit_piece(curve, weight, slice(first, end)))
        breaks = [_break(before, after) for before, after in pairwise(pieces)]
        return cls(tuple(pieces), tuple(breaks))

    def predict_s(self, size_bytes: Floats) -> Floats:
        """Times in seconds, same shape; raises InputError beyond the sizes fitted."""
        size = check_range(size_bytes, self.pieces[0].from_bytes, self.pieces[-1].to_bytes)
        number = np.searchsorted([change.at_bytes for change in self.breaks], size, side="right")
        t0 = np.array([piece.t0_s for piece in self.pieces])
        per_byte = np.array([piece.per_byte_s for piece in self.pieces])
        result: Floats = t0[number] + size * per_byte[number]
        for change, before, after in zip(self.breaks, self.pieces, self.pieces[1:], strict=False):
            if 0 < abs(change.change_percent) < BRIDGE_PERCENT:
                inside = (size > change.low_bytes) & (size < change.high_bytes)
                ends = [change.low_bytes, change.high_bytes]
                times = [before.at(change.low_bytes), after.at(change.high_bytes)]
                result = np.where(inside, np.interp(size, ends, times), result)
        return result


def _weights(noise: Floats) -> Floats:
    """Weight of each point's squared relative misfit, about 1: noisy points count less."""
    typical = float(np.median(noise))
    if typical <= 0:
        return np.ones_like(noise)
    weight: Floats = 2 * typical**2 / (typical**2 + noise**2)
    return weight


def _apart_from_empty(size_bytes: Floats, time_s: Floats, weight: Floats) -> list[list[int]]:
    """The divisions in which the empty message is a separate range.

    It has no data to copy, so that nothing follows from it for the next sizes.
    """
    count = size_bytes.size
    if size_bytes[0] > 0 or not 2 * POINTS_PER_SEGMENT_MIN < count <= BLOCKS_MAX:
        return []
    divisions = _divisions(size_bytes[1:], time_s[1:], weight[1:])
    return [[0, *(start + 1 for start in starts)] for starts in divisions]


def _divisions(size_bytes: Floats, time_s: Floats, weight: Floats) -> list[list[int]]:
    """The best division into 1, 2, ... segments: the positions of their first points."""
    count = size_bytes.size
    block = -(-count // BLOCKS_MAX)
    blocks = np.arange(0, count, block)
    if block > 1 and count - blocks[-1] < POINTS_PER_SEGMENT_MIN:
        blocks = blocks[:-1]
    data = (size_bytes, time_s, weight)
    points_min = POINTS_PER_SEGMENT_MIN if block == 1 else 1
    segments_max = min(SEGMENTS_MAX, max(1, count // POINTS_PER_SEGMENT_MIN))
    partitions = best_partitions(segment_costs(*data, blocks), points_min, segments_max)
    divisions = [[int(start) for start in blocks[chosen]] for chosen in partitions]
    if block == 1:
        return divisions
    return [move_breaks(*data, starts, block, POINTS_PER_SEGMENT_MIN) for starts in divisions]


def _choose(
    segments: list[int], misfits: list[float], count: int, noise_variance: float, rounding: float
) -> int:
    """The position of the division that minimises Schwarz's criterion.

    A break counts as two parameters: counted as one, breaks are found in pure noise (Zhang and
    Siegmund 2007). The launches determine the noise as well as n residuals would, so they enter as
    n more observations with that mean square: without them k = n/2 segments would fit perfectly
    and always win.
    """
    observations = 2 * count if noise_variance > 0 else count
    scores = []
    for number, misfit in zip(segments, misfits, strict=True):
        parameters = 4 * number - 2
        if parameters >= count and number > 1:
            scores.append(math.inf)
            continue
        variance = (misfit + (observations - count) * noise_variance) / observations
        score = observations * math.log(variance + rounding**2)
        scores.append(score + parameters * math.log(count))
    return int(np.argmin(scores))


def _break(before: FittedPiece, after: FittedPiece) -> Break:
    """The change between neighbouring segments, placed at one size inside its bracket."""
    low, high = before.to_bytes, after.from_bytes
    difference = before.per_byte_s - after.per_byte_s
    crossing = (after.t0_s - before.t0_s) / difference if difference != 0 else math.inf
    if low < crossing <= high:
        return Break(low, high, crossing, 0.0, jump=False)
    at = switch(low, high)
    change = 100 * (after.at(at) / before.at(at) - 1) if before.at(at) > 0 else 0.0
    return Break(low, high, at, change, jump=abs(change) >= BEND_PERCENT)


def switch(low: float, high: float) -> float:
    """The first size of the right segment: libraries switch at round sizes.

    Within a narrow bracket the roundest size is taken (the most trailing zeros in binary), just
    above it if it is the left segment's last size; in a wide one the geometric mean. An empty
    message is a separate case: others begin at one byte.
    """
    if low == 0:
        return 1.0
    if high > NARROW_BRACKET * max(low, 1.0):
        return math.sqrt(max(low, 0.5) * high)
    bits = 1
    while math.floor(high / (2 * bits)) * (2 * bits) >= low:
        bits *= 2
    round_size = float(math.floor(high / bits) * bits)
    return math.nextafter(low, high) if round_size <= low else round_size

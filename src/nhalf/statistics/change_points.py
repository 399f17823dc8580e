"""Change points: where the level of a series shifts, by how much, and how precisely it is dated.

Circular binary segmentation (A. Olshen, E. Venkatraman, R. Lucito, M. Wigler, Biostatistics 5
(2004) 557): the segment of a series that differs most from the rest, by Student's t, is cut out if
the difference is significant, and each part is divided further in the same way. A segment may touch
an end, which is a single shift, or lie within, which is a shift there and back that no single cut
would find. Few runs have few permutations, so the largest t is judged by Bonferroni's bound over
all segments instead.

A shift is dated by likelihood (B. Hansen, Econometrica 68 (2000) 575): the positions whose sum of
squares exceeds the minimum by at most -2 ln(1 - sqrt(0.95)) variances include the true one in 95 of
100 series.

Noise is assumed to be independent from run to run and normal on the scale of the values, which are
logarithms of times. A level lasts for at least two values: a single one may be an outlier.
"""

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.statistics.intervals import student_quantile

LEVEL_MIN = 2
ERROR = 0.01
"""Allowed rate of false changes per series."""
NOISE_MIN = 1e-6
"""Smaller differences are rounding: machines without noise have no others."""
DATE_REACH = -2 * math.log(1 - math.sqrt(0.95))


@dataclass(frozen=True)
class LevelShift:
    """A shift: the new level starts at value number `at`, with 95 % confidence `first` to `last`.

    `value` is the new level minus the previous one, with its interval, in the unit of the values.
    """

    at: int
    first: int
    last: int
    value: float
    low: float
    high: float


def change_points(values: Floats, error: float = ERROR) -> list[LevelShift]:
    """The changes of `values` (n,), in order; none for fewer than four values.

    `error` bounds the rate of false changes per series.
    """
    edges = _edges(values, 0, len(values), error)
    while True:
        bounds = [0, *edges, len(values)]
        changes = [_change(values, bounds, k, error) for k in range(1, len(bounds) - 1)]
        unsure = [change for change in changes if change.low <= 0 <= change.high]
        if not unsure:
            return changes
        # A segment may have only one significant end: the weakest is removed first.
        edges.remove(min(unsure, key=lambda change: abs(change.value)).at)


def smallest_error(
    values: Floats, errors: Sequence[float], counts: Callable[[list[LevelShift]], bool]
) -> float:
    """The smallest of `errors`, in ascending order, at which changes are found that count; else 1.

    Of series without a change, a share of at most x has at most x.
    """

    def is_enough(error: float) -> bool:
        return counts(change_points(values, error))

    if not errors or not is_enough(errors[-1]):
        return 1.0
    return errors[bisect_left(errors, True, hi=len(errors) - 1, key=is_enough)]


def last_apart(values: Floats, changes: list[LevelShift], error: float = ERROR) -> float | None:
    """The difference of the last value from the level before it, if noise does not explain it.

    None if it does, or if that level has fewer than three values.
    """
    start = changes[-1].at if changes else 0
    level = values[start:-1]
    if len(level) < LEVEL_MIN + 1:
        return None
    distance = float(values[-1] - level.mean())
    deviation = max(float(level.std(ddof=1)), NOISE_MIN) * math.sqrt(1 + 1 / len(level))
    reach = student_quantile(len(level) - 1, 1 - error) * deviation
    return distance if abs(distance) > reach else None


def _edges(values: Floats, start: int, end: int, error: float) -> list[int]:
    """Where values[start:end] divides, in order."""
    count = end - start
    if count < 2 * LEVEL_MIN:
        return []
    t, places = _stretches(values[start:end])
    best = int(np.argmax(t))
    if t[best] <= student_quantile(count - 2, 1 - error / len(t)):
        return []
    cuts = sorted({start + int(place) for place in places[best]} - {start, end})
    parts = itertools.pairwise([start, *cuts, end])
    inner = [edge for low, high in parts for edge in _edges(values, low, high, error)]
    return sorted([*cuts, *inner])


def _stretches(values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Student's |t| of every segment against the rest, (m,), and its bounds (m, 2).

    Segments that reach the end are omitted: they are the complements of those at the beginning.
    """
    count = len(values)
    sums = np.concatenate(([0.0], np.cumsum(values - values.mean())))
    total = float(np.sum((values - values.mean()) ** 2))
    begin, end = np.triu_indices(count, 1)
    inside = end - begin
    parts = (inside, begin, count - end)
    fits = np.logical_and.reduce([(part >= LEVEL_MIN) | (part == 0) for part in parts])
    begin, end, inside = begin[fits], end[fits], inside[fits]
    excess = sums[end] - sums[begin]
    between = excess**2 * count / (inside * (count - inside))
    variance = np.maximum((total - between) / (count - 2), NOISE_MIN**2)
    return np.sqrt(between / variance), np.stack([begin, end], axis=1)


def _change(values: Floats, bounds: list[int], number: int, error: float) -> LevelShift:
    """The change at `bounds[number]`, its interval from the noise common to all levels."""
    low, at, high = bounds[number - 1 : number + 2]
    before, after = values[low:at], values[at:high]
    degrees = len(values) - (len(bounds) - 1)
    squares = sum(_squares(values[a:b]) for a, b in itertools.pairwise(bounds))
    variance = max(squares / max(degrees, 1), NOISE_MIN**2)
    confidence = 1 - error / (len(bounds) - 2)
    reach = student_quantile(max(degrees, 1), confidence) * math.sqrt(
        variance * (1 / len(before) + 1 / len(after))
    )
    shift = float(after.mean() - before.mean())
    segment = values[low:high]
    misfit = [_squares(segment[:k]) + _squares(segment[k:]) for k in range(1, len(segment))]
    misfit_max = misfit[at - low - 1] + DATE_REACH * variance
    plausible = [low + k for k, squares in enumerate(misfit, 1) if squares <= misfit_max]
    return LevelShift(at, min(plausible), max(plausible), shift, shift - reach, shift + reach)


def _squares(values: Floats) -> float:
    return float(np.sum((values - values.mean()) ** 2))

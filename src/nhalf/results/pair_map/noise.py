# SPDX-License-Identifier: Apache-2.0
"""How much the pairs of a map scatter, and which level the unremarkable ones have."""

from __future__ import annotations

import functools

import numpy as np

from nhalf.statistics.intervals import Floats

ERROR_PROBABILITY = 1e-3
"""Of naming anything where all are equal and noise is lognormal."""


BASE_SHARE = 1 / 3
"""At least this share of all pairs is the group that others are compared with."""

NOISE_CUT = 4.0
"""Launches that differ by so many usual differences do not count as noise."""


def filled(values: Floats) -> Floats:
    """No launch of a pair is NaN only where all are."""
    return np.where(np.isfinite(values).any(axis=0), values, 0.0)


@functools.cache
def quantile(tests: int, launches: int, degrees: int) -> float:
    """How many standard deviations none of `tests` exceeds in all launches.

    With probability 1 - ERROR_PROBABILITY, where the deviation is known from so many degrees of
    freedom: the mean of Q(t s)^launches over s, with degrees s^2 distributed as chi square. It is
    not that of Student, as all launches share one s.
    """
    from scipy.optimize import brentq  # a large package, which all that shows runs would import
    from scipy.special import gammaincinv, ndtr

    edges = 1 / (1 + np.exp(-np.linspace(-30, 30, 1201)))
    middles = (edges[1:] + edges[:-1]) / 2
    scale = np.sqrt(2 * gammaincinv(degrees / 2, middles) / degrees)

    def excess(quantile: float) -> float:
        all_out = np.sum(np.diff(edges) * ndtr(-quantile * scale) ** launches)
        return float(tests * all_out - ERROR_PROBABILITY)

    return float(brentq(excess, 0, 1e6)) if excess(0) > 0 else 0.0


def median(values: Floats, axis: int) -> Floats:
    """As numpy.nanmedian, which takes a hundred times as long for short axes; NaN where all are."""
    ordered = np.sort(np.moveaxis(values, axis, -1), axis=-1)  # NaN comes last
    count = np.isfinite(ordered).sum(axis=-1)[..., None]
    low = np.take_along_axis(ordered, np.maximum(count - 1, 0) // 2, -1)
    high = np.take_along_axis(ordered, np.minimum(count // 2, ordered.shape[-1] - 1), -1)
    middle: Floats = ((low + high) / 2)[..., 0]
    return middle


def noise_of(launches: Floats) -> tuple[float, int]:
    """Standard deviation of one launch from the differences between launches of each pair.

    `launches` has shape (launches, pairs). Differences far beyond the usual ones are left out.
    """
    first, second = np.triu_indices(len(launches), 1)
    apart = np.abs(launches[first] - launches[second])
    apart = apart[np.isfinite(apart)]
    usual = float(np.median(apart)) / 0.6745
    kept = apart[apart <= NOISE_CUT * usual]
    return float(np.sqrt(np.mean(kept**2) / 2)), launches.shape[1] * (len(launches) - 1)


def lowest_group(middles: Floats, reach: float) -> float:
    """The median of the lowest group of a third of all pairs that lie within `reach` of it."""
    starts = np.quantile(middles, np.linspace(0, 1, min(len(middles), 40)), method="nearest")
    for start in starts:
        centre = float(start)
        for _ in range(50):
            group = middles[np.abs(middles - centre) <= reach]
            moved = float(np.median(group))
            if moved == centre:
                break
            centre = moved
        if group.size >= BASE_SHARE * middles.size:
            return centre
    return float(np.median(middles))

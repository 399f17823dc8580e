"""Times over sizes and ranks without a formula: a surface through the cells measured.

A Gaussian process of log T over log2(n + 1) and log2 p with a linear mean, whose covariance adds
what sizes have in common, what numbers of ranks have in common, and what neighbouring cells have:
additive kernels after C. Rasmussen, C. Williams, Gaussian Processes for Machine Learning, MIT Press
2006, section 4.2.4, chosen by leave-one-out predictive probability (5.4.2). If sizes are few and
far apart, it predicts a cell that was left out better than sums in regions can.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.one_thread import one_thread

CELLS_MAX = 150
"""With more cells, sums in regions and corrections are better, and this takes long."""
SIZE_SCALES = (2.0, 4.0, 8.0)
RANK_SCALES = (2.0, 4.0)
RANK_SHARES = (0.1, 1.0)
CELL_SHARES = (0.01, 0.1, 0.5)
"""Variances of single cells, and RANK_SHARES of numbers of ranks, relative to that of sizes."""
JUMP_SHARES = (0.0, 0.3)
"""Variance of each number of ranks by itself at all sizes: trees grow by steps, cores run out."""
SAME = 1e-9
NUGGETS = (1e-5, 1e-4, 1e-3)
POWER_SCALE = 8.0
SPAN = 8.0
MEAN_VARIANCE = 100.0
TINY = 1e-16


@dataclass(frozen=True)
class Smooth:
    """Logarithms of seconds `value` (m,) at places (m, 3), as models/pattern.py places cells.

    `scale` is that of sizes and of ranks, then the shares of ranks, of cells and, which files of
    older versions lack, of jumps from one number of ranks to the next.
    """

    place: Floats
    value: Floats
    scale: tuple[float, ...]
    nugget: float

    @classmethod
    @one_thread()
    def fit(cls, place: Floats, value: Floats) -> Smooth:
        """The surface under whose leave-one-out predictions the values are most probable."""
        best, best_score = cls(place, value, (4.0, 4.0, 1.0, 0.1, 0.0), NUGGETS[0]), -np.inf
        for scale in itertools.product(
            SIZE_SCALES, RANK_SCALES, RANK_SHARES, CELL_SHARES, JUMP_SHARES
        ):
            between = covariance(place, place, scale)
            for nugget in NUGGETS:
                inverse = np.linalg.inv(between + nugget * np.eye(value.size))
                spread = 1 / np.diag(inverse)
                errors = (inverse @ value) * spread
                variance = float(np.mean(errors**2 / spread)) + TINY
                score = -float(np.sum(np.log(spread))) - value.size * np.log(variance)
                if score > best_score:
                    best, best_score = cls(place, value, scale, nugget), score
        return best

    def weights(self) -> Floats:
        """The weight of each place (m,): the mean is the sum of weights times the covariance."""
        among = covariance(self.place, self.place, self.scale)
        weights = np.linalg.solve(among + self.nugget * np.eye(self.value.size), self.value)
        return weights.astype(np.float64)

    @one_thread()
    def time_s(self, place: Floats) -> Floats:
        """Seconds (k,) at places (k, 3).

        At the sizes of cells they lie on the surface, between them on straight lines in bytes, as
        times of messages do.
        """
        sizes = np.unique(self.place[:, 0])
        if sizes.size == 1:
            return self._surface_s(place, self.weights())
        after = np.clip(np.searchsorted(sizes, place[:, 0]), 1, sizes.size - 1)
        ends = np.stack([sizes[after - 1], sizes[after]])
        share = np.clip(
            (np.exp2(place[:, 0]) - np.exp2(ends[0])) / (np.exp2(ends[1]) - np.exp2(ends[0])), 0, 1
        )
        weights = self.weights()
        low_s, high_s = (
            self._surface_s(np.column_stack([end, place[:, 1:]]), weights) for end in ends
        )
        time_s: Floats = (1 - share) * low_s + share * high_s
        return time_s

    def _surface_s(self, place: Floats, weights: Floats) -> Floats:
        time_s: Floats = np.exp(covariance(place, self.place, self.scale) @ weights)
        return time_s


def covariance(a: Floats, b: Floats, scale: tuple[float, ...]) -> Floats:
    """Covariance of places (i, 3) and (j, 3), in units of the variance between sizes: (i, j)."""
    size_scale, rank_scale, of_ranks, of_cells, of_jumps = (*scale, 0.0)[:5]
    difference = a[:, None, :] - b[None, :, :]
    sizes = np.abs(difference[..., 0]) / size_scale
    ranks = np.hypot(difference[..., 1] / rank_scale, difference[..., 2] / POWER_SCALE)
    mean = MEAN_VARIANCE * (1 + (a / SPAN) @ (b / SPAN).T)
    total: Floats = (
        _matern(sizes)
        + of_ranks * _matern(ranks)
        + of_cells * _matern(np.hypot(sizes, ranks))
        + of_jumps * (np.abs(difference[..., 1]) < SAME)
        + mean
    )
    return total


def _matern(distance: Floats) -> Floats:
    """Matérn's kernel of order 3/2."""
    scaled: Floats = np.sqrt(3.0) * distance
    return (1 + scaled) * np.exp(-scaled)

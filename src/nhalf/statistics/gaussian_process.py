"""The residuals of a model as a smooth function between the points measured.

A Gaussian process with constant and linear mean and a Matérn kernel of order 3/2, the scale of each
coordinate and the share of noise chosen by leave-one-out predictive probability; C. Rasmussen,
C. Williams, Gaussian Processes for Machine Learning, MIT Press 2006, sections 2.7, 4.2 and 5.4.2.
Its standard deviation shows where another measurement would be most informative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.one_thread import one_thread

SCALES = (1.0, 2.0, 4.0, 8.0)
"""Length scales of a coordinate: the distance at which values are nearly uncorrelated."""
NUGGETS = (1e-6, 1e-3, 3e-2, 0.3)
"""Independent variance of a value, as a share of the variance between places."""
MEAN_VARIANCE = 100.0
"""Prior variance of the mean's coefficients, relative to that between places: nearly free."""
VARIANCE_MIN = 1e-16
VALUE_RANGE_MIN = 1e-8
"""Smaller differences count as zero."""
VARIANCE_UNSEEN = 0.01
"""Variance between places with only one place: a tenth, of logarithms of ratios."""


@dataclass(frozen=True)
class Prior:
    """Prior belief about a correction while there are too few values.

    Below `values_min` values these are the hyperparameters; above, `variance` counts as much as
    `weight` values.
    """

    scale: tuple[float, ...]
    nugget: float
    variance: float
    mean_variance: float
    weight_values: int
    values_min: int


@dataclass(frozen=True)
class Correction:
    """A process fitted to values `value` (m,) at places `place` (m, d), with its hyperparameters.

    `scale` (d,) and `nugget` are as in SCALES and NUGGETS, `variance` is that between places, and
    `mean_variance` that of the coefficients of the mean as a multiple of it.
    """

    place: Floats
    value: Floats
    scale: tuple[float, ...]
    nugget: float
    variance: float
    mean_variance: float = MEAN_VARIANCE

    @classmethod
    @one_thread()
    def fit(
        cls,
        place: Floats,
        value: Floats,
        scales: Sequence[float] | Sequence[Sequence[float]] = SCALES,
        nuggets: Sequence[float] = NUGGETS,
        prior: Prior | None = None,
    ) -> Correction:
        """The process whose leave-one-out predictions make the values most probable.

        `place` is (m, d) and `value` (m,), finite; `scales` are the candidates, for all coordinates
        or for each. With one value it is a constant.
        """
        place = np.asarray(place, dtype=np.float64)
        value = np.asarray(value, dtype=np.float64)
        of_each = [tuple(own) for own in scales if not isinstance(own, float)]
        of_all = tuple(scale for scale in scales if isinstance(scale, float))
        choices = of_each or [of_all] * place.shape[1]
        assumed = prior or _no_prior(value, choices, nuggets)
        mean_variance = assumed.mean_variance
        best = cls(place, value, assumed.scale, assumed.nugget, assumed.variance, mean_variance)
        if value.size < assumed.values_min or (prior is None and np.ptp(value) < VALUE_RANGE_MIN):
            return best
        best_score = -math.inf
        for scale in itertools.product(*choices):
            between = _covariance(place, place, scale, mean_variance)
            for nugget in nuggets:
                left_out, spread = _left_out(_inverse(between, nugget), value)
                variance, score = _score(value - left_out, spread, assumed)
                if score > best_score:
                    best_score = score
                    best = cls(place, value, scale, nugget, variance, mean_variance)
        return best

    @one_thread()
    def predict(self, place: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation (k,) at places (k, d)."""
        place = np.asarray(place, dtype=np.float64)
        inverse = self._inverse()
        to = _covariance(place, self.place, self.scale, self.mean_variance)
        own = 1 + self.mean_variance * (1 + np.sum((place / SPAN) ** 2, axis=1))
        unexplained = own - np.sum((to @ inverse) * to, axis=1)
        deviation: Floats = np.sqrt(self.variance * np.maximum(unexplained + self.nugget, 0.0))
        mean: Floats = to @ (inverse @ self.value)
        return mean, deviation

    @one_thread()
    def weights(self) -> Floats:
        """The weight of each place (m,): the mean is the sum of weights times the covariance."""
        weights: Floats = self._inverse() @ self.value
        return weights

    @one_thread()
    def mean(self, place: Floats, weights: Floats) -> Floats:
        """The mean (k,) alone at places (k, d), from `weights()`: without another inversion."""
        mean: Floats = _covariance(place, self.place, self.scale, self.mean_variance) @ weights
        return mean

    @one_thread()
    def left_out(self) -> Floats:
        """The prediction (m,) for every place from all others."""
        if self.value.size < 2:
            return np.full(self.value.size, np.nan)
        return _left_out(self._inverse(), self.value)[0]

    def _inverse(self) -> Floats:
        """The inverse covariance of the values, in units of the variance between places: (m, m)."""
        among = _covariance(self.place, self.place, self.scale, self.mean_variance)
        return _inverse(among, self.nugget)


SPAN = 8.0
"""Divisor of the coordinates in the mean: close to their range, a power of two."""


def _no_prior(value: Floats, scales: Sequence[Sequence[float]], nuggets: Sequence[float]) -> Prior:
    """A weak prior: a single value says little, and equal values suggest that all are equal."""
    variance = VARIANCE_UNSEEN if value.size < 2 else 0.0
    widest = tuple(candidates[-1] for candidates in scales)
    return Prior(widest, nuggets[0], variance, MEAN_VARIANCE, 0, 2)


def _score(errors: Floats, spread: Floats, prior: Prior) -> tuple[float, float]:
    """The variance between places, and the logarithm of the probability of all errors.

    `spread` are the variances of the errors (m,) in units of that between places.
    """
    squares = float(np.sum(errors**2 / spread)) + prior.weight_values * prior.variance
    count = errors.size + prior.weight_values
    variance = squares / count
    score = -0.5 * float(np.sum(np.log(spread))) - 0.5 * count * math.log(variance + VARIANCE_MIN)
    return variance, score


def _covariance(a: Floats, b: Floats, scale: Sequence[float], mean_variance: float) -> Floats:
    """Covariance of places (i, d) and (j, d), in units of the variance between places: (i, j)."""
    near, far = a / np.asarray(scale), b / np.asarray(scale)
    squares = np.sum(near**2, axis=1)[:, None] + np.sum(far**2, axis=1) - 2 * near @ far.T
    distance = np.sqrt(3.0 * np.maximum(squares, 0.0))
    matern = (1 + distance) * np.exp(-distance)
    mean = mean_variance * (1 + (a / SPAN) @ (b / SPAN).T)
    covariance: Floats = matern + mean
    return covariance


def _inverse(among: Floats, nugget: float) -> Floats:
    """The inverse of a covariance (m, m) plus the independent variance of each value."""
    inverse = np.linalg.inv(among + nugget * np.eye(len(among)))
    return inverse.astype(np.float64)


def _left_out(inverse: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Leave-one-out means, and variances in units of that between places (Rasmussen, 5.12)."""
    diagonal = np.diag(inverse)
    left_out: Floats = value - (inverse @ value) / diagonal
    return left_out, 1 / diagonal

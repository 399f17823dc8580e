# SPDX-License-Identifier: Apache-2.0
"""What a model leaves over, as a smooth function between the places where it was measured.

A Gaussian process with constant and linear mean and a Matérn kernel of order 3/2, the scale of each
coordinate and the share of noise chosen by leave-one-out predictive probability; C. Rasmussen,
C. Williams, Gaussian Processes for Machine Learning, MIT Press 2006, sections 2.7, 4.2 and 5.4.2.
Its standard deviation says where one more measurement would tell most.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.models import Floats

SCALES = (1.0, 2.0, 4.0, 8.0)
"""Of a coordinate: how far apart two places are whose values have little to do with each other."""
NUGGETS = (1e-6, 1e-3, 3e-2, 0.3)
"""Variance of a value by itself, as a share of the variance between places."""
MEAN_VARIANCE = 100.0
"""Of the coefficients of the mean, as a multiple of the same: nearly free."""
VARIANCE_MIN = 1e-16
VARIANCE_UNSEEN = 0.01
"""Between places, where there is one only: of logarithms of ratios, a tenth."""


@dataclass(frozen=True)
class Correction:
    """Fitted to values `value` (m,) at places `place` (m, d), with the hyperparameters of the fit.

    `scale` (d,) and `nugget` are as in SCALES and NUGGETS, `variance` is that between places.
    """

    place: Floats
    value: Floats
    scale: tuple[float, ...]
    nugget: float
    variance: float

    @classmethod
    def fit(
        cls,
        place: Floats,
        value: Floats,
        scales: Sequence[float] = SCALES,
        nuggets: Sequence[float] = NUGGETS,
    ) -> Correction:
        """The process under whose leave-one-out predictions the values are most probable.

        `place` is (m, d) and `value` (m,), finite, m at least 1; with one value it is a constant.
        """
        place = np.asarray(place, dtype=np.float64)
        value = np.asarray(value, dtype=np.float64)
        variance = VARIANCE_UNSEEN if value.size < 2 else 0.0
        best = cls(place, value, (scales[-1],) * place.shape[1], nuggets[0], variance)
        best_score = -math.inf
        if value.size < 2 or np.ptp(value) < math.sqrt(VARIANCE_MIN):
            return best
        for scale in itertools.product(scales, repeat=place.shape[1]):
            between = _covariance(place, place, scale)
            for nugget in nuggets:
                inverse = _inverse(between, nugget)
                left_out, spread = _left_out(inverse, value)
                variance = float(np.mean((value - left_out) ** 2 / spread))
                score = -0.5 * float(np.sum(np.log(spread))) - 0.5 * value.size * math.log(
                    variance + VARIANCE_MIN
                )
                if score > best_score:
                    best, best_score = cls(place, value, scale, nugget, variance), score
        return best

    def predict(self, place: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation (k,) at places (k, d)."""
        place = np.asarray(place, dtype=np.float64)
        inverse = self._inverse()
        to = _covariance(place, self.place, self.scale)
        own = 1 + MEAN_VARIANCE * (1 + np.sum((place / SPAN) ** 2, axis=1))
        left = own - np.einsum("ij,jk,ik->i", to, inverse, to)
        deviation: Floats = np.sqrt(self.variance * np.maximum(left + self.nugget, 0.0))
        mean: Floats = to @ (inverse @ self.value)
        return mean, deviation

    def weights(self) -> Floats:
        """What each place counts (m,): the mean is the sum of these, times the covariance."""
        weights: Floats = self._inverse() @ self.value
        return weights

    def mean(self, place: Floats, weights: Floats) -> Floats:
        """The mean (k,) alone at places (k, d), from `weights()`: without another inversion."""
        found: Floats = _covariance(place, self.place, self.scale) @ weights
        return found

    def left_out(self) -> Floats:
        """What is predicted (m,) for every place from all others."""
        if self.value.size < 2:
            return np.full(self.value.size, np.nan)
        return _left_out(self._inverse(), self.value)[0]

    def _inverse(self) -> Floats:
        """Of the covariance of the values, in units of the variance between places: (m, m)."""
        return _inverse(_covariance(self.place, self.place, self.scale), self.nugget)


SPAN = 8.0
"""Coordinates are divided by it in the mean: of the order of their range in powers of two."""


def _covariance(a: Floats, b: Floats, scale: Sequence[float]) -> Floats:
    """Between places (i, d) and (j, d), in units of the variance between places: (i, j)."""
    difference = (a[:, None, :] - b[None, :, :]) / np.asarray(scale)
    distance = math.sqrt(3.0) * np.sqrt(np.sum(difference**2, axis=2))
    matern = (1 + distance) * np.exp(-distance)
    mean = MEAN_VARIANCE * (1 + (a / SPAN) @ (b / SPAN).T)
    found: Floats = matern + mean
    return found


def _inverse(among: Floats, nugget: float) -> Floats:
    """Of a covariance (m, m) and the variance of each value by itself."""
    found = np.linalg.inv(among + nugget * np.eye(len(among)))
    return found.astype(np.float64)


def _left_out(inverse: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Leave-one-out means, and variances in units of that between places (Rasmussen, 5.12)."""
    diagonal = np.diag(inverse)
    left_out: Floats = value - (inverse @ value) / diagonal
    return left_out, 1 / diagonal

"""Moderated variances: similar quantities with few observations each share information.

Five launches say little about the spread at one size, but twenty sizes together say a lot: each
variance is shrunk towards the common one, the more so the more alike the variances are (Smyth,
Linear models and empirical Bayes methods for assessing differential expression in microarray
experiments, Stat. Appl. Genet. Mol. Biol. 3(1), 2004).

The digamma function and its derivatives, without SciPy, which is slow to load.

Asymptotic series after recurrence to arguments of FAR and more (M. Abramowitz, I. Stegun, Handbook
of Mathematical Functions, 6.3.18, 6.4.12 and 6.4.13); relative errors are below 1e-9.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from nhalf.base.arrays import Floats

FAR = 10


def digamma(x: ArrayLike) -> Floats:
    """The derivative of ln Gamma, for x > 0."""
    far, steps = _far(x)
    y = 1 / far**2
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y / 240)))
    result: Floats = np.log(far) - 0.5 / far - series - (1 / steps).sum(axis=0)
    return result


def trigamma(x: ArrayLike) -> Floats:
    """The derivative of digamma, for x > 0."""
    far, steps = _far(x)
    y = 1 / far**2
    series = (1 + y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y / 30)))) / far
    result: Floats = series + y / 2 + (1 / steps**2).sum(axis=0)
    return result


def tetragamma(x: ArrayLike) -> Floats:
    """The derivative of trigamma, for x > 0; it is negative."""
    far, steps = _far(x)
    y = 1 / far**2
    series = -y * (1 + y * (1 / 2 - y * (1 / 6 - y * (1 / 6 - 3 * y / 10)))) - y / far
    result: Floats = series - (2 / steps**3).sum(axis=0)
    return result


def _far(x: ArrayLike) -> tuple[Floats, Floats]:
    """X + FAR, and the values in between: x, x + 1, ..."""
    near = np.asarray(x, dtype=np.float64)
    steps = np.arange(FAR, dtype=np.float64).reshape(-1, *[1] * near.ndim) + near
    return near + FAR, steps


QUANTITIES_MIN = 3
FLOOR = 1e-5
"""Lower bound of variances as a share of the median one: keeps their logarithms finite."""


def moderate(variances: Floats, degrees: Floats) -> tuple[Floats, Floats]:
    """Moderated variances and their degrees of freedom, each (n,), from n sample variances.

    Quantities with no degree of freedom (observed once) take the common variance. Fewer than three
    positive variances cannot be moderated: they are returned unchanged.
    """
    observed = degrees > 0
    if np.sum(observed & (variances > 0)) < QUANTITIES_MIN:
        return np.where(observed, variances, math.nan), degrees
    half = degrees[observed] / 2
    floor = FLOOR * float(np.median(variances[observed & (variances > 0)]))
    logs = np.log(np.maximum(variances[observed], floor)) - digamma(half) + np.log(half)
    excess = float(np.var(logs, ddof=1) - np.mean(trigamma(half)))
    # The common variance counts as `prior` degrees of freedom, at most the total.
    prior = 2 * _trigamma_inverse(excess) if excess > 0 else math.inf
    if math.isfinite(prior):
        common = float(np.mean(logs)) + float(digamma(prior / 2)) - math.log(prior / 2)
        moderated = (prior * math.exp(common) + degrees * np.nan_to_num(variances)) / (
            prior + degrees
        )
    else:
        pooled = float(variances[observed] @ degrees[observed]) / float(degrees.sum())
        moderated = np.full(len(variances), pooled)
    total = float(degrees.sum() - degrees[observed].mean())
    return moderated, np.minimum(prior + degrees, max(total, float(degrees[observed].max())))


def _trigamma_inverse(value: float) -> float:
    """The x with trigamma(x) = value > 0, by Newton's iteration (Smyth 2004, appendix)."""
    if value > 1e7:
        return 1 / math.sqrt(value)
    if value < 1e-6:
        return 1 / value
    guess = 0.5 + 1 / value
    for _ in range(50):
        current = float(trigamma(guess))
        step = current * (1 - current / value) / float(tetragamma(guess))
        guess += step
        if abs(step) < 1e-8 * guess:
            break
    return guess

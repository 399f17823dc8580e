"""Moderated variances: similar quantities with few observations each share information.

Five launches say little about the spread at one size, but twenty sizes together say a lot: each
variance is shrunk towards the common one, the more so the more alike the variances are (Smyth,
Linear models and empirical Bayes methods for assessing differential expression in microarray
experiments, Stat. Appl. Genet. Mol. Biol. 3(1), 2004).
"""

from __future__ import annotations

import math

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.statistics.gamma import digamma, tetragamma, trigamma

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

# SPDX-License-Identifier: Apache-2.0
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

THINGS_LEAST = 3
FLOOR = 1e-5
"""Lower bound of variances as a share of the median one: keeps their logarithms finite."""


def moderate(variances: Floats, degrees: Floats) -> tuple[Floats, Floats]:
    """Moderated variances and their degrees of freedom, each (n,), from n sample variances.

    Quantities with no degree of freedom (observed once) take the common variance. Fewer than three
    positive variances cannot be moderated: they are returned unchanged.
    """
    seen = degrees > 0
    if np.sum(seen & (variances > 0)) < THINGS_LEAST:
        return np.where(seen, variances, math.nan), degrees
    half = degrees[seen] / 2
    floor = FLOOR * float(np.median(variances[seen & (variances > 0)]))
    logs = np.log(np.maximum(variances[seen], floor)) - digamma(half) + np.log(half)
    excess = float(np.var(logs, ddof=1) - np.mean(trigamma(half)))
    # As if known from `prior` degrees of freedom; never more than the total.
    prior = 2 * _trigamma_inverse(excess) if excess > 0 else math.inf
    if math.isfinite(prior):
        common = float(np.mean(logs)) + float(digamma(prior / 2)) - math.log(prior / 2)
        moderated = (prior * math.exp(common) + degrees * np.nan_to_num(variances)) / (
            prior + degrees
        )
    else:
        pooled = float(variances[seen] @ degrees[seen]) / float(degrees.sum())
        moderated = np.full(len(variances), pooled)
    total = float(degrees.sum() - degrees[seen].mean())
    return moderated, np.minimum(prior + degrees, max(total, float(degrees[seen].max())))


def _trigamma_inverse(value: float) -> float:
    """The x with trigamma(x) = value > 0, by Newton's iteration (Smyth 2004, appendix)."""
    if value > 1e7:
        return 1 / math.sqrt(value)
    if value < 1e-6:
        return 1 / value
    guess = 0.5 + 1 / value
    for _ in range(50):
        here = float(trigamma(guess))
        step = here * (1 - here / value) / float(tetragamma(guess))
        guess += step
        if abs(step) < 1e-8 * guess:
            break
    return guess

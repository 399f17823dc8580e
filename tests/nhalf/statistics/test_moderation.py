"""Moderated variances: nothing to lend, everything alike, everything different.

Digamma and its derivatives against SciPy's.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from nhalf.statistics.moderation import digamma, moderate, tetragamma, trigamma


def test_few_variances_stay_as_they_are() -> None:
    variance, freedom = moderate(np.array([1.0, 4.0]), np.array([4.0, 4.0]))
    assert variance.tolist() == [1.0, 4.0]
    assert freedom.tolist() == [4.0, 4.0]
    variance, _ = moderate(np.zeros(10), np.full(10, 4.0))
    assert variance.tolist() == [0.0] * 10


def test_equal_variances_become_one() -> None:
    variance, freedom = moderate(np.full(20, 2.0), np.full(20, 4.0))
    assert variance == pytest.approx(np.full(20, 2.0))
    assert freedom.tolist() == [76.0] * 20


def test_moderation_recovers_the_prior() -> None:
    """Variances drawn from Smyth's model: d0 = 10 prior degrees around s0 = 3."""
    random = np.random.default_rng(1)
    true = 10 * 3.0 / random.chisquare(10, 20000)
    drawn = true * random.chisquare(4, 20000) / 4
    variance, freedom = moderate(drawn, np.full(20000, 4.0))
    assert freedom[0] == pytest.approx(14, rel=0.1)
    assert np.mean((variance - true) ** 2) < 0.4 * np.mean((drawn - true) ** 2)


def test_different_variances_keep_their_own() -> None:
    drawn = np.logspace(-8, 8, 20)
    variance, freedom = moderate(drawn, np.full(20, 4.0))
    assert freedom[0] < 5
    assert (np.abs(np.log(variance / drawn))[5:] < 1).all()


def test_a_thing_seen_once_takes_the_common_variance() -> None:
    drawn = np.array([1.0, 1.1, 0.9, 1.05, np.nan])
    variance, freedom = moderate(drawn, np.array([4.0, 4.0, 4.0, 4.0, 0.0]))
    assert variance[4] == pytest.approx(1.0, rel=0.3)
    assert np.isfinite(freedom).all()


X = np.array([0.01, 0.5, 1.0, 2.5, 7.0, 50.0, 1e5])


def test_they_are_those_of_scipy() -> None:
    assert digamma(X) == pytest.approx(special.digamma(X), rel=1e-9)
    assert trigamma(X) == pytest.approx(special.polygamma(1, X), rel=1e-9)
    assert tetragamma(X) == pytest.approx(special.polygamma(2, X), rel=1e-9)
    assert float(digamma(2.5)) == pytest.approx(float(special.digamma(2.5)))

"""The quantiles that are known are those that SciPy computes, and those that intervals ask for."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from nhalf.statistics.derived_advice import TREND_CONFIDENCE
from nhalf.statistics.intervals import GUARD
from nhalf.statistics.student import USUAL, student_quantile


def test_quantiles_are_those_that_scipy_computes() -> None:
    degrees = np.arange(1, 40)
    for probability in (*USUAL, 0.9):
        quantiles = [student_quantile(int(number), probability) for number in degrees]
        error = np.where((probability == 0.95) & (degrees > 30), 5e-5, 1e-14)
        expected = stdtrit(degrees, (1 + probability) / 2)
        assert np.all(np.abs(quantiles / expected - 1) <= error), probability


def test_intervals_and_trends_find_what_they_ask_for() -> None:
    assert {0.95, 1 - (1 - 0.95) * GUARD, TREND_CONFIDENCE} == set(USUAL)

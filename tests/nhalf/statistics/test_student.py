# SPDX-License-Identifier: Apache-2.0
"""The quantiles that are known are those that SciPy computes, and those that intervals ask for."""

from __future__ import annotations

import pytest
from scipy.special import stdtrit

from nhalf.statistics.drift import TREND_CONFIDENCE
from nhalf.statistics.intervals import GUARD
from nhalf.statistics.student import USUAL, student_quantile


@pytest.mark.parametrize("probability", [*USUAL, 0.9])
@pytest.mark.parametrize("degrees", range(1, 40))
def test_quantiles_are_those_that_scipy_computes(degrees: int, probability: float) -> None:
    expected = float(stdtrit(degrees, (1 + probability) / 2))
    error = 5e-5 if probability == 0.95 and degrees > 30 else 1e-14
    assert student_quantile(degrees, probability) == pytest.approx(expected, rel=error)


def test_intervals_and_trends_find_what_they_ask_for() -> None:
    assert {0.95, 1 - (1 - 0.95) * GUARD, TREND_CONFIDENCE} == set(USUAL)

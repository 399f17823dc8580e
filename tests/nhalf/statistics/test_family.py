"""The family of a night's curves: the step-up procedure of Benjamini and Hochberg.

Interim analyses of a comparison that goes on share the rate of alarms.
"""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.statistics.family import (
    FALSE_ALARMS,
    INTERIM_ANALYSES,
    analyses_of,
    analysis_budgets_s,
    analysis_rate,
    family_error,
)


@pytest.mark.parametrize(
    ("probabilities", "members"),
    [
        ([], 1),
        ([1.0], 1),
        ([0.001], 1),
        ([1.0, 1.0, 1.0, 1.0], 1),
        ([0.001, 1.0, 1.0, 1.0], 1),
        ([0.015, 0.015, 0.015, 0.015], 4),
        ([0.001, 0.01, 1.0, 1.0], 2),
        ([0.001, 0.011, 1.0, 1.0], 1),
        # The second is too large by itself, and is reported because the third is small enough.
        ([0.001, 0.0145, 0.0149, 1.0], 3),
    ],
)
def test_the_largest_number_that_holds_is_reported(
    probabilities: list[float], members: int
) -> None:
    error = family_error(probabilities)
    assert error == pytest.approx(FALSE_ALARMS * members / max(len(probabilities), 1))


def test_without_a_change_the_rate_is_that_of_any_alarm() -> None:
    random = np.random.default_rng(1)
    alarms = [(p := random.random(10)).min() <= family_error(p.tolist()) for _ in range(4000)]
    assert np.mean(alarms) == pytest.approx(FALSE_ALARMS, abs=0.008)


def test_analyses_share_the_time_and_the_rate() -> None:
    budgets_s = analysis_budgets_s(70.0)
    assert budgets_s == pytest.approx([10.0, 20.0, 40.0])
    assert len(budgets_s) == INTERIM_ANALYSES - 1
    assert analysis_rate(INTERIM_ANALYSES) * INTERIM_ANALYSES == FALSE_ALARMS
    assert analysis_rate(1) == analysis_rate(0) == FALSE_ALARMS


def test_without_time_there_is_no_further_look() -> None:
    assert analysis_budgets_s(0.0) == []


@pytest.mark.parametrize(
    ("plans", "looks"),
    [
        ([], 1),
        ([{}], 1),
        ([{}, {"looks": 4}], 4),
        ([{"looks": "4"}], 1),
        ([{"looks": None}, {"looks": 2}], 2),
    ],
)
def test_a_comparison_has_the_looks_of_its_runs(plans: list[dict[str, object]], looks: int) -> None:
    assert analyses_of(*plans) == looks

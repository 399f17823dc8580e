"""Looks at a comparison that goes on: together they share the rate of alarms."""

from __future__ import annotations

import pytest

from nhalf.decide.family import FALSE_ALARMS
from nhalf.decide.interim_analyses import (
    INTERIM_ANALYSES,
    analyses_of,
    analysis_budgets_s,
    analysis_rate,
)


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

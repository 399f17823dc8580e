# SPDX-License-Identifier: Apache-2.0
"""Looks at a comparison that goes on: together they share the rate of alarms."""

from __future__ import annotations

import pytest

from nhalf.decide.family import FALSE_ALARMS
from nhalf.decide.looks import LOOKS, look_budgets_s, look_rate, looks_at


def test_looks_share_the_time_and_the_rate() -> None:
    budgets_s = look_budgets_s(70.0)
    assert budgets_s == pytest.approx([10.0, 20.0, 40.0])
    assert len(budgets_s) == LOOKS - 1
    assert look_rate(LOOKS) * LOOKS == FALSE_ALARMS
    assert look_rate(1) == look_rate(0) == FALSE_ALARMS


def test_without_time_there_is_no_further_look() -> None:
    assert look_budgets_s(0.0) == []


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
    assert looks_at(*plans) == looks

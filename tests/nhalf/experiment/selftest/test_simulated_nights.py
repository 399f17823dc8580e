"""Nights of many curves: alarms are rare without a change, and a change is found and named first.

Runs differ by more than their launches, and all curves of a night have part of that in common.
"""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.decide.family import FALSE_ALARMS
from nhalf.experiment.selftest.simulated_nights import (
    runs_that_differ,
    share_missed,
    share_named_first,
    share_with_alarm,
    share_with_alarm_at_looks,
)

NIGHTS = 14
RUNS = 40


@pytest.mark.full
def test_a_night_without_a_change_is_quiet() -> None:
    """At most one of forty, for all noise and numbers of launches together."""
    worlds = [(noise, launches) for noise in (0.0, 0.03, 0.10) for launches in (3, 5)]
    shares = [
        share_with_alarm(runs_that_differ(noise, launches, RUNS, seed=7), NIGHTS, launches)
        for noise, launches in worlds
    ]
    assert np.mean(shares) <= 1 / 40


@pytest.mark.parametrize(("launch_noise", "least"), [(0.03, 0.9), (0.05, 0.8)])
def test_a_change_of_one_curve_is_named_first(launch_noise: float, least: float) -> None:
    runs = runs_that_differ(launch_noise, 12, RUNS, seed=11)
    assert share_named_first(runs, NIGHTS, 12) >= least


def test_nights_that_repeat_their_launches_show_smaller_changes() -> None:
    """With the average share, 8 % between launches hide 1.25x in two of three nights."""
    runs = runs_that_differ(0.08, 12, RUNS, seed=11, between_runs=0.0)
    assert share_named_first(runs, NIGHTS, 12) >= 0.75


@pytest.mark.parametrize("launch_noise", [pytest.param(0.0, marks=pytest.mark.full), 0.03])
def test_a_curve_that_is_slower_by_the_tolerance_is_hardly_called_not_slower(
    launch_noise: float,
) -> None:
    runs = runs_that_differ(launch_noise, 12, 16 * 40, seed=13)
    assert share_missed(runs, 40, 12) <= 0.05


def test_two_launches_decide_nothing() -> None:
    assert share_named_first(runs_that_differ(0.0, 2, RUNS, seed=1), 3, 2) == 0


@pytest.mark.full
def test_looks_raise_no_more_alarms_together_than_one() -> None:
    """With the whole rate at each look, three of these nights raise one."""
    runs = runs_that_differ(0.15, 32, 100, seed=5)
    assert share_with_alarm_at_looks(runs, 60, (4, 8, 16, 32)) <= FALSE_ALARMS

"""What runs differ by beyond their launches: at most the average, by the other curves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.statistics.between_runs import PRIOR_CURVES, shares_between_runs
from nhalf.statistics.next_run import BETWEEN_RUNS
from nhalf.statistics.ratio_intervals import (
    AVERAGE_SHARE,
    LaunchLogs,
    RunShare,
    logs_apart,
    paired_logs,
)

LAUNCHES = 6
UNSHIFTED = PRIOR_CURVES * BETWEEN_RUNS
BY_SEVEN_OTHERS = RunShare(pytest.approx(UNSHIFTED / (PRIOR_CURVES + 7)), PRIOR_CURVES + 7)


def curve(shift: float, launches: int = LAUNCHES) -> LaunchLogs:
    """A curve whose launches differ by 5 % on either side and whose level moved by `shift`."""
    levels = 0.05 * np.resize([-1.0, 1.0], launches)[:, None] + np.zeros((launches, 4))
    return logs_apart(levels, levels + shift, np.full(4, shift), 3)


def test_curves_that_came_out_as_before_lower_the_share() -> None:
    assert shares_between_runs([curve(0.0)] * 8) == [BY_SEVEN_OTHERS] * 8


def test_a_slow_down_of_all_curves_is_not_taken_for_noise() -> None:
    assert shares_between_runs([curve(0.3)] * 8) == [AVERAGE_SHARE] * 8


def test_a_curve_says_nothing_about_itself() -> None:
    first, *further = shares_between_runs([curve(0.3), *[curve(0.0)] * 7])
    assert first == BY_SEVEN_OTHERS
    assert further == [AVERAGE_SHARE] * 7


def test_pairs_of_launches_count_as_sides_do() -> None:
    levels = 0.05 * np.resize([-1.0, 1.0], LAUNCHES)[:, None] + np.zeros((LAUNCHES, 4))
    assert shares_between_runs([paired_logs(levels)] * 8) == [BY_SEVEN_OTHERS] * 8


def test_two_curves_know_the_share_too_badly() -> None:
    assert shares_between_runs([curve(0.0)] * 3) == [AVERAGE_SHARE] * 3


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_a_share_that_is_estimated_makes_intervals_wider(share: float) -> None:
    known = curve(0.1).estimates(RunShare(share)).degrees
    estimated = curve(0.1).estimates(RunShare(share, 9.0)).degrees
    assert (estimated < known).all() if share else (estimated == known).all()
    assert known[0] == pytest.approx(2 * (LAUNCHES - 1))


def test_a_share_dominates_over_many_launches() -> None:
    estimates = curve(0.1, 10_000).estimates(RunShare(0.2, 9.0))
    assert estimates.degrees[0] == pytest.approx(9, rel=0.02)
    # Of launches that take turns between two values none is moved, but eight tenths count.
    assert estimates.error[0] == pytest.approx(0.05 * math.sqrt(2 * 0.2) / 0.8, rel=0.001)


@pytest.mark.parametrize(
    "curves",
    [
        [],
        [curve(0.1)],
        [curve(0.1), curve(0.0, launches=1)],
        [logs_apart(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros(2), 3)] * 5,
    ],
    ids=["none", "one", "one launch", "no noise"],
)
def test_without_other_curves_the_share_is_the_average(curves: list[LaunchLogs]) -> None:
    assert shares_between_runs(curves) == [AVERAGE_SHARE] * len(curves)

# SPDX-License-Identifier: Apache-2.0
"""What runs differ by beyond their launches: at most the average, by the other curves."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.decide.between_runs import PRIOR_CURVES, shares_between_runs
from nhalf.decide.ratio_intervals import LaunchLogs, logs_apart, paired_logs
from nhalf.statistics.next_run import BETWEEN_RUNS

LAUNCHES = 6
UNSHIFTED = PRIOR_CURVES * BETWEEN_RUNS


def curve(shift: float, launches: int = LAUNCHES) -> LaunchLogs:
    """A curve whose launches differ by 5 % on either side and whose level moved by `shift`."""
    levels = 0.05 * np.resize([-1.0, 1.0], launches)[:, None] + np.zeros((launches, 4))
    return logs_apart(levels, levels + shift, np.full(4, shift), 3)


def test_curves_that_came_out_as_before_lower_the_share() -> None:
    shares = shares_between_runs([curve(0.0)] * 8)
    assert shares == pytest.approx(np.full(8, UNSHIFTED / (PRIOR_CURVES + 7)))


def test_a_slow_down_of_all_curves_is_not_taken_for_noise() -> None:
    assert (shares_between_runs([curve(0.3)] * 8) == BETWEEN_RUNS).all()


def test_a_curve_says_nothing_about_itself() -> None:
    shares = shares_between_runs([curve(0.3), *[curve(0.0)] * 7])
    assert shares[0] == pytest.approx(UNSHIFTED / (PRIOR_CURVES + 7))
    assert (shares[1:] == BETWEEN_RUNS).all()


def test_pairs_of_launches_count_as_sides_do() -> None:
    levels = 0.05 * np.resize([-1.0, 1.0], LAUNCHES)[:, None] + np.zeros((LAUNCHES, 4))
    shares = shares_between_runs([paired_logs(levels)] * 3)
    assert shares == pytest.approx(np.full(3, UNSHIFTED / (PRIOR_CURVES + 2)))


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
    shares = shares_between_runs(curves)
    assert shares.shape == (len(curves),)
    assert (shares[:1] == BETWEEN_RUNS).all()

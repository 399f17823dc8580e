"""Whether few launches that went wrong leave the variance of the others as it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.base.arrays import Floats
from nhalf.statistics.intervals import launch_interval
from nhalf.statistics.next_run import next_run_intervals
from nhalf.statistics.winsorised import winsorised

ROWS = 4000


def variance(logs: Floats) -> Floats:
    kept, factor, _ = winsorised(logs)
    found: Floats = factor * kept.var(axis=1, ddof=1)
    return found


@pytest.mark.parametrize("launches", [1, 2, 5, 9])
def test_few_launches_stay_as_they_are(launches: int) -> None:
    logs = np.random.default_rng(1).normal(size=(3, launches))
    kept, factor, degrees = winsorised(logs)
    assert kept.tolist() == logs.tolist()
    assert factor.tolist() == [1.0] * 3
    assert degrees.tolist() == [launches - 1.0] * 3


def test_the_outer_launches_move_to_the_next_ones() -> None:
    kept, factor, degrees = winsorised(np.array([[*range(10), math.nan]], float))
    assert kept[0, :10].tolist() == [1, 1, 2, 3, 4, 5, 6, 7, 8, 8]
    assert math.isnan(kept[0, 10])
    assert factor[0] == pytest.approx(3 / math.pi / 0.8**2)
    assert degrees[0] == 7


@pytest.mark.parametrize("launches", [10, 20, 50])
def test_of_normal_launches_the_variance_is_theirs(launches: int) -> None:
    logs = np.random.default_rng(launches).normal(size=(ROWS, launches))
    assert variance(logs).mean() == pytest.approx(1.0, abs=0.04)


def test_launches_that_a_clock_rounds_are_not_exact() -> None:
    kept, factor, degrees = winsorised(np.array([[7.0] * 9 + [9.0], [*range(10)]]))
    assert kept[0].tolist() == [7.0] * 9 + [9.0]
    assert (factor[0], degrees[0]) == (1.0, 9.0)
    assert degrees[1] == 7
    assert launch_interval([7e-6] * 9 + [9e-6]).half_width > 0.01


def test_of_nothing_there_is_nothing() -> None:
    kept, factor, degrees = winsorised(np.zeros((0, 12)))
    assert (len(kept), len(factor), len(degrees)) == (0, 0, 0)


def disturbed(seed: int, launches: int) -> Floats:
    """Launches that differ by 10 %, one in twelve of them seven times as long."""
    random = np.random.default_rng(seed)
    logs = 0.1 * random.normal(size=(ROWS, launches)) + 2 * (
        random.random((ROWS, launches)) < 1 / 12
    )
    times: Floats = np.exp(logs)
    return times


def test_the_next_run_of_disturbed_launches_is_in_a_narrow_interval() -> None:
    curves = np.arange(ROWS)
    value, low, high = next_run_intervals(disturbed(1, 20), curves)
    following, _, _ = next_run_intervals(disturbed(2, 20), curves)
    assert np.mean((low <= following) & (following <= high)) >= 0.95
    assert np.median(high / value) < 1.3


def test_one_launch_of_many_that_hung_says_nothing_of_the_others() -> None:
    times_s = np.exp(0.05 * np.random.default_rng(1).normal(size=40)) * 1e-6
    times_s[7] = 2e-3
    assert launch_interval(times_s).half_width < 0.06
    value, low, high = next_run_intervals(times_s[None, :], np.zeros(1, np.int64))
    assert 0.85 < low[0] / value[0] < value[0] / value[0] < high[0] / value[0] < 1.15

"""Levels of comparisons and of histories, and intervals of ratios that are partly unknown."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from nhalf.base.arrays import Floats
from nhalf.statistics.ratio_intervals import (
    AVERAGE_SHARE,
    NO_SHARE,
    interquartile_mean,
    interval_apart,
    logs_apart,
    paired_logs,
)
from nhalf.statistics.winsorised import robust_spread


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7.0], 7.0),
        ([1.0, 2.0, 9.0], 4.0),
        ([100.0, 2.0, 3.0, -50.0], 2.5),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 800.0], 4.5),
    ],
)
def test_a_quarter_at_either_end_does_not_count(values: list[float], expected: float) -> None:
    assert interquartile_mean(np.array(values)) == pytest.approx(expected)


def test_every_launch_has_its_own_mean() -> None:
    launches = np.array([[4.0, 1.0, 2.0, 3.0], [40.0, 10.0, 30.0, 20.0]])
    assert interquartile_mean(launches).tolist() == [2.5, 25.0]


def test_an_unknown_interval_stays_unknown_whatever_the_fastest_samples_say() -> None:
    """Two launches have none; the ratio of the fastest samples must not take its place."""
    logs = replace(paired_logs(np.zeros((2, 3)), 3), fastest_ratio=np.full(3, 0.5))
    centre, low, high = logs.estimates().ends(0.02, 0.02)
    assert (centre == 0).all()
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_launches_that_decide_are_those_at_which_the_interval_ends_in_reach() -> None:
    """The later side has 5 launches, the earlier one 20; both differ by 10 %."""
    random = np.random.default_rng(1)
    a, b = (random.normal(0, 0.1, (launches, 1)) for launches in (20, 5))
    logs = logs_apart(a, b, np.zeros(1), launches_min=2)
    needed = logs.launches_deciding(NO_SHARE, 0.05, 0.09)
    assert 5 < needed < 40
    further = np.concatenate([b, np.resize(b, (needed - 5, 1))])
    (before, now) = (float(robust_spread(side.T).variance[0]) for side in (b, further))
    further *= math.sqrt(before / now)
    longer = logs_apart(a, further, np.zeros(1), launches_min=2)
    _, low, high = longer.estimates().ends(0.05, 0.05)
    assert (high[0] - low[0]) / 2 == pytest.approx(0.09, rel=0.1)
    assert logs.launches_deciding(NO_SHARE, 0.05, 1.0) == 6
    assert logs.launches_deciding(AVERAGE_SHARE, 0.05, 0.001) == 0, "runs differ by more"
    assert logs.launches_deciding(NO_SHARE, 0.05, -0.1) == 0


@pytest.mark.parametrize("log_most", [0.05, 0.1, 0.2])
def test_the_error_within_is_that_at_which_the_interval_ends_there(log_most: float) -> None:
    random = np.random.default_rng(4)
    a, b = (random.normal(0, 0.05, (8, 5)) for _ in range(2))
    estimates = logs_apart(a, b, np.median(b, axis=0) - np.median(a, axis=0), 3).estimates()
    error = estimates.error_within(log_most)
    assert 0 < error < 1
    _, _, high = estimates.ends(error, error)
    assert high[0] == pytest.approx(log_most)


def test_what_cannot_be_within_has_no_error() -> None:
    still = np.zeros((4, 3))
    exact = logs_apart(still, still, np.zeros(3), 3).estimates()
    assert (exact.error_within(0.1), exact.error_within(-0.1)) == (0.0, 1.0)
    slower = logs_apart(still, still + 0.2, np.full(3, 0.2), 3).estimates()
    assert slower.error_within(0.1) == 1.0
    few = logs_apart(still[:2], still[:2], np.zeros(3), 3).estimates()
    assert few.error_within(0.1) == 1.0
    holes = np.where(np.eye(2)[[0, 1, 0]] == 1, np.nan, 0.0)
    no_size_is_whole = logs_apart(holes, holes, np.zeros(2), 3).estimates()
    assert no_size_is_whole.error_within(0.1) == 1.0


def hung(logs: Floats, launch: int) -> Floats:
    """One launch of these that took a thousand times as long."""
    return logs + np.where(np.arange(len(logs)) == launch, math.log(1000), 0.0)[:, None]


@pytest.mark.parametrize("paired", [True, False])
def test_one_launch_among_thirty_that_hung_hides_no_slow_down(paired: bool) -> None:
    """1.25 times as long, of launches that differ by 5 %; nine launches each count."""
    random = np.random.default_rng(5)
    a, b = (random.normal(0, 0.05, (30, 1)) + random.normal(0, 0.02, (30, 6)) for _ in range(2))
    b = hung(b + math.log(1.25), 7)

    def lowest(launches: int) -> Floats:
        sides = a[:launches], b[:launches]
        centre = np.median(sides[1], axis=0) - np.median(sides[0], axis=0)
        logs = paired_logs(sides[1] - sides[0], 3) if paired else logs_apart(*sides, centre, 3)
        return logs.estimates().ends(0.001, 0.001)[1]

    assert (lowest(30) > math.log(1.1)).all()
    assert (lowest(9) < 0).all()


def test_one_size_that_hung_in_one_launch_hides_no_slow_down_there() -> None:
    random = np.random.default_rng(6)
    a, b = (random.normal(0, 0.02, (20, 6)) for _ in range(2))
    b[:, 2] += math.log(1.25)
    b[4, 2] += math.log(1000)
    centre = np.median(b, axis=0) - np.median(a, axis=0)
    _, low, _ = logs_apart(a, b, centre, 3).estimates().ends(0.001, 0.001)
    assert low[1 + 2] > math.log(1.1)
    assert (low[[1, 2, 4, 5, 6]] < 0).all()


def test_a_ratio_of_many_launches_is_not_widened_by_one_that_hung() -> None:
    random = np.random.default_rng(7)
    dividends, divisors = np.exp(random.normal(0, 0.05, (2, 20)))
    usual = interval_apart(dividends, divisors)
    dividends[3] *= 1000
    assert interval_apart(dividends, divisors).half_width < 1.5 * usual.half_width

"""Quantiles of samples: exact numbers, what is not known, and how often intervals hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.tails import points_with_quantiles, tail_samples
from nhalf.statistics.tails import quantile_intervals, quantiles, samples_needed

Make = Callable[..., pl.LazyFrame]


def test_quantiles_of_known_samples() -> None:
    samples = np.random.default_rng(1).permutation(np.arange(1.0, 1001.0))
    intervals = quantile_intervals([samples[:500], samples[500:]], (0.5, 0.95, 0.99))
    assert [interval.median for interval in intervals] == [500, 950, 990]
    assert all(interval.low <= interval.median <= interval.high for interval in intervals)


def test_launches_weigh_the_same() -> None:
    """90 samples of one launch say no more than 10 of another."""
    (median,) = quantile_intervals([np.full(90, 1.0), np.full(10, 2.0)], (0.4,))
    assert median.median == 1.0
    (above,) = quantile_intervals([np.full(90, 1.0), np.full(10, 2.0)], (0.6,))
    assert above.median == 2.0


def test_too_few_samples_are_not_known() -> None:
    assert samples_needed(0.99) == 500
    assert samples_needed(0.001) == samples_needed(0.999) == 5000
    few, enough = (quantile_intervals([np.arange(float(n))], (0.99,))[0] for n in (499, 500))
    assert math.isnan(few.median)
    assert math.isnan(few.high)
    assert enough.median == 494
    (none,) = quantile_intervals([], (0.5,))
    assert math.isnan(none.median)


def test_equal_samples_have_no_width() -> None:
    (interval,) = quantile_intervals([np.full(300, 2.0)] * 3, (0.99,))
    assert (interval.low, interval.median, interval.high) == (2.0, 2.0, 2.0)


def test_launches_that_disagree_leave_the_end_open() -> None:
    """All slow samples are in one launch: nobody knows what the next one has."""
    burst = np.r_[np.full(900, 1.0), np.full(100, 3.0)]
    (interval,) = quantile_intervals([burst, *[np.full(1000, 1.0)] * 4], (0.99,))
    assert interval.high == math.inf
    (certain,) = quantile_intervals([burst] * 5, (0.99,))
    assert certain.high == 3.0


@pytest.mark.parametrize("launch_noise", [0.0, 0.01])
def test_intervals_hold_the_truth(launch_noise: float) -> None:
    random = np.random.default_rng(7)
    truth = math.exp(2.3263 * math.hypot(0.05, launch_noise))
    held = 0
    for _ in range(200):
        levels = launch_noise * random.standard_normal((12, 1))
        launches = np.exp(levels + 0.05 * random.standard_normal((12, 200)))
        (interval,) = quantile_intervals(list(launches), (0.99,))
        held += interval.low <= truth <= interval.high
    assert held >= 185


def test_points_carry_their_quantiles(make_measurements: Make) -> None:
    facts = Facts(make_measurements(sizes=(0, 8), launches=3, samples=200))
    for point in points_with_quantiles(facts):
        by_quantile = {row["q"]: row for row in point["quantiles"]}
        assert list(by_quantile) == [0.5, 0.95, 0.99, 0.999]
        assert by_quantile[0.5]["low_s"] < point["median_s"] < by_quantile[0.99]["time_s"]
        assert math.isnan(by_quantile[0.999]["time_s"])
        assert by_quantile[0.5]["samples"] == 600


def test_a_part_of_a_run_has_the_same_quantiles(make_measurements: Make) -> None:
    """Which visits count follows from the whole run, whose rows are then others."""
    whole = Facts(make_measurements(patterns=("pingpong", "bcast"), sizes=(8,), samples=100))
    part = whole.restricted(pattern="bcast")
    of_whole = quantiles(tail_samples(whole), (0.95,)).filter(pl.col("pattern") == "bcast")
    assert quantiles(tail_samples(part), (0.95,)).equals(of_whole)


def test_printed_percentiles_are_shown(make_measurements: Make) -> None:
    values = [{"name": "p99_9_s", "value": 7e-6}, {"name": "p99_s", "value": 5e-6}]
    facts = Facts(make_measurements(sizes=(8,), launches=1, samples=1, values=values))
    (point,) = points_with_quantiles(facts)
    times_s = {row["q"]: row["time_s"] for row in point["quantiles"]}
    assert (times_s[0.99], times_s[0.999]) == (5e-6, 7e-6)
    assert math.isnan(times_s[0.95])

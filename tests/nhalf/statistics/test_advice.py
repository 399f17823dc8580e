"""Advice: found where it should be, silent on plain noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.statistics.advice import ADVICES, advice
from nhalf.statistics.bimodality import split, split_threshold, two_states
from nhalf.statistics.drift import has_slope, trend_signs
from nhalf.statistics.summary import summarise

Make = Callable[..., pl.LazyFrame]


def test_every_advice_says_what_to_do() -> None:
    names = [known.name for known in ADVICES]
    assert len(set(names)) == len(names)
    assert all(known.meaning and known.remedy and known.detected for known in ADVICES)
    assert advice("drift").name == "drift"


def test_an_unknown_advice_is_answered_with_the_closest() -> None:
    with pytest.raises(InputError, match="bimodal"):
        advice("bimodul")


def test_split_by_hand() -> None:
    """Two groups of equal numbers explain everything; 0 0 1 1 4 4 splits before the fours."""
    share, distance = split(np.array([[5.0, 1.0, 1.0, 5.0, 1.0, 5.0], [0, 4, 1, 0, 1, 4]]))
    assert share[0] == pytest.approx(1.0)
    assert distance[0] == pytest.approx(4.0)
    assert distance[1] == pytest.approx(3.5)
    mean = 10 / 6
    total = 2 * mean**2 + 2 * (1 - mean) ** 2 + 2 * (4 - mean) ** 2
    assert share[1] == pytest.approx(1 - 4 * 0.25 / total)


def test_no_spread_is_no_split() -> None:
    share, distance = split(np.array([[2.0] * 8, [np.nan] * 8, [1.0, *[np.nan] * 7]]))
    assert share.tolist() == [0, 0, 0]
    assert distance.tolist() == [0, 0, 0]
    assert split(np.ones((2, 1)))[0].tolist() == [0, 0]
    assert split(np.empty((0, 5)))[0].shape == (0,)


def test_one_outlier_is_not_a_state() -> None:
    assert not two_states(np.array([[1.0] * 30 + [9.0]]))[0]
    assert not two_states(np.array([[1.0] * 38 + [9.0, 9.1]]))[0]
    assert two_states(np.array([[1.0, 1.001] * 15 + [1.25] * 8]))[0]


def test_states_that_hardly_differ_do_not_count() -> None:
    assert not two_states(np.array([[1.0] * 20 + [1.02] * 20]))[0]
    assert two_states(np.array([[1.0] * 20 + [1.04] * 20]))[0]


@pytest.mark.parametrize("count", [5, 6, 8, 10, 12, 20, 50, 200])
@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_noise_seldom_looks_like_two_states(count: int, kind: str) -> None:
    """At most 1 % per row: two rows must agree before anything is said."""
    random = np.random.default_rng(count)
    drawn = getattr(random, kind if kind == "exponential" else "standard_normal")
    rows = np.exp(0.3 * drawn(size=(5000, count)))
    assert np.mean(two_states(rows)) < 0.01


def test_the_threshold_falls_with_the_count() -> None:
    thresholds = split_threshold(np.array([20, 50, 100, 256]))
    assert (np.diff(thresholds) < 0).all()
    assert (thresholds > 0.75).all()


def test_trend_signs_by_hand() -> None:
    rises, pairs, change = trend_signs(
        np.array([[1, 1, 1, 5, 5, 5, 2, 2, 1.0], [3, 2, 1, np.nan, *[np.nan] * 5]])
    )
    assert rises.tolist() == [2, -1]
    assert pairs.tolist() == [2, 1]
    assert change[0] == pytest.approx(np.log(2))
    assert trend_signs(np.empty((0, 4)))[0].shape == (0,)
    assert trend_signs(np.ones((2, 1)))[2].tolist() == [0, 0]


def test_slope_needs_launches_and_size() -> None:
    order = np.arange(5.0)
    assert not has_slope(order[:4], np.array([0, 0.1, 0.2, 0.3]))
    assert has_slope(order, 0.02 * order)
    assert has_slope(order, -0.02 * order)
    assert not has_slope(order, 0.005 * order)
    assert not has_slope(order, np.zeros(5))
    assert not has_slope(order, np.array([0.0, 0.1, -0.1, 0.1, 0.0]))


def advice_of(measurements: pl.LazyFrame) -> set[str]:
    return {name for row in summarise(measurements)["advice"] for name in row}


def test_plain_noise_raises_neither_states_nor_drift(make_measurements: Make) -> None:
    runs = [
        make_measurements(run=str(seed), seed=seed, noise=0.1, samples=40) for seed in range(20)
    ]
    found = summarise(pl.concat(runs))["advice"]
    for name in ("bimodal", "drift"):
        assert found.list.contains(name).mean() < 0.02  # type: ignore[operator]


def scaled(measurements: pl.LazyFrame, factors: Callable[[int], Any]) -> pl.LazyFrame:
    """Measurements with samples multiplied by factors of the launch's number."""
    frame = measurements.collect()
    samples = [
        (np.array(row) * factors(launch)).tolist()
        for row, launch in zip(frame["samples_s"], frame["launch"], strict=True)
    ]
    return frame.with_columns(pl.Series("samples_s", samples)).lazy()


def test_states_within_launches_are_found(make_measurements: Make) -> None:
    measurements = make_measurements(sizes=[8, 16], noise=0.01, samples=50)
    states = np.where(np.arange(50) % 3 == 0, 1.3, 1.0)
    assert "bimodal" in advice_of(scaled(measurements, lambda _: states))
    one_only = scaled(measurements, lambda launch: states if launch == 2 else np.ones(50))
    assert "bimodal" not in advice_of(one_only)


def test_states_between_launches_are_found(make_measurements: Make) -> None:
    measurements = make_measurements(noise=0.01, launch_noise=0.001)
    assert "bimodal" in advice_of(
        scaled(measurements, lambda k: np.array(1.3 if k in (1, 4) else 1))
    )
    assert "bimodal" not in advice_of(measurements)


def test_a_coarse_clock_is_not_two_states(make_measurements: Make) -> None:
    coarse = make_measurements(sizes=[8], noise=0.01, samples=50, advice=["timer-coarse"])
    states = np.where(np.arange(50) % 2 == 0, 1.3, 1.0)
    found = advice_of(scaled(coarse, lambda _: states))
    assert "timer-coarse" in found
    assert "bimodal" not in found


def test_drift_within_launches_is_found(make_measurements: Make) -> None:
    measurements = make_measurements(sizes=[8], noise=0.02, samples=60)
    rising = np.linspace(1.0, 1.2, 60)
    assert "drift" in advice_of(scaled(measurements, lambda _: rising))
    assert "drift" in advice_of(scaled(measurements, lambda _: rising[::-1]))
    assert "drift" not in advice_of(scaled(measurements, lambda _: rising**0.05))


def test_drift_between_launches_is_found(make_measurements: Make) -> None:
    measurements = make_measurements(launch_noise=0.002)
    assert "drift" in advice_of(scaled(measurements, lambda k: np.array(1 + 0.03 * k)))


def test_one_launch_says_so(make_measurements: Make) -> None:
    assert "one-launch" in advice_of(make_measurements(launches=1))
    # A simulator takes in every launch what it took in the first.
    assert "one-launch" not in advice_of(make_measurements(launches=1, transport="simulated"))

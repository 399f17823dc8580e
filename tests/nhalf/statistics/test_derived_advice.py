"""States that outlast a launch: one launch apart is said, and what is not excluded is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from nhalf.statistics.derived_advice import one_apart, unseen_share
from nhalf.statistics.summary import summarise

Make = Callable[..., pl.LazyFrame]


def test_one_of_five_is_apart() -> None:
    levels = np.log([1.0, 1.01, 1.005, 0.998, 1.4])
    assert one_apart(levels)
    assert one_apart(-levels)
    assert not one_apart(np.log([1.0, 1.01, 1.005, 1.39, 1.4]))
    assert not one_apart(np.log([1.0, 1.1, 1.2, 1.3, 1.4]))


def test_three_launches_and_small_distances_say_nothing() -> None:
    assert not one_apart(np.log([1.0, 1.0, 2.0]))
    assert not one_apart(np.log([1.0, 1.0, 1.0, 1.0, 1.02]))
    assert not one_apart(np.zeros(6))


@pytest.mark.parametrize("count", [4, 5, 7, 9, 11, 18, 40])
def test_noise_is_seldom_a_state(count: int) -> None:
    """0.2 % are meant; between the counts that were simulated, and above, at most 0.5 %."""
    drawn = np.random.default_rng(count).standard_normal((10_000, count))
    assert np.mean([one_apart(levels) for levels in drawn]) < 0.005


def test_what_equal_launches_may_have_missed() -> None:
    """Five tosses of a coin with 45.1 % all fail once in 20."""
    assert unseen_share(5) == pytest.approx(0.4507, abs=1e-4)
    assert unseen_share(3) == pytest.approx(0.6316, abs=1e-4)
    assert unseen_share(1) == pytest.approx(0.95)


def _advice(measurements: pl.LazyFrame, apart: float) -> set[str]:
    """The advice of a run whose third launch was slower by a factor."""
    frame = measurements.collect().with_columns(
        samples_s=pl.when(pl.col("launch") == 2)
        .then(pl.col("samples_s").list.eval(pl.element() * apart))
        .otherwise("samples_s")
    )
    return {name for row in summarise(frame.lazy())["advice"] for name in row}


def test_a_launch_in_another_state_is_said(make_measurements: Make) -> None:
    measurements = make_measurements(noise=0.01, launch_noise=0.002)
    assert "launch-apart" in _advice(measurements, 1.3)
    assert "launch-apart" not in _advice(measurements, 1.0)
    assert "bimodal" not in _advice(measurements, 1.3)

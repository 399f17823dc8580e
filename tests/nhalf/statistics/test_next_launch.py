"""Where the time of one further launch lies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import Generator

from nhalf.statistics.next_launch import next_launch

RUNS = 2000


def test_three_launches() -> None:
    low_s, high_s = next_launch([math.exp(-0.1), 1.0, math.exp(0.1)])
    reach = 4.302652729749462 * 0.1 * math.sqrt(4 / 3)
    assert (low_s, high_s) == pytest.approx((math.exp(-reach), math.exp(reach)))


@pytest.mark.parametrize(
    ("times_s", "ends_s"),
    [
        ([2.0], (2.0, 2.0)),
        ([2.0, 2.0, 2.0], (2.0, 2.0)),
        ([0.0, 1.0], (0.0, 1.0)),
        ([1.0, math.inf], (1.0, math.inf)),
    ],
)
def test_launches_that_say_no_more_than_themselves(
    times_s: list[float], ends_s: tuple[float, float]
) -> None:
    assert next_launch(times_s) == ends_s


def test_what_is_no_number_stays_none() -> None:
    assert all(math.isnan(end_s) for end_s in next_launch([math.nan, 1.0]))
    assert all(math.isnan(end_s) for end_s in next_launch([1.0, math.nan]))


def test_two_launches_far_apart_say_nothing() -> None:
    low_s, high_s = next_launch([1e-300, 1e300])
    assert 0 < low_s < 1e-300
    assert 1e300 < high_s < math.inf


def normal(random: Generator, launches: int) -> list[float]:
    """Launches that differ by 5 %."""
    return np.exp(random.normal(0, 0.05, launches)).tolist()


def skewed(random: Generator, launches: int) -> list[float]:
    """Launches that others make longer, by 10 % in the mean."""
    return (1 + random.exponential(0.1, launches)).tolist()


@pytest.mark.parametrize("launches", [2, 3, 5, 10])
@pytest.mark.parametrize(("drawn", "least"), [(normal, 0.935), (skewed, 0.90)])
def test_a_further_launch_is_held(launches: int, drawn: object, least: float) -> None:
    random, held = np.random.default_rng(launches), 0
    for _ in range(RUNS):
        *times_s, further_s = drawn(random, launches + 1)  # type: ignore[operator]
        low_s, high_s = next_launch(times_s)
        held += low_s <= further_s <= high_s
    assert held >= least * RUNS

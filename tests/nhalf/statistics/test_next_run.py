"""How often the interval holds what the next run reports, where every variance is known.

Where the time of one further launch lies.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.random import Generator

from nhalf.base.arrays import Floats
from nhalf.statistics.intervals import launch_intervals
from nhalf.statistics.next_run import BETWEEN_RUNS, next_launch, next_run_intervals

SIZES = 24


def runs(
    count: int, launches: int, *, between: float, common: float, odd: float = 0.0, seed: int = 1
) -> Floats:
    """Launch medians (runs, sizes, launches) of 1 with a variance of 0.02^2 a launch.

    `common` of that is of whole launches, the rest of a size's own, by size up to twice as much;
    runs add `between` of it; a share `odd` of launches of a size is off by three times as much.
    """
    random = np.random.default_rng(seed)
    own = np.sqrt((1 - common) * np.linspace(0.5, 1.5, SIZES))[:, None]
    logs = math.sqrt(common) * random.normal(size=(count, 1, launches))
    logs = logs + own * random.normal(size=(count, SIZES, launches))
    logs += math.sqrt(between * common) * random.normal(size=(count, 1, 1))
    logs += math.sqrt(between) * own * random.normal(size=(count, SIZES, 1))
    logs += 3 * (random.random(logs.shape) < odd)
    found: Floats = np.exp(0.02 * logs)
    return found


def covered(medians: Floats) -> float:
    """The share of values of the next run within the interval of the run before."""
    curves = np.repeat(np.arange(len(medians)), SIZES)
    flat = medians.reshape(-1, medians.shape[2])
    value, low, high = (x.reshape(-1, SIZES) for x in next_run_intervals(flat, curves))
    following = np.roll(value, -1, axis=0)
    return float(((low <= following) & (following <= high)).mean())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("common", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("launches", [2, 3, 5, 20])
def test_the_next_run_is_covered_as_often_as_is_said(launches: int, common: float) -> None:
    medians = runs(600, launches, between=BETWEEN_RUNS, common=common)
    # All sizes of two launches hang on one degree of freedom: fewer runs count.
    assert (0.9 if launches == 2 else 0.92) <= covered(medians) <= 0.985


@pytest.mark.parametrize(("launches", "least"), [(2, 0.86), (3, 0.9), (5, 0.92)])
@pytest.mark.parametrize("step", [0.02, 0.04])
def test_rounded_launches_are_covered_though_some_are_equal(
    launches: int, least: float, step: float
) -> None:
    """Rounded to a launch's standard deviation and to twice that; without the step it is 77 % of
    two launches and 91 % of three."""
    medians = np.round(runs(200, launches, between=BETWEEN_RUNS, common=0.5) / step) * step
    assert covered(medians) >= least


def test_one_point_that_differs_does_not_make_the_others_rounded() -> None:
    medians = np.full((SIZES, 3), 1e-6)
    medians[-1] = [1e-3, 1.001e-3, 1.002e-3]
    value, low, high = next_run_intervals(medians, np.zeros(SIZES, dtype=np.int64))
    assert (low[:-1] == value[:-1]).all()
    assert (high[:-1] == value[:-1]).all()
    assert low[-1] < value[-1] < high[-1]


@pytest.mark.parametrize("odd", [0.05, 0.2])
def test_launches_that_went_wrong_do_not_spoil_it(odd: float) -> None:
    assert covered(runs(400, 5, between=BETWEEN_RUNS, common=0.5, odd=odd)) >= 0.92


def test_runs_that_differ_less_or_more_than_is_assumed() -> None:
    """Without any difference it covers too much; with half of a launch's variance, 90 %."""
    assert covered(runs(400, 5, between=0.0, common=0.5)) > 0.97
    assert covered(runs(400, 5, between=0.5, common=0.5)) >= 0.88


def test_the_interval_of_the_mean_would_not_do() -> None:
    medians = runs(400, 5, between=BETWEEN_RUNS, common=0.5)
    value, low, high = (
        x.reshape(-1, SIZES) for x in launch_intervals(medians.reshape(-1, medians.shape[2]))
    )
    following = np.roll(value, -1, axis=0)
    assert ((low <= following) & (following <= high)).mean() < 0.87


def test_the_value_is_that_of_the_launches_and_in_the_interval() -> None:
    medians = runs(1, 5, between=0.0, common=0.5)[0]
    medians[3, 1:] = math.nan
    medians[4, 2] = math.nan
    medians[5, 0] = 0.0
    value, low, high = next_run_intervals(medians, np.zeros(SIZES, dtype=np.int64))
    expected, least, most = launch_intervals(medians)
    assert value.tolist() == expected.tolist()
    assert (low <= value).all()
    assert (value <= high).all()
    assert low[3] == value[3] == high[3], "one launch has no interval"
    assert (low[5], high[5]) == (least[5], most[5]) == (0.0, np.nanmax(medians[5]))


def test_equal_launches_have_an_interval_without_width() -> None:
    medians = np.full((SIZES, 5), 1.25e-6)
    value, low, high = next_run_intervals(medians, np.zeros(SIZES, dtype=np.int64))
    assert value.tolist() == low.tolist() == high.tolist()


class Counted(np.ndarray[Any, np.dtype[np.int64]]):
    """Numbers of curves that count how many of them are looked at."""

    seen: ClassVar[int] = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        Counted.seen += max(np.size(one) for one in inputs)
        plain = [np.asarray(one) for one in inputs]
        return getattr(ufunc, method)(*plain, **named)


def looked_at(curves: int) -> int:
    """How many numbers of curves are looked at for this many curves of four points."""
    numbers = np.random.default_rng(1).permutation(np.repeat(np.arange(curves), 4))
    medians = np.exp(0.02 * np.random.default_rng(2).normal(size=(len(numbers), 3)))
    Counted.seen = 0
    next_run_intervals(medians, numbers.view(Counted))
    return Counted.seen


def test_many_curves_cost_no_more_each_than_few() -> None:
    """Of four times the curves, four times the numbers are looked at, not sixteen times."""
    assert 0 < looked_at(40) <= 5 * looked_at(10)


def test_the_order_of_points_does_not_matter() -> None:
    medians = runs(3, 3, between=0.0, common=0.5).reshape(-1, 3)
    curves = np.repeat(np.arange(3), SIZES)
    shuffled = np.random.default_rng(5).permutation(len(curves))
    there = next_run_intervals(medians, curves)
    back = next_run_intervals(medians[shuffled], curves[shuffled])
    for one, other in zip(there, back, strict=True):
        assert other == pytest.approx(one[shuffled], rel=1e-12)


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

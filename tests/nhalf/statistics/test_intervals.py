"""Intervals: degenerate data first, then coverage by simulation with fixed seeds.

The quantiles that are known are those that SciPy computes, and those that intervals ask for.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from nhalf.base.errors import InputError
from nhalf.statistics.derived_advice import TREND_CONFIDENCE
from nhalf.statistics.intervals import (
    DEGREES_SUMMED,
    GUARD,
    Floats,
    Interval,
    launch_interval,
    launch_intervals,
    ratio_interval,
    sample_interval,
    signed_interval,
    student_quantile,
)

times = st.floats(min_value=1e-9, max_value=1e3)


def test_no_launch_is_an_input_error() -> None:
    with pytest.raises(InputError, match="at least one launch"):
        launch_interval([])


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_no_time_is_an_input_error(wrong: float) -> None:
    with pytest.raises(InputError):
        launch_interval([1.0, wrong, 1.0])


def test_where_a_reading_of_the_clock_made_a_time_negative_the_interval_is_the_range() -> None:
    found = launch_interval([-1e-9, 2e-9, 3e-9])
    assert found == Interval(2e-9, -1e-9, 3e-9)
    assert launch_interval([-4.0, -3.0, -2.0]).half_width == pytest.approx(1 / 3)


def test_one_launch_has_no_width() -> None:
    assert launch_interval([2.0]) == Interval(2.0, 2.0, 2.0)


def test_equal_launches_have_no_width() -> None:
    assert launch_interval([0.1] * 5) == Interval(0.1, 0.1, 0.1)


def test_a_launch_of_zero_gives_the_range() -> None:
    assert launch_interval([0.0, 1.0, 3.0]) == Interval(1.0, 0.0, 3.0)
    assert launch_interval([0.0, 0.0]) == Interval(0.0, 0.0, 0.0)
    together = launch_intervals(np.array([[0.0, 1.0, 3.0], [1.0, 1.0, 1.0], [1.0, 4.0, np.nan]]))
    assert together[0] == pytest.approx([1.0, 1.0, 2.0])


def test_numbers_far_apart_stay_finite() -> None:
    interval = launch_interval([1e-300, 1e300])
    assert interval.low >= 0
    assert math.isfinite(interval.high)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, math.nan])
def test_confidence_is_between_0_and_1(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence"):
        launch_interval([1.0, 2.0], confidence)


def test_the_formula_by_hand() -> None:
    """Student's t(4) at 98 % is 3.7469; the mean of the logarithms is 0, their deviation 1."""
    logs = np.array([-1.2, -0.6, 0.0, 0.6, 1.2]) / math.sqrt(0.9)
    assert np.std(logs, ddof=1) == pytest.approx(1.0)
    interval = launch_interval(np.exp(logs))
    reach = 3.7469 / math.sqrt(5)
    assert interval.median == pytest.approx(1.0)
    assert math.log(interval.low) == pytest.approx(-reach, rel=1e-4)
    assert math.log(interval.high) == pytest.approx(reach, rel=1e-4)


def test_half_width_is_the_larger_side_relative_to_the_median() -> None:
    assert Interval(2.0, 1.9, 2.4).half_width == pytest.approx(0.2)
    assert Interval(2.0, 1.0, 2.1).half_width == pytest.approx(0.5)
    assert Interval(0.0, 0.0, 0.0).half_width == 0
    assert Interval(0.0, 0.0, 1.0).half_width == math.inf


def pseudomedian(values: list[float]) -> float:
    """Hodges and Lehmann 1963, literally: the median of the means of all pairs, on logarithms."""
    logs = [math.log(value) for value in values]
    pairs = [(one + other) / 2 for i, one in enumerate(logs) for other in logs[i:]]
    return math.exp(float(np.median(pairs)))


@given(st.lists(times, min_size=1, max_size=12))
def test_the_value_is_the_pseudomedian_and_lies_in_its_interval(medians: list[float]) -> None:
    interval = launch_interval(medians)
    assert interval.median == pytest.approx(pseudomedian(medians))
    assert interval.covers(interval.median)


def test_two_launches_give_their_geometric_mean() -> None:
    assert launch_interval([1.0, 4.0]).median == pytest.approx(2.0)


@pytest.mark.parametrize("launches", [50, 51, 200])
def test_many_launches_give_the_pseudomedian_too(launches: int) -> None:
    """Three in five at 1, the others at 2: the median would be 1."""
    slow = launches * 2 // 5
    found = launch_interval([1.0] * (launches - slow) + [2.0] * slow)
    assert found.median == pytest.approx(math.sqrt(2.0))


def test_beyond_all_reason_the_value_is_the_median() -> None:
    many = [1.0] * 1200 + [2.0] * 800
    assert launch_interval(many).median == 1.0


def test_rows_taken_in_several_parts_are_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.exp(np.random.default_rng(5).standard_normal((7, 4)))
    drawn[3, 1] = np.nan
    whole = launch_intervals(drawn)
    monkeypatch.setattr("nhalf.statistics.intervals.PAIRS_AT_ONCE", 25)
    np.testing.assert_array_equal(launch_intervals(drawn), whole)
    rows = [row[~np.isnan(row)].tolist() for row in drawn]
    assert whole[0] == pytest.approx([pseudomedian(row) for row in rows])


def test_a_launch_of_the_middle_is_reported_without_rounding() -> None:
    assert launch_interval([0.1, 0.1, 0.1, 0.3]).median == 0.1


def test_one_launch_of_five_that_went_wrong_hardly_moves_the_value() -> None:
    assert launch_interval([1.0, 1.01, 0.99, 1.0, 3.0]).median == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("slow", [2, 3])
def test_a_machine_in_two_states_gives_a_value_between_them(slow: int) -> None:
    interval = launch_interval([1.0] * (5 - slow) + [3.0] * slow)
    assert interval.median == pytest.approx(math.sqrt(3.0))
    assert interval.low < 1.1
    assert interval.high > 2.7


@given(st.lists(times, min_size=2, max_size=9), st.floats(min_value=0.25, max_value=8))
def test_the_interval_scales_with_its_unit(medians: list[float], factor: float) -> None:
    one = launch_interval(medians)
    other = launch_interval([factor * m for m in medians])
    assert other.low == pytest.approx(factor * one.low, rel=1e-9)
    assert other.high == pytest.approx(factor * one.high, rel=1e-9)


def test_the_interval_is_stretched_to_the_value() -> None:
    """Forty launches at 1, ten at a million: Student's interval would lie above the value."""
    interval = launch_interval([1.0] * 40 + [1e6] * 10)
    assert (interval.median, interval.low) == (1.0, 1.0)
    interval = launch_interval([1.0] * 10 + [1e6] * 40)
    assert interval.high == interval.median == pytest.approx(1e6)


def test_rows_with_gaps_equal_rows_without() -> None:
    matrix = np.array([[1.0, np.nan, 1.2, 1.1], [np.nan] * 4, [np.nan, 2.0, np.nan, np.nan]])
    median, low, high = launch_intervals(matrix)
    whole = launch_interval([1.0, 1.2, 1.1])
    assert (median[0], low[0], high[0]) == pytest.approx((whole.median, whole.low, whole.high))
    assert np.isnan([median[1], low[1], high[1]]).all()
    assert (median[2], low[2], high[2]) == (2.0, 2.0, 2.0)


def test_no_rows_and_no_launches() -> None:
    assert all(len(part) == 0 for part in launch_intervals(np.empty((0, 5))))
    assert np.isnan(launch_intervals(np.empty((3, 0)))).all()


@pytest.mark.parametrize("launches", [3, 5, 6, 9])
@pytest.mark.parametrize(
    ("draw", "true"),
    [
        (lambda r, shape: np.exp(0.05 * r.standard_normal(shape)), 1.0),
        (lambda r, shape: np.exp(0.05 * r.exponential(size=shape)), math.exp(0.05 * math.log(2))),
        (lambda r, shape: np.exp(0.03 * r.standard_t(3, size=shape)), 1.0),
    ],
    ids=["lognormal", "skewed", "heavy-tailed"],
)
def test_coverage_is_as_published(draw: Callable[..., Floats], true: float, launches: int) -> None:
    """98 % by theory for normal logarithms; found 96.6 % (skewed, 3) to 98.8 % (heavy tails, 9)."""
    random = np.random.default_rng(launches)
    _, low, high = launch_intervals(draw(random, (20000, launches)))
    assert 0.96 < np.mean((low <= true) & (true <= high)) < 0.992


@pytest.mark.parametrize("launches", [5, 6])
def test_the_interval_holds_the_next_run(launches: int) -> None:
    """What the next run reports on an unchanged machine lies inside in 94 % (5) and 93 % (6)."""
    random = np.random.default_rng(7)
    median, low, high = launch_intervals(np.exp(0.05 * random.standard_normal((20000, launches))))
    following = np.roll(median, 1)
    assert 0.92 < np.mean((low <= following) & (following <= high)) < 0.95


def test_sample_interval_of_little() -> None:
    with pytest.raises(InputError):
        sample_interval([])
    with pytest.raises(InputError):
        sample_interval([1.0, math.nan])
    assert sample_interval([3.0]) == Interval(3.0, 3.0, 3.0)
    assert sample_interval([3.0, 1.0]) == Interval(2.0, 1.0, 3.0)
    assert sample_interval([5.0] * 100) == Interval(5.0, 5.0, 5.0)


def test_sample_interval_takes_the_tabulated_ranks() -> None:
    """Ranks 2 to 9 of 10 hold the median with 97.9 %, 3 to 8 with 89.1 % only; of 9, 2 to 8 do."""
    interval = sample_interval([float(i) for i in range(1, 10)])
    assert (interval.low, interval.high) == (2.0, 8.0)
    interval = sample_interval([float(i) for i in range(1, 11)])
    assert (interval.low, interval.high) == (2.0, 9.0)
    interval = sample_interval([float(i) for i in range(1, 101)])
    assert (interval.low, interval.high) == (40.0, 61.0)


def test_sample_interval_covers() -> None:
    random = np.random.default_rng(3)
    drawn = random.exponential(size=(4000, 30))
    held = [sample_interval(row).covers(math.log(2)) for row in drawn]
    assert 0.94 < np.mean(held) < 0.975


def test_a_ratio_of_zero_is_an_input_error() -> None:
    with pytest.raises(InputError, match="ratio"):
        ratio_interval([1.0, 0.0])
    assert ratio_interval([2.0, 2.0]) == Interval(2.0, 2.0, 2.0)


def test_differences_may_be_negative() -> None:
    drawn = [-1.0, 2.0, 0.5, -0.2, 0.1]
    interval = signed_interval(drawn)
    assert interval.low < 0 < interval.high
    means = [(a + b) / 2 for i, a in enumerate(drawn) for b in drawn[i:]]
    assert interval.median == pytest.approx(np.median(means))
    shifted = signed_interval([x - 100 for x in drawn])
    assert shifted.low == pytest.approx(interval.low - 100)
    assert shifted.high == pytest.approx(interval.high - 100)


def test_one_or_equal_differences_have_no_width() -> None:
    assert signed_interval([-2.0]) == Interval(-2.0, -2.0, -2.0)
    assert signed_interval([0.1] * 5) == Interval(0.1, 0.1, 0.1)
    assert signed_interval([0.0, 0.0]) == Interval(0.0, 0.0, 0.0)


@pytest.mark.parametrize("wrong", [[], [math.nan], [1.0, math.inf]])
def test_what_is_no_difference_is_an_input_error(wrong: list[float]) -> None:
    with pytest.raises(InputError, match="finite"):
        signed_interval(wrong)


def test_one_wrong_difference_hardly_moves_the_value() -> None:
    assert signed_interval([1.0, 1.0, 1.0, 1.0, 50.0]).median == 1.0


def test_more_differences_than_pairs_can_be_made_of() -> None:
    values = np.linspace(-1, 3, 5001)
    interval = signed_interval(values)
    assert interval.median == pytest.approx(1.0)
    assert interval.covers(1.0)


@pytest.mark.parametrize("launches", [3, 5, 10])
def test_coverage_of_differences(launches: int) -> None:
    random = np.random.default_rng(launches)
    drawn = random.standard_normal((4000, launches))
    inside = np.mean([signed_interval(row).covers(0.0) for row in drawn])
    assert 0.95 <= inside <= 0.995


def test_two_numbers_that_are_one_apart_have_a_width() -> None:
    found = signed_interval([1.0, 2.0])
    assert found.median == 1.5
    assert found.low < 1.0
    assert found.high > 2.0
    assert signed_interval([0.0, 0.0]) == Interval(0.0, 0.0, 0.0)


def test_quantiles_are_those_that_scipy_computes() -> None:
    degrees = np.arange(1, 40)
    for probability in (0.5, 0.9, 0.95, 0.98, 0.99, 0.9999):
        quantiles = [student_quantile(int(number), probability) for number in degrees]
        error = np.where((probability == 0.95) & (degrees > DEGREES_SUMMED), 5e-5, 1e-12)
        expected = stdtrit(degrees, (1 + probability) / 2)
        assert np.all(np.abs(quantiles / expected - 1) <= error), probability


def test_few_degrees_need_no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows a run asks for intervals and trends, whose quantiles load nothing."""
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    for probability in (0.95, 1 - (1 - 0.95) * GUARD, TREND_CONFIDENCE):
        assert student_quantile.__wrapped__(DEGREES_SUMMED, probability) > 2

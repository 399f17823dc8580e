"""Ratios of two numbers of a run: over the launches of both, where it has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.statistics.intervals import ratio_interval
from nhalf.statistics.ratio_intervals import interval_apart
from nhalf.studies.form import Conclusion, Quantity
from nhalf.studies.judge import FAILS, HOLDS, UNTESTED, ConclusionJudgement, judge
from nhalf.studies.measured import Measured
from nhalf.studies.value import StudyValue, ratio_over_launches
from tests.nhalf.synthetic import build_measurements

QUIET: dict[str, Any] = {"launch_noise": 0.0, "sizes": (1024,)}
RUNS = 300


def numbers(row: Sequence[float], first: int = 0) -> dict[tuple[str, int], float]:
    return {("run", launch): number for launch, number in enumerate(row, first)}


def measured(row: Sequence[float], first: int = 0) -> StudyValue:
    return StudyValue.of_launches(numbers(row, first))


def ends(value: StudyValue) -> tuple[float, float]:
    assert value.ci is not None
    return value.ci


def test_launches_with_both_numbers_are_pairs() -> None:
    dividend, divisor = measured([2, 4.1, 8, 16.2, 31.5]), measured([1, 2, 4, 8, 16])
    ratio = dividend.over(divisor)
    expected = ratio_interval([2, 2.05, 2, 2.025, 1.96875])
    assert (ratio.median, *ends(ratio)) == (expected.median, expected.low, expected.high)
    assert ratio.origin == "measured"
    assert ratio.per_launch[("run", 1)] == 2.05
    assert ends(measured([2, 4, 8]).over(measured([1, 2, 4]))) == (2, 2)


def test_only_common_launches_are_pairs() -> None:
    ratio = measured([2, 4, 8, 16]).over(measured([2, 4, 8, 99], first=1))
    assert ends(ratio) == (2, 2)
    assert sorted(launch for _, launch in ratio.per_launch) == [1, 2, 3]


def test_launches_without_common_numbers_are_compared_as_two_runs() -> None:
    dividend, divisor = measured([1.98, 2.0, 2.02]), measured([0.99, 1.0, 1.01], first=5)
    ratio = dividend.over(divisor)
    assert ratio.median == pytest.approx(2)
    assert ends(ratio) == pytest.approx((1.92, 2.08), abs=0.02)
    low, high = dividend.ends[0] / divisor.ends[1], dividend.ends[1] / divisor.ends[0]
    assert low < ends(ratio)[0] < ends(ratio)[1] < high
    assert not ratio.per_launch


def test_the_ratio_of_equal_launches_apart_is_exact() -> None:
    interval = interval_apart([3.0, 3.0, 3.0], [1.5, 1.5, 1.5])
    assert (interval.median, interval.low, interval.high) == pytest.approx((2, 2, 2))
    wide = interval_apart([1e-300, 1.0, 1e300], [1.0, 1.0, 1.0])
    assert 0 < wide.low < wide.median < wide.high < math.inf


@pytest.mark.parametrize(
    "row", [[], [2.0], [2.0, 2.1], [2.0, math.nan, 2.1], [2.0, 0.0, 2.1], [2.0, math.inf, 2.1]]
)
def test_what_has_no_ratio_over_launches(row: Sequence[float]) -> None:
    usable = numbers([1.0, 1.1, 1.2])
    assert ratio_over_launches(numbers(row), usable) is None
    assert ratio_over_launches(usable, numbers(row)) is None


def test_two_launches_reach_from_end_to_end() -> None:
    dividend, divisor = measured([2.0, 2.1]), measured([1.0, 1.05])
    (low, high), (least, most) = ends(dividend), ends(divisor)
    assert ends(dividend.over(divisor)) == (low / most, high / least)


def test_a_single_launch_gives_a_ratio_no_interval() -> None:
    several, single = measured([2.0, 2.1, 2.2]), measured([1.0])
    assert several.over(single).ci is None
    assert single.over(several).ci is None
    published = StudyValue(2.0, origin="published")
    low, high = ends(several)
    assert ends(several.over(published)) == (low / 2, high / 2)


def test_launches_that_a_clock_rounds_reach_from_end_to_end() -> None:
    rounded = StudyValue(2.0, (1.5, 2.5), origin="measured", per_launch=numbers([2, 2, 2]))
    assert ends(rounded.over(measured([1.0, 1.01, 1.02])))[0] < 1.6
    exact = StudyValue(2.0, (2.0, 2.0), origin="measured", per_launch=numbers([2, 2, 2]))
    assert ends(exact.over(StudyValue(1.0, (1.0, 1.0), per_launch=numbers([1, 1, 1])))) == (2, 2)


def test_of_many_launches_those_that_met_others_do_not_hide_the_rest() -> None:
    """One launch of thirty takes a thousand times as long; its pair was left in peace."""
    random = np.random.default_rng(7)
    divisor = np.exp(random.normal(0, 0.02, 300))
    dividend = 1.2 * divisor * np.exp(random.normal(0, 0.02, 300))
    dividend[::30] *= 1000
    ratio = measured(dividend.tolist()).over(measured(divisor.tolist()))
    assert ratio.median == pytest.approx(1.2, rel=0.01)
    assert ends(ratio) == pytest.approx((1.2, 1.2), rel=0.02)
    published = StudyValue(1.0, origin="published")
    low, high = ends(measured(dividend.tolist()).over(published))
    assert 1.1 < low < 1.2 < high < 1.3


def test_rates_and_scaled_numbers_keep_their_launches() -> None:
    times = measured([1.0, 2.0, 4.0])
    assert ends(times.inverse(8).over(times.inverse(2))) == (4, 4)
    assert ends(times.scaled(3).over(times)) == (3, 3)
    assert times.at_most(2.0).per_launch == numbers([1, 2, 2])
    assert measured([0.0, 1.0, 2.0]).at_most(1).per_launch[("run", 0)] == 0
    assert times.times(times).per_launch == {}


def curve(pattern: str, seed: int, **parts: Any) -> pl.LazyFrame:
    return build_measurements(patterns=(pattern,), seed=seed, **{**QUIET, **parts})


def judged(
    frames: Sequence[pl.LazyFrame], relation: str, limit: float, **over: Any
) -> ConclusionJudgement:
    divisor = {"pattern": "pingping", "bytes": 1024, **over}
    conclusion = Conclusion(
        id="slower",
        claim="It is slower.",
        value=Quantity(pattern="pingpong", bytes=1024),
        over=Quantity(**divisor),
        relation=relation,  # type: ignore[arg-type]
        limit=limit,
    )
    return judge(conclusion, Measured("run", Facts(pl.concat(frames))), [])


def slow_launches(factor: float) -> list[pl.LazyFrame]:
    """A pattern that takes `factor` times another one, in launches that differ by far more."""
    frames = []
    for launch, slow in enumerate((1.0, 1.5, 1.1, 2.0, 1.3)):
        for pattern, time_s in (("pingpong", factor * 1e-6), ("pingping", 1e-6)):
            own = 1 + 0.001 * ((3 * launch + (pattern == "pingping")) % 5)
            samples_s = [time_s * slow * own] * 3
            frames.append(curve(pattern, 1, launches=(launch,), samples_s=samples_s))
    return frames


def test_slow_launches_are_not_in_the_ratio() -> None:
    frames = slow_launches(1.1)
    assert judged(frames, "at least", 1).verdict == HOLDS
    assert judged(frames, "at most", 1).verdict == FAILS
    assert judged(frames, "at least", 1.1).verdict == UNTESTED
    rates = judged(frames, "at least", 1, figure="rate")
    assert rates.value is not None  # a time by a rate: slow launches count twice
    assert rates.value.ci is not None
    assert rates.value.ci[1] > 2 * rates.value.ci[0]


@pytest.mark.parametrize("first", [0, 50])
def test_equal_curves_are_not_found_different(first: int) -> None:
    """Neither in pairs of launches nor, without common ones, as two runs."""
    random = np.random.default_rng(7)
    wrong = 0
    for _ in range(RUNS):
        whole, a, b = random.normal(0, 0.05, (3, 5))
        common = whole if first == 0 else random.normal(0, 0.05, 5)
        ratio = measured(np.exp(whole + a)).over(measured(np.exp(common + b), first))
        low, high = ends(ratio)
        wrong += low > 1 or high < 1
    assert wrong <= 0.05 * RUNS


def test_verdicts_on_equal_curves_stay_open() -> None:
    """Of 20 verdicts about the limit 1 at most one is wrong."""
    decided = [
        judged([curve(name, seed + 100 * place, launch_noise=0.03)
                for place, name in enumerate(("pingpong", "pingping"))], "at least", 1).verdict
        for seed in range(20)
    ]  # fmt: skip
    assert sum(verdict != UNTESTED for verdict in decided) <= 1


def test_verdicts_near_their_limit_are_not_turned_round_by_the_next_run() -> None:
    for limit in (0.97, 1.0, 1.03):
        verdicts = {
            judged([curve("pingpong", seed, launch_noise=0.03),
                    curve("pingping", seed + 50, launch_noise=0.03)], "at least", limit).verdict
            for seed in range(6)
        }  # fmt: skip
        assert not {HOLDS, FAILS} <= verdicts

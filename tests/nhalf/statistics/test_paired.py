"""The effect in pairs of launches, and the error of interim analyses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.base.arrays import Floats
from nhalf.statistics.paired import ANALYSES, TRIMMED_FROM, Effect


def test_of_no_pair_nothing_is_known() -> None:
    effect = Effect.of([])
    assert (effect.pairs, effect.interval(0.05)) == (0, (0.0, math.inf))
    assert math.isnan(effect.ratio)
    assert not effect.is_proven(0.5)
    assert not effect.is_within(10.0, 0.5)
    assert effect.moderated(0.1, 5) == effect


def test_one_pair_has_a_ratio_and_proves_nothing() -> None:
    effect = Effect.of([math.log(2)])
    assert effect.ratio == pytest.approx(2.0)
    assert effect.interval(0.05) == (0.0, math.inf)
    assert not effect.is_proven(0.5)


def test_equal_pairs_are_exact() -> None:
    effect = Effect.of([0.1] * 7)
    assert (effect.log_ratio, effect.reach(1e-6)) == (0.1, 0.0)
    assert effect.is_proven(1e-6)
    assert effect.is_within(0.11, 1e-6)
    assert not Effect.of([1e-12] * 7).is_proven(0.05)
    assert Effect.exact(0.1).reach(1e-6) == 0.0


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_ratio_that_is_not_finite_proves_nothing(broken: float) -> None:
    effect = Effect.of([0.5, 0.6, broken, 0.55])
    assert effect.pairs == 4
    assert math.isnan(effect.log_ratio)
    assert not effect.is_proven(0.5)
    assert effect.interval(0.5) == (0.0, math.inf)


def test_the_interval_of_few_pairs_is_students() -> None:
    # t(3, 0.975) = 3.182446; the deviation of 1 to 4 is sqrt(5 / 3).
    effect = Effect.of([0.04, 0.01, 0.03, 0.02])
    assert effect.log_ratio == pytest.approx(0.025)
    reach = 3.182446 * 0.01 * math.sqrt(5 / 3) / 2
    assert effect.reach(0.05) == pytest.approx(reach, rel=1e-6)
    assert effect.interval(0.05)[0] == pytest.approx(math.exp(0.025 - reach))


def test_many_pairs_are_trimmed_with_a_degree_less_than_remain() -> None:
    few, many = ([0.01 * n for n in range(count - 1)] + [9.0] for count in (13, TRIMMED_FROM))
    assert Effect.of(few).log_ratio == pytest.approx(np.mean(few))
    effect = Effect.of(many)
    # Of 14 pairs two are cut off at either end, so that 10 remain: those from 0.02 to 0.11.
    assert (effect.counted, effect.degrees, effect.pairs) == (10, 8, 14)
    assert effect.log_ratio == pytest.approx(0.065)
    winsorised = [0.02, 0.02, *(0.01 * n for n in range(2, 12)), 0.11, 0.11]
    assert effect.variance == pytest.approx(np.var(winsorised, ddof=1) * 13 / 9)


def test_other_pairs_contribute_to_the_variance_by_their_degrees() -> None:
    effect = Effect.of([0.0, 0.2, 0.1]).moderated(0.04, 4)
    assert effect.variance == pytest.approx((2 * 0.01 + 4 * 0.04) / 6)
    assert effect.degrees == 6
    assert Effect.of([0.3]).moderated(0.04, 4).variance == pytest.approx(0.04)


def test_what_is_planned_is_what_normal_noise_gives() -> None:
    random = np.random.default_rng(2)
    for pairs in (7, 28):
        planned = Effect.planned(pairs, 0.03)
        effects = [Effect.of(random.normal(0.0, 0.03, pairs)) for _ in range(1000)]
        assert (planned.counted, planned.degrees) == (effects[0].counted, effects[0].degrees)
        assert planned.error == pytest.approx(np.std([e.log_ratio for e in effects]), rel=0.1)


def test_analyses_share_the_error_equally() -> None:
    some = ANALYSES.until(28)
    assert some.pairs == (3, 5, 7, 10, 14, 20, 28)
    assert some.part(0.07) == pytest.approx(0.01)


def test_a_false_effect_is_as_rare_as_the_rate_says() -> None:
    assert _found_share(0.0, 0.1, 1000) <= 0.1


@pytest.mark.full
@pytest.mark.parametrize(("rate", "times"), [(0.025, 40000), (0.0025, 100000)])
def test_the_rates_of_the_simulation_are_kept(rate: float, times: int) -> None:
    error = math.sqrt(rate / times)
    assert 0.6 * rate < _found_share(0.0, rate, times) < rate + 3 * error


@pytest.mark.full
def test_disturbed_launches_hide_little() -> None:
    assert _found_share(0.03, 0.0025, 6000, disturbed=True) == pytest.approx(0.46, abs=0.04)


def _found_share(effect: float, rate: float, times: int, *, disturbed: bool = False) -> float:
    """The share of experiments of up to 28 pairs that find an effect."""
    random = np.random.default_rng(1)
    analyses = ANALYSES.until(28)
    part = analyses.part(rate)
    found = 0
    for _ in range(times):
        logs = effect + _noise(random, analyses.pairs[-1], disturbed=disturbed)
        found += any(Effect.of(logs[:pairs]).is_proven(part) for pairs in analyses.pairs)
    return found / times


def _noise(random: np.random.Generator, pairs: int, *, disturbed: bool) -> Floats:
    """Logarithms of ratios: normal ones of 3 %, or of launches of which every tenth is slow."""
    if not disturbed:
        return random.normal(0.0, 0.03, pairs)
    launches = random.normal(0.0, 0.02, (pairs, 2))
    launches += (random.random((pairs, 2)) < 0.1) * random.exponential(0.2, (pairs, 2))
    return np.asarray(launches[:, 1] - launches[:, 0])

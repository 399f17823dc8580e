"""What a search says that it can prove, held against what it then proves."""

from __future__ import annotations

import math

import pytest

from nhalf.experiment.improve.provable import MEDIAN_QUANTILE, Provable, least_factor, provable
from nhalf.experiment.improve.search import first, search, turns_of
from nhalf.present.improve import provable_text
from tests.nhalf.experiment.improve.simulated import Simulated, candidates

TEN = "a b c d e f g h i j"
PAIRS = 75


def spread_of(noise: float) -> float:
    return noise * math.sqrt(2) * MEDIAN_QUANTILE


def proven_share(noise: float, factor: float) -> float:
    searches = 40
    programs = (Simulated({"c": 1 / factor}, noise=noise, seed=seed) for seed in range(searches))
    return sum(bool(program.searched(TEN).proven) for program in programs) / searches


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.15])
def test_what_can_be_proven_mostly_is_and_a_third_of_it_seldom(noise: float) -> None:
    factor = least_factor(spread_of(noise), PAIRS, 10)
    assert factor is not None
    assert proven_share(noise, factor) >= 0.6
    assert proven_share(noise, factor ** (1 / 3)) <= 0.5


def test_less_noise_and_more_pairs_prove_less_and_one_candidate_needs_no_scouts() -> None:
    assert [least_factor(0.05, pairs, 10) for pairs in (0, 2)] == [None, None]
    factors = [least_factor(0.05, pairs, 10) or 0.0 for pairs in (3, 7, 20, 80)]
    assert factors == sorted(factors, reverse=True)
    single = least_factor(0.05, 80, 1)
    assert single is not None
    assert single < factors[-1]
    assert least_factor(0.0, 0, 10) == pytest.approx(1.01)


def possible_of(noise: float, budget_s: float, plain_s: float = 2.0) -> tuple[Provable, int]:
    program = Simulated({}, noise=noise, plain_s=plain_s)
    turns = turns_of(program, budget_s, lambda: program.now_s, 1)
    first(turns)
    return provable(search(turns, candidates(TEN))), program.launches


def test_the_noise_is_measured_where_there_is_time_for_it() -> None:
    possible, launches = possible_of(0.05, 600.0)
    assert launches == 4
    assert possible.spread_share == pytest.approx(spread_of(0.05), rel=0.9)
    assert possible.pairs == pytest.approx(74, abs=2)
    text = provable_text(possible)
    assert "at this load: the 10 min" in text
    assert f"(up to {possible.pairs} pairs of launches)" in text


def test_without_time_to_launch_twice_only_the_pairs_are_known() -> None:
    possible, launches = possible_of(0.05, 30.0)
    assert (launches, possible.spread_share, possible.factor) == (1, None, None)
    assert "suffice for a proof of up to 3 pairs of launches" in provable_text(possible)


def test_a_budget_for_which_nothing_can_be_proven_says_so() -> None:
    possible, _ = possible_of(0.05, 10.0)
    assert possible.pairs < 3
    text = provable_text(possible)
    assert "a proof takes 3 or more: give a larger --budget" in text


def test_of_times_that_do_not_vary_all_can_be_proven() -> None:
    possible, launches = possible_of(0.0, 600.0)
    assert (launches, possible.spread_share) == (2, 0.0)
    assert possible.factor == pytest.approx(1.01)
    assert "can prove any gain above 1 %" in provable_text(possible)

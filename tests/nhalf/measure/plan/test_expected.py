"""Times that kernels are expected to take: operations over rates."""

from __future__ import annotations

import math

import pytest

from nhalf.measure.plan.expected import (
    KernelRates,
    Rate,
    elapsed_in_words,
    launch_in_words,
    plan_in_words,
    trial_class,
)
from nhalf.measure.plan.plan import Start

HERE = Start("mpich", 2, "cores")
CG = {"S": 66_654_000.0, "W": 420_630_000.0, "A": 1_496_460_000.0, "D": 3.6429e12}


def test_a_run_takes_its_operations_over_the_rate() -> None:
    rates = KernelRates(cores=2)
    assert rates.run_s("npb-cg", HERE, CG["D"]) is None
    rates.learn("npb-cg", Rate(HERE, CG["W"], 1e9))
    assert rates.run_s("npb-cg", HERE, CG["D"]) == 3642.9
    assert rates.point_s("npb-cg", HERE, CG["D"]) == pytest.approx(3 * 3642.9)
    assert rates.run_s("npb-mg", HERE, CG["D"]) is None


def test_short_runs_fill_their_slice() -> None:
    rates = KernelRates(cores=2)
    rates.learn("npb-cg", Rate(HERE, CG["S"], 1e9))
    assert rates.point_s("npb-cg", HERE, CG["S"]) == 0.4


def test_the_rate_of_the_nearest_class_counts() -> None:
    rates = KernelRates(cores=2)
    rates.learn("npb-cg", Rate(HERE, CG["S"], 4e9))
    rates.learn("npb-cg", Rate(HERE, CG["A"], 1e9))
    assert rates.run_s("npb-cg", HERE, CG["D"]) == 3642.9
    rates.learn("npb-cg", Rate(HERE, CG["A"], 2e9))
    assert rates.run_s("npb-cg", HERE, CG["D"]) == 1821.45


def test_rates_of_other_starts_are_scaled_by_the_cores_that_compute() -> None:
    rates = KernelRates(cores=4)
    rates.learn("npb-cg", Rate(HERE, CG["A"], 1e9))
    assert rates.run_s("npb-cg", HERE._replace(subject="openmpi"), 2e9) == 2.0
    assert rates.run_s("npb-cg", HERE._replace(ranks=1), 2e9) == 4.0
    assert rates.run_s("npb-cg", HERE._replace(ranks=4), 2e9) == 1.0
    assert rates.run_s("npb-cg", HERE._replace(ranks=16), 2e9) == 1.0


@pytest.mark.parametrize(("operations", "per_s"), [(0, 1e9), (1e9, 0), (1e9, math.inf)])
def test_no_rate_is_learned_from_nothing(operations: float, per_s: float) -> None:
    rates = KernelRates(cores=0)
    rates.learn("npb-cg", Rate(HERE, operations, per_s))
    assert rates.run_s("npb-cg", HERE, 1e9) is None
    assert rates.run_s("npb-cg", HERE, 0) is None


def test_the_trial_is_the_largest_quick_class_below_those_asked_for() -> None:
    assert trial_class(CG, CG["D"]) == "W"
    assert trial_class(CG, CG["W"]) == "S"
    assert trial_class(CG, CG["S"]) == ""
    assert trial_class({}, 1e12) == ""


def test_a_plan_is_announced_if_it_is_long_or_beyond_its_budget() -> None:
    assert plan_in_words(9.9, 5, 2.0, 0) == ""
    assert plan_in_words(2700, 5, 540, 0) == "all 5 launches take about 45 min, the longest 9 min"
    assert plan_in_words(540, 1, 540, 600) == "the launch takes about 9 min"
    assert plan_in_words(8100, 5, 1620, 300) == (
        "all 5 launches take about 2 h 15 min, the longest 27 min, longer than --budget 5 min, "
        "which leaves launches out: give a longer --budget, a smaller --class or fewer --launches"
    )
    assert plan_in_words(9, 5, 2, 3).startswith("all 5 launches take about 9 s, longer than")


def test_only_long_launches_are_announced() -> None:
    assert launch_in_words("MPICH", 2, "cg.D", 540) == "MPICH, cg.D on 2 ranks: about 9 min"
    assert launch_in_words("MPICH", 1, "ep.A", 12) == "MPICH, ep.A on 1 rank: about 12 s"


def test_the_time_that_is_over_stands_beside_the_expected() -> None:
    assert elapsed_in_words(180, 540) == "3 min of about 9 min"
    assert elapsed_in_words(720, 540) == "12 min, expected 9 min"

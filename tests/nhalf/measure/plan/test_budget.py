"""The budget on a clock that only moves when told.

Times that kernels are expected to take: operations over rates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from nhalf.measure.plan import budget as module
from nhalf.measure.plan.budget import (
    AXES_POINT_BUDGET_S,
    CROWDED_COST_S,
    CURVE_BUDGET_S,
    LAUNCH_BUDGET_S,
    LAUNCH_COST_S,
    LAUNCHES_MIN,
    POINT_BUDGET_S,
    POINT_COST_S,
    SLICE_MAX_S,
    SLICE_MIN_S,
    Budget,
    Group,
    KernelRates,
    Rate,
    curve_budget,
    elapsed_in_words,
    launch_in_words,
    plan_in_words,
    trial_class,
)
from nhalf.measure.plan.plan import Start

START = Start("mpich", 2, "cores")
GROUP = Group(0, 2)


class Clock:
    now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    fake = Clock()
    monkeypatch.setattr(module, "time", fake)
    yield fake


def to_come(
    launches: int, points: Mapping[int, int], first: int = 0
) -> Counter[tuple[Start, int, int]]:
    """This many points of each block in every launch from `first` on."""
    return Counter(
        {
            (START, launch, block): n
            for launch in range(first, launches)
            for block, n in points.items()
        }
    )


def slice_of(budget_s: float, launches: int, points: int) -> float:
    budget = Budget(budget_s)
    budget.count(to_come(launches, {0: points}))
    return budget.slice_s(GROUP)


def test_without_a_budget_a_curve_has_its_time() -> None:
    """24 sizes in 5 launches have 14 s; fine grids and many launches get what they need."""
    assert curve_budget(5, 24, has_axes=False) == CURVE_BUDGET_S
    assert curve_budget(5, 2001, has_axes=False) == 5 * 2001 * POINT_BUDGET_S
    assert curve_budget(30, 24, has_axes=False) == 30 * LAUNCH_BUDGET_S
    assert curve_budget(5, 24, has_axes=True) == 24 * 5 * AXES_POINT_BUDGET_S


@pytest.mark.parametrize("points", [0, 1, 10, 1000, 10**9])
@pytest.mark.parametrize("budget_s", [1e-9, 1.0, 60.0, 1e9])
def test_a_slice_stays_within_its_limits(clock: Clock, budget_s: float, points: int) -> None:
    assert SLICE_MIN_S <= slice_of(budget_s, 3, points) <= SLICE_MAX_S


def test_more_points_get_less_each(clock: Clock) -> None:
    slices = [slice_of(60.0, 5, points) for points in (100, 200, 400, 800)]
    assert slices == sorted(slices, reverse=True)
    assert slices[0] > slices[-1]


def test_one_block_has_all_the_time(clock: Clock) -> None:
    expected_s = (60.0 - 5 * LAUNCH_COST_S) / (5 * 100) - POINT_COST_S
    assert slice_of(60.0, 5, 100) == pytest.approx(expected_s)


@pytest.mark.parametrize("launch_s", [0.1, 3.0])
@pytest.mark.parametrize("extra_s", [-0.02, 0.0, 0.01])
def test_a_run_keeps_to_its_budget(clock: Clock, launch_s: float, extra_s: float) -> None:
    """Launches and points cost other than was assumed: what is left is shared anew."""
    launches, points = 10, 120
    budget = Budget(60.0)
    began_s = clock.now_s
    for launch in range(launches):
        budget.count(to_come(launches, {0: points}, first=launch))
        budget.begun(START, launch)
        clock.now_s += launch_s
        for _ in range(points):
            slice_s = budget.slice_s(GROUP)
            spent_s = max(0.0005, slice_s + extra_s)
            clock.now_s += spent_s
            budget.answered(GROUP, launch, spent_s, slice_s)
        budget.launched(launch_s)
    assert clock.now_s - began_s == pytest.approx(60.0, rel=0.15)


def spent_by_block(
    clock: Clock, budget: Budget, launches: int, points: Mapping[int, int]
) -> Counter[int]:
    """Milliseconds that each block takes when every slice is used up."""
    spent: Counter[int] = Counter()
    for launch in range(launches):
        budget.count(to_come(launches, points, first=launch))
        budget.begun(START, launch)
        order = sorted((n / points[b], b) for b in points for n in range(points[b]))
        for _, block in order:
            slice_s = budget.slice_s(Group(block, 2))
            took_s = slice_s + POINT_COST_S
            clock.now_s += took_s
            budget.answered(Group(block, 2), launch, took_s, slice_s)
            spent[block] += round(took_s * 1e6)
    return spent


def test_blocks_share_by_weight_however_many_points_they_have(clock: Clock) -> None:
    spent = spent_by_block(clock, Budget(60.0, [1.0, 3.0]), 2, {0: 400, 1: 100})
    least = (
        2 * 400 * (SLICE_MIN_S + POINT_COST_S) * 1e6,
        2 * 100 * (SLICE_MIN_S + POINT_COST_S) * 1e6,
    )
    assert (spent[1] - least[1]) / (spent[0] - least[0]) == pytest.approx(3.0, rel=0.05)
    assert sum(spent.values()) * 1e-6 == pytest.approx(60.0, rel=0.1)


def test_what_a_block_cannot_use_flows_to_the_others(clock: Clock) -> None:
    """Two points take the longest slice and no more; the rest is the other block's."""
    spent = spent_by_block(clock, Budget(60.0, [1.0, 1.0]), 2, {0: 2, 1: 300})
    assert spent[0] * 1e-6 == pytest.approx(4 * (SLICE_MAX_S + POINT_COST_S), rel=0.01)
    assert sum(spent.values()) * 1e-6 == pytest.approx(60.0, rel=0.1)


def test_crowded_ranks_are_assumed_to_cost_more(clock: Clock) -> None:
    budget = Budget(60.0, cores=4)
    assert budget.cost_s(Group(0, 4)) == POINT_COST_S
    assert budget.cost_s(Group(0, 5)) == CROWDED_COST_S


def test_what_is_missing_is_told_and_learned(clock: Clock) -> None:
    budget = Budget(10.0)
    budget.count(to_come(12, {0: 200}))
    assert budget.short_s() == 0.0, "1000 points in five launches fit into 5 s at 4 ms each"
    for _ in range(200):
        budget.answered(GROUP, 0, 0.1, SLICE_MIN_S)
    missing_s = 800 * 0.1 + 5 * LAUNCH_COST_S - 10.0
    assert budget.short_s() == pytest.approx(missing_s, rel=0.01)
    budget.count(to_come(5, {0: 10}), anew=True)
    assert budget.short_s() == 0.0


def test_what_is_spent_ends_the_run_but_for_the_first_launch(clock: Clock) -> None:
    budget = Budget(10.0)
    budget.count(to_come(5, {0: 3}))
    assert not budget.spent(LAUNCHES_MIN)
    clock.now_s += 10.1
    assert [budget.spent(launch) for launch in range(4)] == [False, True, True, True]
    assert budget.slice_s(GROUP) == SLICE_MIN_S
    clock.now_s += 1.0
    assert budget.spent(0)


def test_without_a_limit_every_launch_is_made(clock: Clock) -> None:
    budget = Budget(10.0, is_given=False)
    budget.count(to_come(5, {0: 3}))
    clock.now_s += 1e6
    assert not any(budget.spent(launch) for launch in range(5))
    assert all(budget.fits(launch) for launch in range(5))


@pytest.mark.parametrize(("budget_s", "overtime_s"), [(10.0, 20.0), (300.0, 30.0)])
def test_without_a_limit_all_launches_have_to_fit_with_some_overtime(
    clock: Clock, budget_s: float, overtime_s: float
) -> None:
    budget = Budget(budget_s, is_given=False)
    points = round((budget_s + overtime_s - 5 * LAUNCH_COST_S) / 5 / (SLICE_MIN_S + POINT_COST_S))
    budget.count(to_come(5, {0: points - 1}))
    assert budget.short_s() == 0.0
    budget.count(to_come(5, {0: points + 1}))
    assert 0.0 < budget.short_s() < 1.0


def test_more_launches_than_planned_do_no_harm(clock: Clock) -> None:
    budget = Budget(10.0)
    budget.count(to_come(1, {0: 100}))
    for launch in range(5):
        budget.begun(START, launch)
        budget.launched(2.0)
    for _ in range(200):
        budget.answered(GROUP, 0, 0.01, 0.01)
    assert SLICE_MIN_S <= budget.slice_s(GROUP) <= SLICE_MAX_S


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

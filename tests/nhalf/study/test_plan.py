# SPDX-License-Identifier: Apache-2.0
"""The budget on a clock that only moves when told."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from nhalf.study import plan as module
from nhalf.study.plan import (
    CURVE_BUDGET_S,
    LAUNCHES_MIN,
    POINT_BUDGET_S,
    SLICE_MAX_S,
    SLICE_MIN_S,
    Budget,
    Plan,
    budget_of,
)

CHOICES = {
    "transports": ["mpi"], "mpi": ["mpich-5.0.2"], "patterns": ["pingpong"], "ranks": [2],
    "bytes": "0:4M", "launches": 5, "budget_s": 0.0, "precision": 0.01, "placement": "cores",
    "options": "", "seed": 1, "timeout_s": 60.0,
}  # fmt: skip


class Clock:
    now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    fake = Clock()
    monkeypatch.setattr(module, "time", fake)
    yield fake


@pytest.fixture
def plan() -> Plan:
    return msgspec.convert(CHOICES, Plan)


def test_without_a_budget_a_curve_has_its_time(plan: Plan) -> None:
    """24 sizes in 5 launches: 14 s a curve; a fine grid gets what its points need."""
    assert budget_of(plan, curves=1, sizes=24) == CURVE_BUDGET_S
    assert budget_of(plan, curves=3, sizes=24) == 3 * CURVE_BUDGET_S
    assert budget_of(plan, curves=1, sizes=2001) == 2001 * plan.launches * POINT_BUDGET_S


def test_a_given_budget_is_for_all_curves(plan: Plan) -> None:
    given = msgspec.structs.replace(plan, budget_s=60.0)
    assert budget_of(given, curves=24, sizes=100) == 60.0


@pytest.mark.parametrize("points", [0, 1, 10, 1000, 10**9])
@pytest.mark.parametrize("budget_s", [1e-9, 1.0, 60.0, 1e9])
def test_a_slice_stays_within_its_limits(clock: Clock, budget_s: float, points: int) -> None:
    assert SLICE_MIN_S <= Budget(budget_s, 3).slice_s(points) <= SLICE_MAX_S


def test_more_points_get_less_each(clock: Clock) -> None:
    budget = Budget(60.0, 5)
    slices = [budget.slice_s(points) for points in (500, 1000, 2000, 4000)]
    assert slices == sorted(slices, reverse=True)
    assert slices[0] > slices[-1]


@pytest.mark.parametrize("launch_s", [0.1, 3.0])
@pytest.mark.parametrize("extra_s", [-0.02, 0.0, 0.01])
def test_a_run_keeps_to_its_budget(clock: Clock, launch_s: float, extra_s: float) -> None:
    """Launches and points cost other than was assumed: what is left is shared anew."""
    launches, points = 10, 120
    budget = Budget(60.0, launches)
    began_s = clock.now_s
    for launch in range(launches):
        clock.now_s += launch_s
        for point in range(points):
            slice_s = budget.slice_s((launches - launch) * points - point)
            spent_s = max(0.0005, slice_s + extra_s)
            clock.now_s += spent_s
            budget.answered(spent_s, slice_s)
        budget.launched(launch_s)
    assert clock.now_s - began_s == pytest.approx(60.0, rel=0.15)


def test_what_is_spent_ends_the_run_but_for_the_first_launches(clock: Clock) -> None:
    budget = Budget(10.0, 5)
    assert not budget.spent(LAUNCHES_MIN)
    clock.now_s += 10.1
    assert [budget.spent(launch) for launch in range(4)] == [n >= LAUNCHES_MIN for n in range(4)]
    assert budget.slice_s(3) == SLICE_MIN_S


def test_more_launches_than_planned_do_no_harm(clock: Clock) -> None:
    budget = Budget(10.0, 1)
    for _ in range(5):
        budget.launched(2.0)
    assert SLICE_MIN_S <= budget.slice_s(100) <= SLICE_MAX_S


def test_a_plan_survives_its_file(plan: Plan) -> None:
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan


@pytest.mark.parametrize("change", [{"unknown": 1}, {"ranks": "2"}, {"launches": None}])
def test_a_plan_of_another_form_is_not_read(change: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(CHOICES | change, Plan)

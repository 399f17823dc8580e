"""Rounds of launches: each mixture once, in a random order; failures; exact times once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from nhalf.experiment.turns import (
    UNLIMITED,
    LaunchFailed,
    LaunchStopped,
    Limits,
    OutOfTime,
    Turns,
    differences,
)
from nhalf.experiment.why.switch import turns_of
from tests.nhalf.experiment.why.plant import Planted

A, B, C = frozenset[int](), frozenset([0]), frozenset([0, 1])


def orders(seed: int) -> list[tuple[frozenset[int], ...]]:
    program = Planted({})
    turns = turns_of(program.launch, seed=seed)
    for _ in range(12):
        turns.take([A, B, C, B])
    assert turns.launches == 36
    return [tuple(program.launches[3 * number :][:3]) for number in range(12)]


def test_every_round_has_a_random_order_which_the_seed_repeats() -> None:
    assert all(set(order) == {A, B, C} for order in orders(1))
    assert len(set(orders(1))) > 3
    assert orders(1) == orders(1)
    assert orders(1) != orders(2)


def test_differences_are_of_rounds_that_have_both() -> None:
    rounds = [{A: 1.0, B: 1.5}, {A: 1.0}, {A: 2.0, B: 2.25, C: 0.0}]
    assert differences(rounds, B, A) == [0.5, 0.25]
    assert differences(rounds, C, frozenset([7])) == []


def test_exact_times_are_launched_once() -> None:
    turns = turns_of(Planted({}, noise=0).launch, are_exact=True)
    turns.take([A, B])
    assert turns.take([A, B]) == {A: 0.0, B: 0.0}
    assert turns.launches == 2


def test_a_launch_ends_with_the_budget() -> None:
    now_s, limits_s = [0.0], []

    def launch(mixture: frozenset[int], limit_s: float) -> float:
        limits_s.append(limit_s)
        now_s[0] += min(7.0, limit_s)
        if limit_s < 7.0:
            raise LaunchStopped("no end")
        return 7.0

    turns = Turns(launch, 10.0, lambda: now_s[0], limits=Limits(most_s=100.0, first_launches=2))
    assert turns.take([A]) == {A: math.log(7.0)}
    with pytest.raises(OutOfTime):
        turns.take([B])
    assert limits_s == [10.0, 3.0]


def test_a_launch_that_its_own_limit_ends_is_a_failure() -> None:
    def launch(mixture: frozenset[int], limit_s: float) -> float:
        raise LaunchStopped(f"no end within {limit_s:g} s")

    turns = Turns(launch, 10.0, lambda: 0.0, limits=Limits(most_s=2.0, first_launches=2))
    assert turns.take([A]) == {}
    assert turns.fails == {A: "no end within 2 s"}


def test_a_mixture_that_failed_twice_in_a_row_does_not_run() -> None:
    ends = iter([0, 1, 0, 0, 1])

    def launch(mixture: frozenset[int], limit_s: float) -> float:
        if next(ends):
            return math.e
        raise LaunchFailed("exit code 1")

    turns = turns_of(launch)
    assert [turns.take([A]) for _ in range(4)] == [{}, {A: 1.0}, {}, {}]
    assert turns.fails == {A: "exit code 1"}
    assert turns.take([A]) == {}
    assert turns.launches == 4
    assert turns.runs(B)


def test_no_launch_begins_after_the_budget() -> None:
    turns = turns_of(Planted({}).launch, budget_s=-1.0)
    with pytest.raises(OutOfTime):
        turns.take([A])
    assert turns.launches == 0


@dataclass
class Clock:
    """A program whose launches take some seconds each, and its own clock."""

    times_s: Mapping[str, float]
    now_s: float = 0.0
    limits_s: list[float] = field(default_factory=list)

    def __call__(self, way: str, limit_s: float) -> float:
        self.limits_s.append(limit_s)
        time_s = self.times_s[way]
        self.now_s += min(time_s, limit_s)
        if time_s > limit_s:
            raise LaunchFailed("no end")
        return time_s


def clocked(times_s: Mapping[str, float], budget_s: float, limits: Limits) -> Turns[str]:
    program = Clock(times_s)
    return Turns(program, budget_s, lambda: program.now_s, limits=limits)


def test_limits_are_by_the_longest_launch_once_enough_are_known() -> None:
    limits = Limits(factor=20, least_s=30, spare_s=5, most_s=100, first_launches=2)
    known = [(9.0, 1), (1.0, 2), (2.0, 2), (6.0, 3)]
    assert [limits.limit_s(*launches) for launches in known] == [100, 30, 40, 100]
    assert Limits(spare_s=5, first_launches=0).limit_s(7.0, 0) == 12
    assert UNLIMITED.limit_s(1.0, 9) == math.inf


def test_the_longest_launch_is_that_of_the_base_where_there_is_one() -> None:
    limits = Limits(factor=3, spare_s=5, first_launches=1)
    for base, longest_s in (("a", 4.0), (None, 10.0)):
        turns = clocked({"a": 4.0, "b": 10.0, "c": 1.0}, 1000.0, limits)
        turns.take(["a"], base)
        turns.take(["b"], base)
        turns.take(["c"], base)
        assert isinstance(turns.launch, Clock)
        assert turns.launch.limits_s[-1] == 3 * longest_s


def test_a_round_with_a_base_is_whole_or_not_begun() -> None:
    turns = clocked({"a": 4.0, "b": 3.0}, 12.0, UNLIMITED)
    assert turns.first("a") == 4.0
    assert set(turns.take("ab", "a")) == {"a", "b"}
    with pytest.raises(OutOfTime):
        turns.take("ab", "a")
    with pytest.raises(OutOfTime):
        turns.pair("a", "b", base_first=True)
    assert (turns.launches, len(turns.rounds)) == (3, 2)


def test_a_base_that_is_known_to_end_has_until_the_end_of_time() -> None:
    turns = clocked({"a": 4.0}, 20.0, Limits(factor=3, spare_s=5, first_launches=1))
    for _ in range(4):
        turns.take("a", "a")
    assert isinstance(turns.launch, Clock)
    assert turns.launch.limits_s == [20, 16, 12, 9]


def test_a_base_has_to_run_and_others_need_not() -> None:
    times_s = {"a": 4.0, "b": 30.0, "c": 200.0}
    turns = clocked(times_s, 100.0, Limits(factor=3, first_launches=1))
    assert turns.first("a") == 4.0
    assert turns.pair("a", "b", base_first=False) is None
    assert turns.fails == {"b": "no end"}
    with pytest.raises(LaunchFailed):
        turns.take("c", "c")


def test_pairs_keep_their_order_and_are_logarithms_of_ratios() -> None:
    order: list[str] = []
    turns = clocked({"a": 4.0, "b": 2.0}, 100.0, UNLIMITED)
    turns.report = lambda way, time_s, problem: order.append(f"{way} {time_s} {problem}")
    assert turns.pair("a", "b", base_first=False) == pytest.approx(math.log(2))
    assert turns.pair("a", "b", base_first=True) == pytest.approx(math.log(2))
    assert order == ["b 2.0 ", "a 4.0 ", "a 4.0 ", "b 2.0 "]


def test_a_way_that_takes_as_long_again_is_not_launched_any_more() -> None:
    turns = clocked({"a": 4.0, "b": 2.0}, 100.0, UNLIMITED)
    turns.exact_launches = 2
    logs = [turns.pair("a", "b", base_first=True) for _ in range(5)]
    assert len(set(logs)) == 1
    assert turns.launches == 4


def at_times(fails: Sequence[tuple[str, int]]) -> Turns[str]:
    """Launches that fail where a way is launched for this time, from 1."""
    counts: dict[str, int] = {}

    def launch(way: str, limit_s: float) -> float:
        counts[way] = counts.get(way, 0) + 1
        if (way, counts[way]) in fails:
            raise LaunchFailed("killed")
        return 1.0

    return Turns(launch)


def test_a_base_may_fail_once_and_then_everything_beside_it_may() -> None:
    turns = at_times([("a", 3), ("b", 2), ("b", 5), ("b", 6)])
    assert turns.first("a") == 1.0
    assert [turns.pair("a", "b", base_first=True) for _ in range(4)] == [0.0, 0.0, 0.0, None]
    assert turns.fails == {"b": "killed"}


def test_a_base_that_fails_twice_or_at_first_does_not_run() -> None:
    with pytest.raises(LaunchFailed):
        at_times([("a", 1)]).first("a")
    turns = at_times([("a", 2), ("a", 3)])
    turns.first("a")
    with pytest.raises(LaunchFailed):
        turns.take("ab", "a")


def test_beside_a_base_that_never_failed_one_failure_is_enough() -> None:
    turns = at_times([("b", 1)])
    assert turns.pair("a", "b", base_first=True) is None
    assert turns.fails == {"b": "killed"}

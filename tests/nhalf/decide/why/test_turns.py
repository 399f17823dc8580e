# SPDX-License-Identifier: Apache-2.0
"""Rounds of launches: each mixture once, in a random order; failures; exact times once."""

from __future__ import annotations

import math

import pytest

from nhalf.decide.out_of_time import OutOfTime
from nhalf.decide.why.turns import LaunchFailed, Turns, differences
from tests.nhalf.decide.why.plant import Planted

A, B, C = frozenset[int](), frozenset([0]), frozenset([0, 1])


def orders(seed: int) -> list[tuple[frozenset[int], ...]]:
    program = Planted({})
    turns = Turns(program.launch, seed=seed)
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
    turns = Turns(Planted({}, noise=0).launch, is_exact=True)
    turns.take([A, B])
    assert turns.take([A, B]) == {A: 0.0, B: 0.0}
    assert turns.launches == 2


def test_a_mixture_that_failed_twice_in_a_row_does_not_run() -> None:
    ends = iter([0, 1, 0, 0, 1])

    def launch(mixture: frozenset[int]) -> float:
        if next(ends):
            return math.e
        raise LaunchFailed("exit code 1")

    turns = Turns(launch)
    assert [turns.take([A]) for _ in range(4)] == [{}, {A: 1.0}, {}, {}]
    assert turns.fails == {A: "exit code 1"}
    assert turns.take([A]) == {}
    assert turns.launches == 4
    assert turns.runs(B)


def test_no_launch_begins_after_the_budget() -> None:
    turns = Turns(Planted({}).launch, budget_s=-1.0)
    with pytest.raises(OutOfTime):
        turns.take([A])
    assert turns.launches == 0

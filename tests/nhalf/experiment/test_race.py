"""Races on made-up times: who leaves, who wins, and how often nobody should have."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.experiment.race import (
    TuningCell,
    fewest_switches,
    gains,
    holm,
    merge,
    scouted,
    still_racing,
    winners,
)
from nhalf.mpi.decision_table import NATIVE

CELLS = [TuningCell("bcast", 4, 8 << k) for k in range(12)]
Made = dict[TuningCell, dict[str, dict[tuple[str, int], float]]]


def made(factors: dict[str, float], launches: int = 5, noise: float = 0.03, seed: int = 1) -> Made:
    """Times of 10 us times a factor; launches are disturbed as wholes, and each time by itself."""
    random = np.random.default_rng(seed)
    rounds = random.normal(0, 0.3, launches)
    return {
        cell: {
            name: {
                ("r", k): 1e-5 * factor * math.exp(rounds[k] + random.normal(0, noise))
                for k in range(launches)
            }
            for name, factor in factors.items()
        }
        for cell in CELLS
    }


class TestGains:
    def test_launches_are_paired(self) -> None:
        times = made({NATIVE: 1.0, "tree": 0.5}, noise=0.0)
        found = gains(times)
        assert [gain.algorithm for gain in found] == ["tree"] * len(CELLS)
        assert [gain.log_ratio for gain in found] == pytest.approx([math.log(2)] * len(CELLS))
        assert [gain.share for gain in found] == pytest.approx([0.5] * len(CELLS))
        assert all(gain.probability < 1e-6 for gain in found)

    def test_a_launch_that_was_disturbed_as_a_whole_does_not_hide_a_gain(self) -> None:
        times = made({NATIVE: 1.0, "tree": 0.5}, noise=0.02)
        for cell in times:
            times[cell]["tree"]["r", 2] *= 1000
        assert all(0.4 < gain.share < 0.6 and gain.probability < 1e-3 for gain in gains(times))

    def test_nothing_is_said_of_one_launch_or_of_none_in_common(self) -> None:
        one = made({NATIVE: 1.0, "tree": 0.5}, launches=1)
        assert all(math.isnan(gain.probability) and math.isnan(gain.low) for gain in gains(one))
        apart = {CELLS[0]: {NATIVE: {("a", 0): 1.0}, "tree": {("b", 0): 1.0}}}
        assert gains(apart) == []
        assert gains({}) == []
        assert gains({CELLS[0]: {"tree": {("a", 0): 1.0}}}) == []

    def test_without_any_spread_the_sign_tells(self) -> None:
        times = {CELLS[0]: {NATIVE: {("a", 0): 2.0, ("a", 1): 2.0},
                            "tree": {("a", 0): 1.0, ("a", 1): 1.0},
                            "ring": {("a", 0): 3.0, ("a", 1): 3.0}}}  # fmt: skip
        assert {g.algorithm: g.probability for g in gains(times)} == {"tree": 0.0, "ring": 1.0}


class TestHolm:
    def test_steps_down(self) -> None:
        assert holm([0.01, 0.04, 0.03], 0.05) == [True, False, False]
        assert holm([0.01, 0.02, 0.03], 0.05) == [True, True, True]
        assert holm([0.02, 0.001, math.nan], 0.05) == [True, True, False]
        assert holm([]) == []


class TestWinners:
    def test_what_is_faster_by_enough_wins(self) -> None:
        won = winners(gains(made({NATIVE: 1.0, "tree": 0.7, "ring": 0.98, "slow": 2.0})), 0.05)
        assert {cell: [gain.algorithm for gain in found] for cell, found in won.items()} == {
            cell: ["tree"] for cell in CELLS
        }

    def test_a_small_gain_is_none_however_sure(self) -> None:
        assert winners(gains(made({NATIVE: 1.0, "tree": 0.97}, 30, 0.001)), 0.05) == {}

    def test_equals_win_together(self) -> None:
        won = winners(gains(made({NATIVE: 1.0, "a": 0.5, "b": 0.502, "c": 0.6}, 5, 0.002)), 0.05)
        assert {gain.algorithm for gain in won[CELLS[0]]} == {"a", "b"}

    def test_few_false_entries_where_nothing_is_faster(self) -> None:
        names = {NATIVE: 1.0, "a": 1.0, "b": 1.0, "c": 1.0}
        false = sum(bool(winners(gains(made(names, 4, 0.1, s)), 0.0)) for s in range(200))
        assert false <= 20  # 5 % of 200 is 10; above 20 has a chance below 0.2 %


class TestRacing:
    def test_the_slow_and_the_hopeless_leave(self) -> None:
        times = made({NATIVE: 1.0, "tree": 0.8, "slow": 3.0, "same": 1.0})
        left = still_racing(times, 0.05)
        assert left == {cell: ["tree"] for cell in CELLS}

    def test_one_launch_rules_nobody_out(self) -> None:
        times = made({NATIVE: 1.0, "tree": 0.8, "slow": 3.0}, launches=1)
        assert still_racing(times, 0.05)[CELLS[0]] == ["tree", "slow"]

    def test_a_first_look_keeps_what_is_near_the_best(self) -> None:
        times = made({NATIVE: 1.0, "tree": 0.8, "slow": 3.0}, launches=1)
        assert scouted(times, 2.0) == {cell: ["tree"] for cell in CELLS}
        assert scouted({CELLS[0]: {}}) == {}


class TestSwitches:
    def test_the_neighbours_choice_is_kept_where_it_may_be(self) -> None:
        sizes = [{"a": 0.5}, {"b": 0.31, "a": 0.3}, {"a": 0.4}, {}, {"b": 0.2}]
        assert fewest_switches(sizes) == ["a", "a", "a", NATIVE, "b"]

    def test_among_equals_the_larger_gain(self) -> None:
        assert fewest_switches([{"a": 0.1, "b": 0.3}, {"a": 0.2, "b": 0.2}]) == ["b", "b"]
        assert fewest_switches([]) == []


def test_runs_are_merged_by_launch() -> None:
    cell = CELLS[0]
    first, second = {cell: {"a": {("x", 0): 1.0}}}, {cell: {"a": {("y", 0): 2.0}, "b": {}}}
    assert merge([first, second]) == {cell: {"a": {("x", 0): 1.0, ("y", 0): 2.0}, "b": {}}}

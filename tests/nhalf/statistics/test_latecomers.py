"""Who comes late again and again: found soon, dated right, and hardly ever named falsely."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.base.arrays import Floats
from nhalf.statistics.latecomers import LATE, Latecomers, over_others

WINDOWS_BETWEEN = 1e5


def noise(windows: int, members: int, deviation: float, seed: int) -> Floats:
    """Times of members that are alike, (windows, members)."""
    values: Floats = np.exp(np.random.default_rng(seed).normal(0, deviation, (windows, members)))
    return values


def watched(values: Floats, windows_between: float = WINDOWS_BETWEEN) -> tuple[Latecomers, int]:
    """Windows of a second up to the first name, and its window; -1 without one."""
    tests = Latecomers(values.shape[1], windows_between)
    for window, row in enumerate(values):
        tests.add(float(window), window + 1.0, row)
        if tests.late_members:
            return tests, window
    return tests, -1


@pytest.mark.parametrize("members", [2, 3, 4, 9, 100])
def test_ratios_are_to_the_median_of_the_others(members: int) -> None:
    (values,) = noise(1, members, 1.0, members)
    others = [np.median(np.delete(values, at)) for at in range(members)]
    assert over_others(values) == pytest.approx(values / others)


def test_ratios_of_equal_and_of_no_times() -> None:
    assert over_others([1.0] * 4) == [1, 1, 1, 1]
    assert over_others([0.0] * 3) == [1, 1, 1]
    assert np.isfinite(over_others([0.0, 0.0, 5.0])).all()


@pytest.mark.parametrize("members", [2, 4, 8, 64, 1000])
@pytest.mark.parametrize("factor", [1.5, 1.9])
def test_who_becomes_late_is_named_soon_and_dated(members: int, factor: float) -> None:
    values = noise(200, members, 0.05, members)
    values[100:, 1] *= factor
    tests, window = watched(values)
    assert 100 < window < 140
    assert tests.late_members == [1]
    assert tests.suspects[1].since_s == pytest.approx(100, abs=2)
    assert tests.suspects[1].ratio == pytest.approx(factor, rel=0.1)
    assert tests.suspects[1].share > 0.9


@pytest.mark.parametrize("deviation", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("members", [2, 4, 16])
def test_members_that_are_alike_are_hardly_ever_named(members: int, deviation: float) -> None:
    """In the mean the first false name takes as many windows as promised: 50 here, of which 20
    series have 10 windows each, so at most 4 names are expected."""
    named = [watched(noise(10, members, deviation, seed), 50)[1] >= 0 for seed in range(20)]
    assert sum(named) <= 8


def test_such_a_name_can_come() -> None:
    named = [watched(noise(200, 4, 2.0, seed), 2)[1] >= 0 for seed in range(20)]
    assert any(named)


def test_a_little_later_is_not_late() -> None:
    values = noise(500, 4, 0.001, 1)
    values[:, 2] *= LATE * 0.98
    assert watched(values)[1] == -1


def test_who_is_on_time_again_is_no_longer_named() -> None:
    values = noise(300, 4, 0.05, 3)
    values[50:150, 2] *= 1.9
    tests = Latecomers(4, WINDOWS_BETWEEN)
    is_named = []
    for window, row in enumerate(values):
        tests.add(float(window), window + 1.0, row)
        is_named.append(2 in tests.late_members)
    assert is_named[149]
    assert 150 <= len(is_named) - is_named[::-1].index(True) < 180
    assert not tests.late_members


def test_of_two_the_later_is_named_first_and_then_the_other() -> None:
    values = noise(300, 8, 0.02, 4)
    values[:, 3] *= 2.0
    values[:, 5] *= 1.5
    tests, _ = watched(values)
    assert tests.late_members == [3]
    for window, row in enumerate(values):
        tests.add(1000.0 + window, 1001.0 + window, row)
    assert tests.late_members == [3, 5]


def test_a_short_disturbance_has_to_last() -> None:
    values = noise(20, 1000, 0.02, 5)
    values[5:8, 7] *= 5
    assert watched(values)[1] == 7
    tests = Latecomers(1000, WINDOWS_BETWEEN, lasting_s=4.0)
    for window, row in enumerate(values):
        tests.add(float(window), window + 1.0, row)
        assert not tests.late_members


@pytest.mark.parametrize("members", [0, 1])
def test_who_is_alone_is_never_late(members: int) -> None:
    tests = Latecomers(members, WINDOWS_BETWEEN)
    for window in range(100):
        tests.add(float(window), window + 1.0, np.ones(members))
    assert not tests.late_members


def test_values_that_are_none_are_no_evidence() -> None:
    tests = Latecomers(3, WINDOWS_BETWEEN)
    for bad in (math.nan, math.inf):
        tests.add(0.0, 1.0, np.array([1.0, bad, 1.0]))
    assert not tests.suspects


def test_what_is_known_for_another_reason_is_dropped() -> None:
    values = noise(60, 4, 0.02, 6)
    values[:, 1] *= 3
    tests, _ = watched(values)
    tests.forget(np.array([1]))
    assert not tests.late_members
    assert not tests.suspects

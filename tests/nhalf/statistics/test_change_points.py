"""Change points: silent where nothing changed, sure and well dated where something did."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.base.arrays import Floats
from nhalf.statistics.change_points import LevelShift, change_points, last_apart, smallest_error

TRIALS = 400
NOISE = 0.02


def series(seed: int, *levels: tuple[int, float]) -> Floats:
    """This many values of each level, with noise."""
    random = np.random.default_rng(seed)
    flat = np.concatenate([np.full(count, level) for count, level in levels])
    return flat + NOISE * random.standard_normal(len(flat))


@pytest.mark.parametrize("count", [4, 8, 20, 60])
def test_without_a_change_false_alarms_keep_to_the_error(count: int) -> None:
    alarms = [bool(change_points(series(seed, (count, 0.0)), 0.05)) for seed in range(TRIALS)]
    assert np.mean(alarms) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / TRIALS)


@pytest.mark.parametrize(("before", "after"), [(10, 10), (4, 16), (17, 3)])
def test_a_change_is_found_sized_and_dated(before: int, after: int) -> None:
    dated = covered = 0
    for seed in range(TRIALS):
        (change,) = change_points(series(seed, (before, 0.0), (after, 0.15)))[:1]
        dated += change.first <= before <= change.last
        covered += change.low <= 0.15 <= change.high
    assert dated > 0.95 * TRIALS
    assert covered > 0.97 * TRIALS


def test_an_unsure_date_is_a_range_that_holds_the_truth() -> None:
    """A shift of 1.5 deviations is often found, and often a run too early or too late."""
    found = [change_points(series(seed, (20, 0.0), (20, 1.5 * NOISE))) for seed in range(TRIALS)]
    single = [changes[0] for changes in found if len(changes) == 1]
    assert len(single) > TRIALS / 2
    assert np.mean([change.at == 20 for change in single]) < 0.8
    assert np.mean([change.first <= 20 <= change.last for change in single]) > 0.93


def test_there_and_back_is_two_changes() -> None:
    found = change_points(series(1, (12, 0.0), (4, 0.3), (12, 0.0)))
    assert [change.at for change in found] == [12, 16]
    assert [round(change.value, 1) for change in found] == [0.3, -0.3]


def test_steps_of_a_stair_are_told_apart() -> None:
    found = change_points(series(2, (8, 0.0), (8, 0.2), (8, 0.5), (8, 0.3)))
    assert [change.at for change in found] == [8, 16, 24]


def test_machines_without_noise_have_sharp_changes_and_equal_values_none() -> None:
    assert change_points(np.zeros(9)) == []
    (change,) = change_points(np.array([0.0, 0.0, 0.0, 0.25, 0.25]))
    assert (change.at, change.first, change.last) == (3, 3, 3)
    assert change.low == pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_too_few_values_have_no_change(count: int) -> None:
    assert change_points(np.arange(float(count))) == []


def test_one_value_alone_is_no_level_but_the_last_is_told() -> None:
    values = series(3, (10, 0.0), (1, 0.5))
    assert change_points(values) == []
    assert last_apart(values, []) == pytest.approx(0.5, abs=0.1)
    assert last_apart(values[:-1], []) is None
    assert last_apart(values[-2:], []) is None


def test_the_smallest_error_is_the_first_at_which_a_change_counts() -> None:
    errors = [0.001 * number for number in range(1, 11)]

    def smallest(seed: int, *levels: tuple[int, float]) -> float:
        return smallest_error(series(seed, *levels), errors, bool)

    assert smallest(1, (6, 0.0), (6, 0.5)) == errors[0]
    assert smallest(1, (12, 0.0)) == 1.0
    assert smallest_error(series(1, (12, 0.0)), [], bool) == 1.0
    between = [smallest(seed, (6, 0.0), (6, 0.06)) for seed in range(40)]
    assert any(errors[0] < error < 1 for error in between)
    for seed, error in enumerate(between):
        for level in errors:
            found = bool(change_points(series(seed, (6, 0.0), (6, 0.06)), level))
            assert found == (level >= error)


def test_a_change_that_does_not_count_has_no_error() -> None:
    def is_large(changes: list[LevelShift]) -> bool:
        return any(abs(change.value) > 1 for change in changes)

    assert smallest_error(series(1, (6, 0.0), (6, 0.5)), [0.01], is_large) == 1.0

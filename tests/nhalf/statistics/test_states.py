"""Times of a machine in two states, taken apart."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.statistics.intervals import Floats
from nhalf.statistics.states import in_one_state

FAST = np.array([0.12, 0.2, 1.2, 20.0])
SLOW = FAST * np.array([2.8, 3.0, 2.4, 1.9])


def noisy(rows: Floats, spread: float = 0.02) -> Floats:
    return rows * np.exp(spread * np.random.default_rng(1).standard_normal(rows.shape))


@pytest.mark.parametrize(
    "rows",
    [
        np.empty((0, 4)),
        np.full((1, 4), 1.0),
        np.array([[1.0], [3.0]]),
        np.full((5, 4), 2.0),
        np.array([[np.nan], [np.nan], [np.nan]]),
        noisy(np.tile(FAST, (5, 1)), 0.05),
    ],
    ids=["nothing", "one launch", "two launches", "all equal", "no times", "one state"],
)
def test_without_two_states_times_stay_as_they_are(rows: Floats) -> None:
    assert in_one_state(rows) is rows


def test_mostly_fast_keeps_the_fast_times() -> None:
    rows = noisy(np.array([FAST, FAST, SLOW, FAST, FAST]))
    rows[1, 2:] = SLOW[2:]
    kept = in_one_state(rows)
    assert np.isnan(kept[2]).all()
    assert np.isnan(kept[1]).tolist() == [False, False, True, True]
    assert np.nanmedian(kept, axis=0) == pytest.approx(FAST, rel=0.05)


def test_mostly_slow_keeps_the_slow_times() -> None:
    rows = noisy(np.array([SLOW, SLOW, FAST, SLOW, SLOW]))
    rows[3, :2] = FAST[:2]
    kept = in_one_state(rows)
    assert np.isnan(kept[2]).all()
    assert np.isnan(kept[3]).tolist() == [True, True, False, False]
    assert np.nanmedian(kept, axis=0) == pytest.approx(SLOW, rel=0.05)


def test_mostly_slow_without_a_slow_launch_keeps_the_fast_times() -> None:
    rows = noisy(np.tile(SLOW, (4, 1)))
    for launch in range(4):
        rows[launch, launch] = FAST[launch]
    assert np.nanmedian(in_one_state(rows), axis=0) == pytest.approx(FAST, rel=0.05)


def test_a_hiccup_is_no_state() -> None:
    rows = noisy(np.tile(FAST, (5, 1)))
    rows[2, 1] *= 30
    assert in_one_state(rows) is rows


def test_every_size_keeps_a_time_where_launches_have_gaps() -> None:
    rows = noisy(np.array([SLOW, FAST, SLOW, SLOW, SLOW]))
    rows[[0, 2, 3, 4], 3] = np.nan
    assert np.isfinite(in_one_state(rows)).any(axis=0).all()


def test_three_launches_are_enough() -> None:
    kept = in_one_state(np.array([FAST, FAST, SLOW]))
    assert np.isnan(kept).any(axis=1).tolist() == [False, False, True]


def test_a_launch_without_times_hides_no_state() -> None:
    kept = in_one_state(np.array([FAST, np.full(4, np.nan), SLOW, FAST]))
    assert np.isnan(kept).all(axis=1).tolist() == [False, True, True, False]


def test_a_quarter_more_is_the_same_state() -> None:
    kept = in_one_state(np.array([[1.0], [1.25], [1.0], [3.0], [3.0]]))
    assert np.isnan(kept[:, 0]).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("fast", [1, 9])
def test_a_tenth_is_a_disturbance(fast: int) -> None:
    rows = np.array([[1.0]] * fast + [[3.0]] * (10 - fast))
    assert in_one_state(rows) is rows


def test_a_slow_launch_may_have_been_fast_once_in_ten_sizes() -> None:
    rows = np.full((3, 10), 3.0)
    rows[0, 0] = 1.0
    rows[1, :5] = 1.0
    rows[2, 5:] = 1.0
    assert np.isfinite(in_one_state(rows)[0, 1:]).all()


def test_of_halves_the_fast_one_stays() -> None:
    kept = in_one_state(np.array([FAST, SLOW, FAST, SLOW]))
    assert np.isnan(kept).all(axis=1).tolist() == [False, True, False, True]


def test_a_size_whose_times_agree_with_neither_state_keeps_all() -> None:
    rows = np.full((3, 4), 3.0)
    rows[0, 3] = np.nan
    rows[1, 3] = 1.0
    rows[2, :3] = 1.0
    assert np.isfinite(in_one_state(rows)[1:, 3]).all()

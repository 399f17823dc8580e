"""Slow samples, counted: exact probabilities of what a change of their frequency is told by."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.decide.tail_ratios import SlowEvents, chance_of_more, slow_events

DEGREES = np.array([8.0, 8.0])


def side(*events: int, samples: int = 200) -> SlowEvents:
    """A side with one group of sizes."""
    counts = np.array([events, events]).T
    return SlowEvents(counts, np.full_like(counts, samples))


def chance(before: SlowEvents, now: SlowEvents, between_runs: float = 1.0) -> float:
    of_all, of_group = chance_of_more(before, now, DEGREES, between_runs)
    assert of_all == of_group
    return float(of_all)


NONE = side(0, 0, 0, 0, 0)


@pytest.mark.parametrize("number", [1, 4, 6])
def test_all_events_of_one_side(number: int) -> None:
    """Each of them is as likely on either side; half of the probability of that is left out."""
    now = side(*(int(launch < number) + int(launch + 5 < number) for launch in range(5)))
    assert chance(NONE, now) == pytest.approx(0.5 ** (number + 1))
    assert chance(now, NONE) == pytest.approx(1 - 0.5 ** (number + 1))


def test_no_events_say_nothing() -> None:
    assert chance(NONE, NONE) == 0.5


def test_longer_runs_have_more_events() -> None:
    """As many in each sample as before."""
    longer = side(20, 20, 20, 20, 20, samples=2000)
    assert 0.4 < chance(side(2, 2, 2, 2, 2), longer) < 0.6


def test_events_of_one_launch_prove_nothing() -> None:
    assert chance(NONE, side(9, 0, 0, 0, 0)) > 0.2
    assert chance(NONE, side(100000, 0, 0, 0, 0, samples=10**6)) > 0.2
    assert chance(NONE, side(9, 0, 0, 8, 0)) > 0.05


def test_runs_that_took_turns_differ_by_their_launches_alone() -> None:
    now = side(9, 0, 4, 8, 1)
    assert chance(NONE, now, between_runs=0.0) < chance(NONE, now) / 3


def test_slow_samples_in_a_row_are_one_event() -> None:
    values = np.array([2.0, 2, 0, 0, 2, 0, 2, 2, 2])
    visits = {8: {0: [values, values[:1]], 2: [np.zeros(9)]}, 16: {2: [values[::-1]]}}
    counted = slow_events(visits, [[8], [16]], np.array([1.0, 1.0]))
    assert counted.events.tolist() == [[4, 4, 0], [3, 0, 3]]
    assert counted.samples.tolist() == [[10, 10, 0], [18, 9, 9]]


def test_values_that_are_none_and_visits_without_samples_are_no_events() -> None:
    visits = {8: {0: [np.full(9, np.nan), np.array([])], 1: [np.array([np.inf, 0.0])]}}
    counted = slow_events(visits, [[8]], np.array([1.0]))
    assert counted.events[:, 0].tolist() == [0, 1]
    assert chance_of_more(counted, counted, DEGREES, 1.0) == pytest.approx(0.5, abs=0.1)

"""Shares of a difference with their intervals, and what a proof says of members."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.experiment.why.proof import Proving, share_interval
from nhalf.experiment.why.switch import turns_of
from tests.nhalf.experiment.why.plant import Planted


def test_interval_by_hand() -> None:
    # Without covariance the ends solve (m - s)^2 = t^2 (v + s^2 w): here w is 0.
    part, difference = np.array([0.9, 1.1]), np.array([2.0, 2.0])
    interval = share_interval(part, difference)
    assert interval is not None
    assert interval.median == pytest.approx(0.5)
    assert interval.high - 0.5 == pytest.approx(12.706204736 * 0.1 / 2)


def test_a_difference_that_may_be_nothing_has_no_share() -> None:
    assert share_interval(np.array([1.0, 1.0]), np.array([1.0, -0.5])) is None
    assert share_interval(np.array([1.0, 1.0]), np.array([0.0, 0.0])) is None
    assert share_interval(np.array([1.0]), np.array([1.0])) is None


def test_shares_cover_the_truth() -> None:
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        part, difference = draw.normal(0.6, 0.1, 8), draw.normal(1.0, 0.1, 8)
        interval = share_interval(part, difference)
        assert interval is not None
        covered += interval.covers(0.6)
    assert 930 <= covered <= 970


def test_an_innocent_member_is_not_proven() -> None:
    program = Planted({frozenset([1]): 0.5}, seed=3)
    groups = [frozenset([1]), frozenset([2])]
    proving = Proving(turns_of(program.launch), frozenset(), frozenset(range(4)), groups, 0.005)
    proof = proving.run()
    assert [member.is_proven for member in proof.members] == [True, False]
    assert not proof.holds
    assert proof.rounds == 28


def test_false_accusations_are_rarer_than_promised() -> None:
    accused = 0
    for seed in range(120):
        program = Planted({}, seed=seed)
        sides = frozenset(), frozenset(range(4))
        proving = Proving(turns_of(program.launch, seed=seed), *sides, [frozenset([1])], 0.05)
        accused += proving.run().holds
    assert accused <= 9

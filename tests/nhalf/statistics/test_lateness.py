"""Ranks and nodes that come late, from counters alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from nhalf.statistics.latecomers import WINDOW_S, Lateness, Straggler

NODES = [f"n{rank // 2}" for rank in range(8)]


class Job:
    """Ranks that count collectives and compute before each."""

    def __init__(self, hosts: Sequence[str], own_collectives: Sequence[int] = ()) -> None:
        self.lateness = Lateness(range(len(hosts)), hosts)
        self.rng = np.random.default_rng(1)
        self.collectives = np.zeros(len(hosts))
        self.computed_s = np.zeros(len(hosts))
        self.own = np.array(own_collectives or [0] * len(hosts))
        self.now_s = 1000.0

    def run(self, windows: int, late: Sequence[int] = (), factor: float = 1.9) -> list[Straggler]:
        """Run on; who is late after these windows."""
        for _ in range(windows):
            factors = np.ones(len(self.collectives))
            factors[list(late)] = factor
            noise = np.exp(self.rng.normal(0, 0.05, len(factors)))
            self.collectives += 10 + self.own
            self.computed_s += 0.1 * factors * noise
            self.now_s += WINDOW_S
            self.lateness.add(self.now_s, self.collectives.tolist(), self.computed_s.tolist())
        return self.lateness.stragglers()


def test_nobody_is_late_where_all_are_alike() -> None:
    assert Job(NODES).run(2000) == []


def test_a_rank_whose_neighbours_are_on_time() -> None:
    job = Job(NODES)
    job.run(50)
    (late,) = job.run(20, [3])
    assert (late.host, late.ranks, late.is_whole_host) == ("n1", (3,), False)
    assert late.since_s == pytest.approx(1000 + 50 * WINDOW_S, abs=2 * WINDOW_S)
    assert late.ratio == pytest.approx(1.9, rel=0.1)


def test_a_node_whose_ranks_are_all_late() -> None:
    job = Job(NODES)
    job.run(50)
    (late,) = job.run(20, [4, 5])
    assert (late.host, late.ranks, late.is_whole_host) == ("n2", (4, 5), True)
    job.run(100, [4, 5])
    for _ in range(60):
        assert all(late.is_whole_host for late in job.run(1))
    assert job.run(1) == []


def test_a_node_with_one_rank() -> None:
    (late,) = Job(["a", "b", "c", "d"]).run(30, [3])
    assert (late.host, late.ranks, late.is_whole_host) == ("d", (3,), True)


def test_a_name_within_ten_seconds() -> None:
    for hosts in (["a", "b"], ["a"] * 4, NODES, [f"n{rank}" for rank in range(100)]):
        job = Job(hosts)
        job.run(200)
        assert job.run(round(10 / WINDOW_S), [1])


@pytest.mark.parametrize("own", [[0, 0, 30, 0], [30, 30, 0, 30]])
def test_ranks_with_collectives_of_their_own_are_not_late_for_that(own: list[int]) -> None:
    job = Job(["a"] * 4, own)
    assert job.run(500) == []
    (late,) = job.run(40, [1])
    assert late.ranks == (1,)


def test_a_rank_alone_and_a_program_without_collectives() -> None:
    assert Job(["a"]).run(100) == []
    lateness = Lateness(range(4), ["a"] * 4)
    assert not any(lateness.add(float(second), [0] * 4, [0.0] * 4) for second in range(100))
    assert lateness.stragglers() == []


def test_a_window_waits_for_a_collective_of_every_rank() -> None:
    lateness = Lateness(range(2), ["a", "a"])
    assert not lateness.add(0.0, [1, 1], [0.1, 0.1])
    assert not lateness.add(10.0, [2, 1], [0.2, 0.1])
    assert not lateness.add(WINDOW_S / 2, [2, 2], [0.2, 0.2])
    assert lateness.add(11.0, [2, 2], [0.2, 0.3])
    assert lateness.ratios == pytest.approx([0.5, 2.0])

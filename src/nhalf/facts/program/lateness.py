"""Who comes late to the collectives of a program that runs: ranks, or all ranks of a node.

The time that a rank computes before each of its collectives needs no clock that ranks share: the
one who computes longest comes last, and the others wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.statistics.latecomers import Latecomers, over_others

WINDOW_S = 0.25
"""A window has this length, or that of a collective of every rank."""
FALSE_NAME_S = 30 * 86_400.0
"""In the mean a false name comes once in this time, or more rarely: a month."""
LASTING_S = 3.0
"""Who is late for less is not named."""


@dataclass(frozen=True)
class Straggler:
    """Ranks of one host that come late: `ratio` is their computing over the median of the others,
    `share` the part of the time since `since_s` (seconds since 1970) in which they were the last.
    """

    host: str
    ranks: tuple[int, ...]
    is_whole_host: bool
    ratio: float
    share: float
    since_s: float


class Lateness:
    """Watches ranks by their counters. Ranks are numbers of MPI_COMM_WORLD, with their hosts."""

    def __init__(self, ranks: Sequence[int], hosts: Sequence[str]) -> None:
        self.ranks, self.hosts = tuple(ranks), tuple(hosts)
        self._nodes = list(dict.fromkeys(hosts))
        # Where each host has one rank, the ranks are the nodes.
        is_grouped = 1 < len(self._nodes) < len(self.ranks)
        tested = len(self.ranks) + (len(self._nodes) if is_grouped else 0)
        windows_between = FALSE_NAME_S / WINDOW_S * tested
        self._of_ranks = Latecomers(len(self.ranks), windows_between / len(self.ranks), LASTING_S)
        self._of_nodes = None
        if is_grouped:
            nodes = len(self._nodes)
            self._of_nodes = Latecomers(nodes, windows_between / nodes, LASTING_S)
        self._before: tuple[float, Floats, Floats] | None = None
        self.ratios: Floats = np.ones(len(self.ranks))
        """The computing of each rank over the median of the others, in the last window."""

    def add(self, now_s: float, collectives: Sequence[float], computed_s: Sequence[float]) -> bool:
        """Add counters, one of each rank; whether they were enough for another window."""
        counters = now_s, np.array(collectives, float), np.array(computed_s, float)
        if self._before is None:
            self._before = counters
            return False
        began_s, collectives_before, computed_before_s = self._before
        more = counters[1] - collectives_before
        if now_s - began_s < WINDOW_S or not (more >= 1).all():
            return False
        self._before = counters
        # Ranks of further communicators have more collectives to compute before.
        weight = counters[1] / counters[1].mean()
        own_s = np.maximum(0.0, counters[2] - computed_before_s) / more * weight
        if len(self.ranks) > 1:
            self.ratios = over_others(own_s)
        self._of_ranks.add(began_s, now_s, own_s)
        if self._of_nodes is not None:
            self._of_nodes.add(began_s, now_s, self._by_node(own_s))
            late = {self._nodes[at] for at in np.flatnonzero(self._of_nodes.is_named)}
            self._of_ranks.forget(np.array([host in late for host in self.hosts]))
        return True

    def stragglers(self) -> list[Straggler]:
        """Who is named: whole hosts first, then ranks of others."""
        stragglers = []
        if self._of_nodes is not None:
            for at in np.flatnonzero(self._of_nodes.is_named).tolist():
                host = self._nodes[at]
                ranks = [self.ranks[n] for n, name in enumerate(self.hosts) if name == host]
                stragglers.append(_straggler(self._of_nodes, at, host, ranks))
        for at in np.flatnonzero(self._of_ranks.is_named).tolist():
            host = self.hosts[at]
            straggler = _straggler(self._of_ranks, at, host, [self.ranks[at]])
            stragglers.append(replace(straggler, is_whole_host=self.hosts.count(host) == 1))
        return stragglers

    def _by_node(self, values: Floats) -> Floats:
        """The median over the ranks of each node; of two, the lower: both have to be late."""
        hosts = np.array(self.hosts)
        by_node = [np.sort(values[hosts == node]) for node in self._nodes]
        return np.array([own[(len(own) - 1) // 2] for own in by_node])


def _straggler(tests: Latecomers, at: int, host: str, ranks: Sequence[int]) -> Straggler:
    ratio, share, since_s = (float(of[at]) for of in (tests.ratio, tests.share, tests.since_s))
    return Straggler(host, tuple(ranks), True, ratio, share, since_s)

"""Who comes late to the collectives of a program that runs: ranks, or all ranks of a node.

The time that a rank computes before each of its collectives needs no clock that ranks share: the
one who computes longest comes last, and the others wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
        self.ranks = tuple(ranks)
        self.ratios: Floats = np.ones(len(self.ranks))
        """The computing of each rank over the median of the others, in the last window."""
        self._hosts = np.array(hosts)
        nodes = [np.flatnonzero(self._hosts == host) for host in dict.fromkeys(hosts)]
        alone = [np.array([at]) for at in range(len(self.ranks))]
        # Where each host has one rank, the ranks are the nodes.
        groups = [nodes, alone] if 1 < len(nodes) < len(alone) else [alone]
        tested = sum(map(len, groups))
        windows_between = FALSE_NAME_S / WINDOW_S * tested
        self._tests = [
            (units, Latecomers(len(units), windows_between / max(1, len(units)), LASTING_S))
            for units in groups
        ]
        self._before: tuple[float, Floats, Floats] | None = None

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
        for units, tests in self._tests:
            # The median of a node; of two ranks the lower, so that both have to be late.
            values = [np.sort(own_s[unit])[(len(unit) - 1) // 2] for unit in units]
            tests.add(began_s, now_s, np.array(values))
        (nodes, of_nodes), (_, of_ranks) = self._tests[0], self._tests[-1]
        if of_nodes is not of_ranks and of_nodes.is_named.any():
            late = [nodes[at] for at in np.flatnonzero(of_nodes.is_named)]
            of_ranks.forget(np.concatenate(late))
        return True

    def stragglers(self) -> list[Straggler]:
        """Who is named: whole hosts first, then ranks of others."""
        return [
            self._straggler(units[at], tests, at)
            for units, tests in self._tests
            for at in np.flatnonzero(tests.is_named).tolist()
        ]

    def _straggler(self, unit: NDArray[np.intp], tests: Latecomers, at: int) -> Straggler:
        host = str(self._hosts[unit[0]])
        is_whole_host = bool(len(unit) == np.count_nonzero(self._hosts == host))
        ratio, share, since_s = (float(of[at]) for of in (tests.ratio, tests.share, tests.since_s))
        ranks = tuple(self.ranks[place] for place in unit)
        return Straggler(host, ranks, is_whole_host, ratio, share, since_s)

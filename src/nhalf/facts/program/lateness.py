"""Who comes late to the collectives of a program that runs: ranks, or all ranks of a node.

The time that a rank computes before each of its collectives needs no clock that ranks share: the
one who computes longest comes last, and the others wait for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import le

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
        self._own_s: list[float] = []
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
        self._before: tuple[float, Sequence[int], Sequence[float]] | None = None

    @property
    def ratios(self) -> Floats:
        """The computing of each rank over the median of the others, in the last window."""
        if len(self._own_s) < 2:
            return np.ones(len(self.ranks))
        return over_others(np.array(self._own_s))

    def add(self, now_s: float, collectives: Sequence[int], computed_s: Sequence[float]) -> bool:
        """Add counters, one of each rank; whether they were enough for another window."""
        if self._before is None:
            self._before = now_s, collectives, computed_s
            return False
        began_s, collectives_before, computed_before_s = self._before
        if now_s - began_s < WINDOW_S or any(map(le, collectives, collectives_before)):
            return False
        self._before = now_s, collectives, computed_s
        # Ranks of further communicators have more collectives to compute before. Arrays would take
        # longer for the few ranks of most hosts.
        mean = sum(collectives) / len(collectives)
        self._own_s = own_s = [
            max(0.0, until_s - before_s) / (count - count_before) * (count / mean)
            for until_s, before_s, count, count_before in zip(
                computed_s, computed_before_s, collectives, collectives_before, strict=True
            )
        ]
        for units, tests in self._tests:
            # The median of a node; of two ranks the lower, so that both have to be late.
            values = (
                own_s
                if len(units) == len(own_s)
                else [sorted(own_s[at] for at in unit)[(len(unit) - 1) // 2] for unit in units]
            )
            tests.add(began_s, now_s, values)
        (nodes, of_nodes), (_, of_ranks) = self._tests[0], self._tests[-1]
        if of_nodes is not of_ranks:
            for at in of_nodes.late_members:
                of_ranks.forget(nodes[at])
        return True

    def stragglers(self) -> list[Straggler]:
        """Who is named: whole hosts first, then ranks of others."""
        return [
            self._straggler(units[at], tests, at)
            for units, tests in self._tests
            for at in tests.late_members
        ]

    def _straggler(self, unit: NDArray[np.intp], tests: Latecomers, at: int) -> Straggler:
        host = str(self._hosts[unit[0]])
        is_whole_host = bool(len(unit) == np.count_nonzero(self._hosts == host))
        late = tests.suspects[at]
        ranks = tuple(self.ranks[place] for place in unit)
        return Straggler(host, ranks, is_whole_host, late.ratio, late.share, late.since_s)

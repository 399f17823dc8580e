"""Who comes late again and again: a test that goes on while the values come.

In each window of time every member has a value, such as the time that a rank computes between two
collectives. Where members are alike and windows independent, each is the latest of n in at most one
window of n. Against that, one who has become late is the latest in `OFTEN` of all windows: the
likelihood ratio of the two is an e-value, and the products of successive ones, which begin anew
where they fall below 1 (Page's CUSUM), exceed A for the first time after A windows in the mean, or
later (J. Shin, A. Ramdas, A. Rinaldo, E-detectors, New England J. Statistics in Data Science 2
(2024) 229). So does the mean of those for several values of `OFTEN`. Each of the n members has to
reach n A, so that any false name comes as rarely.

Of a program that runs, ranks or all ranks of a node come late to its collectives. The time that a
rank computes before each needs no clock that ranks share: the one who computes longest comes last,
and the others wait for it.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import add, le

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats

LATE = 1.1
"""From this ratio to the median of the others on, the latest is late."""
OFTEN = (0.5, 0.7, 0.9)
"""How often who is late may be the latest: seldom where others are disturbed."""
KEPT = 0.75
"""Who is named stays so while this part of the evidence is there."""
RATIO_MAX = 1000.0
"""Where others take no time at all."""


class Latecomers:
    """Tests of n members, of which any one is named falsely once in `windows_between` or rarer.

    `suspects` are those with evidence, by their numbers.
    """

    def __init__(self, members: int, windows_between: float, lasting_s: float = 0.0) -> None:
        """Nobody is named who has not been late for `lasting_s`."""
        self.evidence_max = math.log(windows_between * max(1, members))
        self.lasting_s = lasting_s
        # Few have evidence at a time, and arrays of few numbers take longer than these.
        self.suspects: dict[int, LateMember] = {}

    @property
    def late_members(self) -> list[int]:
        """The numbers of those who are late."""
        return sorted(at for at, suspect in self.suspects.items() if suspect.is_named)

    def add(self, begin_s: float, end_s: float, values: Sequence[float]) -> None:
        """Add the values of a window, (n,), positive; one that is not finite is no evidence."""
        if len(values) < 2 or not all(map(math.isfinite, values)):
            return
        ascending = sorted(values)
        late = set(self.late_members)
        unnamed = (at for at in range(len(values)) if at not in late)
        latest = max(unnamed, key=values.__getitem__, default=-1)
        if latest >= 0 and _over_others(values[latest], ascending) >= LATE:
            self.suspects.setdefault(latest, LateMember(begin_s))
        chance = 1 / max(2, len(values) - len(late))
        gains = [math.log(often / chance) for often in OFTEN]
        losses = [math.log((1 - often) / (1 - chance)) for often in OFTEN]
        evidence_most = self.evidence_max + math.log(len(OFTEN))
        for at, suspect in list(self.suspects.items()):
            ratio = _over_others(values[at], ascending) if at in late or at == latest else 0.0
            suspect.add(ratio, gains if ratio >= LATE else losses, evidence_most)
            evidence = suspect.evidence
            is_enough = evidence >= self.evidence_max and end_s - suspect.since_s >= self.lasting_s
            is_kept = suspect.is_named and evidence > KEPT * self.evidence_max
            suspect.is_named = is_enough or is_kept
            if evidence == 0:
                del self.suspects[at]

    def forget(self, members: Iterable[int]) -> None:
        """Drop what is known of members with these numbers, whose lateness has another reason."""
        for at in members:
            self.suspects.pop(int(at), None)


@dataclass
class LateMember:
    """One who has been late since `since_s`, and whether it `is_named`."""

    since_s: float
    is_named: bool = False
    _windows: int = 0
    _late: int = 0
    _sum_of_log_ratio: float = 0.0
    _log_score: list[float] = field(default_factory=lambda: [0.0] * len(OFTEN))

    def add(self, ratio: float, gains: Sequence[float], evidence_most: float) -> None:
        """Add a window; it was late in it if `ratio` says so."""
        self._windows += 1
        if ratio >= LATE:
            self._late += 1
            self._sum_of_log_ratio += math.log(ratio)
        sums = map(add, self._log_score, gains)
        self._log_score = [min(max(0.0, value), evidence_most) for value in sums]

    @property
    def evidence(self) -> float:
        """The logarithm of the mean e-value; 0 for none."""
        most = max(self._log_score)
        if most <= 0:
            return 0.0
        return most + math.log(
            sum(math.exp(value - most) for value in self._log_score) / len(OFTEN)
        )

    @property
    def share(self) -> float:
        """In which part of the windows since then it was late."""
        return self._late / max(1, self._windows)

    @property
    def ratio(self) -> float:
        """The geometric mean, while it was late, of its values over the median of the others."""
        return math.exp(self._sum_of_log_ratio / max(1, self._late))


def _over_others(value: float, ascending: Sequence[float]) -> float:
    """One of the sorted values over the median of the others."""
    place = bisect_left(ascending, value)
    low, high = (len(ascending) - 2) // 2, (len(ascending) - 1) // 2
    median = (ascending[low + (place <= low)] + ascending[high + (place <= high)]) / 2
    if median <= 0:
        return RATIO_MAX if value > 0 else 1.0
    return min(max(value / median, 1 / RATIO_MAX), RATIO_MAX)


def over_others(values: Sequence[float]) -> list[float]:
    """Each of several values over the median of the others, `RATIO_MAX` at most."""
    ascending = sorted(values)
    return [_over_others(value, ascending) for value in values]


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
        return np.array(over_others(self._own_s))

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

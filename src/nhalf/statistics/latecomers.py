"""Who comes late again and again: a test that goes on while the values come.

In each window of time every member has a value, such as the time that a rank computes between two
collectives. Where members are alike and windows independent, each is the latest of n in at most one
window of n. Against that, one who has become late is the latest in `OFTEN` of all windows: the
likelihood ratio of the two is an e-value, and the products of successive ones, which begin anew
where they fall below 1 (Page's CUSUM), exceed A for the first time after A windows in the mean, or
later (J. Shin, A. Ramdas, A. Rinaldo, E-detectors, New England J. Statistics in Data Science 2
(2024) 229). So does the mean of those for several values of `OFTEN`. Each of the n members has to
reach n A, so that any false name comes as rarely.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import add

import numpy as np

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
    """One of the sorted values over the median of the others, as `over_others` does."""
    place = bisect_left(ascending, value)
    low, high = (len(ascending) - 2) // 2, (len(ascending) - 1) // 2
    median = (ascending[low + (place <= low)] + ascending[high + (place <= high)]) / 2
    if median <= 0:
        return RATIO_MAX if value > 0 else 1.0
    return min(max(value / median, 1 / RATIO_MAX), RATIO_MAX)


def over_others(values: Floats) -> Floats:
    """Each of n values over the median of the n - 1 others, (n,), `RATIO_MAX` at most."""
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values), int)
    place[order] = np.arange(len(values))
    ascending = np.append(values[order], math.nan)
    low, high = (len(values) - 2) // 2, (len(values) - 1) // 2
    median = (ascending[low + (place <= low)] + ascending[high + (place <= high)]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios: Floats = np.where(median > 0, values / median, np.where(values > 0, RATIO_MAX, 1.0))
    return np.clip(ratios, 1 / RATIO_MAX, RATIO_MAX)

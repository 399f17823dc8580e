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

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats

LATE = 1.1
"""From this ratio to the median of the others on, the latest is late."""
OFTEN = np.array([[0.5], [0.7], [0.9]])
"""How often who is late may be the latest: seldom where others are disturbed."""
KEPT = 0.75
"""Who is named stays so while this part of the evidence is there."""
RATIO_MAX = 1000.0
"""Where others take no time at all."""


class Latecomers:
    """Tests of n members, of which any one is named falsely once in `windows_between` or rarer.

    `is_named` says who is late; `since_s` since when, `share` in which part of the windows since
    then, and `ratio` how many times the median of the others, (n,) each.
    """

    def __init__(self, members: int, windows_between: float, lasting_s: float = 0.0) -> None:
        """Nobody is named who has not been late for `lasting_s`."""
        self.evidence_max = math.log(windows_between * max(1, members))
        self.lasting_s = lasting_s
        self._by_often = np.zeros((len(OFTEN), members))
        self.is_named = np.zeros(members, bool)
        self.since_s = np.zeros(members)
        self._windows, self._late, self._logs = np.zeros((3, members))

    @property
    def evidence(self) -> Floats:
        """The logarithm of the mean e-value of each; 0 for none."""
        evidence: Floats = np.logaddexp.reduce(self._by_often) - math.log(len(OFTEN))
        return np.where(self._by_often.any(axis=0), evidence, 0.0)

    @property
    def share(self) -> Floats:
        """In which part of the windows since then each was late; 0 before the first."""
        return self._late / np.maximum(1, self._windows)

    @property
    def ratio(self) -> Floats:
        """The geometric mean of the ratios while it was late; 1 for who never was."""
        return np.exp(self._logs / np.maximum(1, self._late))

    def add(self, begin_s: float, end_s: float, values: Floats) -> None:
        """Add the values of a window, (n,), positive; one that is not finite is no evidence."""
        if len(values) < 2 or not np.isfinite(values).all():
            return
        ratios = over_others(values)
        unnamed = ~self.is_named
        is_late = self.is_named & (ratios >= LATE)
        if unnamed.any():
            latest = int(np.argmax(np.where(unnamed, ratios, -math.inf)))
            is_late[latest] = ratios[latest] >= LATE
        self._restart(begin_s)
        self._windows += 1
        self._late += is_late
        self._logs += np.where(is_late, np.log(ratios), 0.0)
        chance = 1 / max(2, int(unnamed.sum()))
        gain, loss = np.log(OFTEN / chance), np.log((1 - OFTEN) / (1 - chance))
        by_often = self._by_often + np.where(is_late, gain, loss)
        self._by_often = np.clip(by_often, 0.0, self.evidence_max + math.log(len(OFTEN)))
        evidence = self.evidence
        is_enough = (evidence >= self.evidence_max) & (end_s - self.since_s >= self.lasting_s)
        self.is_named = is_enough | (self.is_named & (evidence > KEPT * self.evidence_max))

    def forget(self, members: NDArray[np.intp]) -> None:
        """Drop what is known of members with these numbers, whose lateness has another reason."""
        self._by_often[:, members] = 0.0
        self.is_named[members] = False

    def _restart(self, begin_s: float) -> None:
        """Begin anew for those without evidence."""
        restarts = ~self._by_often.any(axis=0)
        self.since_s[restarts] = begin_s
        for sums in (self._windows, self._late, self._logs):
            sums[restarts] = 0.0


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

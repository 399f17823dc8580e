"""Races of algorithms against the library's own choice: the winner of every cell.

Launch k of every algorithm ran in the same round, so the datum of a cell (operation, ranks, bytes)
is the logarithm of the ratio of two launches' times, judged as pairs are (statistics/paired.py). A
few launches determine its variance in one cell poorly, so variances are moderated over all cells
(Smyth 2004).

- An algorithm leaves a cell's race if it is slower than the cell's best (t-test at 5 %). That
decides only where more launches are spent, not what is written.
- An algorithm *wins* a cell where it is faster than the library's own choice by a minimum share,
  and the one-sided t-test against no gain holds at a level that Holm's procedure (Scand. J. Stat.
  6, 1979) keeps over all pairs of cells and algorithms in the race: the probability that any entry
  without a gain is written is at most that level. Which algorithms race at all must be decided by
  other launches than these.
- Among winners of about the same time, that of the neighbouring size is taken, for few switches.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nhalf.mpi.decision_table import NATIVE
from nhalf.statistics.intervals import Floats
from nhalf.statistics.many_tests import FALSE_RATE, holm, one_sided

LEAVES_AT = 0.05
ALIKE = math.log(1.02)
"""Algorithms within 2 % of each other are about as fast."""
SCOUT_FACTOR = 1.5
"""After one launch, those within this factor of a cell's best continue."""


class TuningCell(NamedTuple):
    """A cell in which a choice is made; bytes as patterns count them."""

    operation: str
    ranks: int
    size_bytes: int


Launches = Mapping[tuple[str, int], float]
"""The median time of each launch, seconds, by run and number."""
Times = Mapping[TuningCell, Mapping[str, Launches]]
"""Launches by cell and algorithm; NATIVE is the library's own choice."""


@dataclass(frozen=True)
class AlgorithmGain:
    """An algorithm against another one in a cell; logarithms of the ratio of times, 0 is equal.

    `probability` is that of such a gain, or a larger one, by chance; it is NaN, like the ends of
    the interval (95 %, of this pair alone), if launches are too few.
    """

    cell: TuningCell
    algorithm: str
    launches: int
    log_ratio: float
    low: float
    high: float
    probability: float

    @property
    def share(self) -> float:
        """The share of time saved."""
        return 1 - math.exp(-self.log_ratio)


def gains(times: Times, against: Mapping[TuningCell, str] | None = None) -> list[AlgorithmGain]:
    """Every algorithm against the library's own choice, or against another one named by cell."""
    pairs: list[tuple[TuningCell, str]] = []
    logs: list[Floats] = []
    for cell, algorithms in times.items():
        base = algorithms.get(against[cell] if against else NATIVE, {})
        for name, launches in algorithms.items():
            common = sorted(set(base) & set(launches))
            if launches is base or not common:
                continue
            pairs.append((cell, name))
            logs.append(np.log([base[key] / launches[key] for key in common]))
    if not pairs:
        return []
    numbers = [len(launch_logs) for launch_logs in logs]
    mean, reach, chance = one_sided(logs)
    return [
        AlgorithmGain(*pair, n, float(m), float(m - r), float(m + r), float(p))
        for pair, n, m, r, p in zip(pairs, numbers, mean, reach, chance, strict=True)
    ]


def winners(
    candidates: Sequence[AlgorithmGain], least_share: float, false_rate: float = FALSE_RATE
) -> dict[TuningCell, list[AlgorithmGain]]:
    """The winning algorithms by cell, the fastest first, with those about as fast."""
    won: dict[TuningCell, list[AlgorithmGain]] = {}
    for gain, holds in zip(
        candidates, holm([g.probability for g in candidates], false_rate), strict=True
    ):
        if holds and gain.share >= least_share:
            won.setdefault(gain.cell, []).append(gain)
    for cell, algorithms in won.items():
        algorithms.sort(key=lambda gain: -gain.log_ratio)
        most = algorithms[0].log_ratio
        won[cell] = [gain for gain in algorithms if most - gain.log_ratio <= ALIKE]
    return won


def still_racing(times: Times, least_share: float) -> dict[TuningCell, list[str]]:
    """The algorithms of each cell that need more launches, without the library's own.

    A cell in which none can gain the required minimum needs no more. One that seems to be won
    continues: a race that stopped at the first winner would find false winners.
    """
    best = {
        cell: min(algorithms, key=lambda name: _centre(algorithms[name]))
        for cell, algorithms in times.items()
        if algorithms
    }
    slower = gains({cell: times[cell] for cell in best}, best)
    out = {
        (gain.cell, gain.algorithm)
        for gain in slower
        if gain.probability > 1 - LEAVES_AT and gain.log_ratio < -ALIKE
    }
    least = -math.log(1 - least_share)
    hopeless = {(g.cell, g.algorithm) for g in gains(times) if g.high < least}
    racing = {}
    for cell, algorithms in times.items():
        names = [
            name
            for name in algorithms
            if name != NATIVE and (cell, name) not in out and (cell, name) not in hopeless
        ]
        if names:
            racing[cell] = names
    return racing


def scouted(times: Times, factor: float = SCOUT_FACTOR) -> dict[TuningCell, list[str]]:
    """The algorithms of each cell that are within a factor of its best after a first launch."""
    near_best = {}
    for cell, algorithms in times.items():
        centre = {name: _centre(launches) for name, launches in algorithms.items() if launches}
        best_s = min(centre.values(), default=math.inf)
        near = [n for n, value in centre.items() if n != NATIVE and value <= factor * best_s]
        if near:
            near_best[cell] = sorted(near, key=centre.__getitem__)
    return near_best


def fewest_switches(sizes: Sequence[Mapping[str, float]]) -> list[str]:
    """One name for each size in order, of those allowed there, with few switches.

    `sizes` are the gains by allowed name at each size; ties of the number of switches go to the
    larger sum of gains. An empty mapping leaves the size to the library's own choice.
    """
    chosen: list[str] = []
    start = 0
    while start < len(sizes):
        common = set(sizes[start]) or {NATIVE}
        end = start + 1
        while end < len(sizes) and common & (set(sizes[end]) or {NATIVE}):
            common &= set(sizes[end]) or {NATIVE}
            end += 1
        span = sizes[start:end]
        name = max(
            sorted(common), key=lambda candidate: sum(size.get(candidate, 0.0) for size in span)
        )
        chosen += [name] * (end - start)
        start = end
    return chosen


def merge(times: Sequence[Times]) -> dict[TuningCell, dict[str, dict[tuple[str, int], float]]]:
    """Merge the launches of several runs."""
    merged: dict[TuningCell, dict[str, dict[tuple[str, int], float]]] = {}
    for run_times in times:
        for cell, algorithms in run_times.items():
            for name, launches in algorithms.items():
                merged.setdefault(cell, {}).setdefault(name, {}).update(launches)
    return merged


def _centre(launches: Launches) -> float:
    """The median of some launches, seconds."""
    return float(np.median(list(launches.values()))) if launches else math.inf

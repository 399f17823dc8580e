"""Are slow samples more frequent than before? Events of two sides, launch by launch.

Samples are slow beyond a limit that both sides share; those that follow each other are one event,
as what delays one sample often delays the next (runs declustering: A. Davison, R. Smith, J. R.
Statist. Soc. B 52 (1990) 393). Events that know nothing of each other are Poisson's, and given
their sum B's are binomial: the conditional test (J. Przyborowski, H. Wilenski, Biometrika 31 (1940)
313), with half of the probability of what was seen (mid-P: H. Lancaster, J. Am. Statist. Assoc. 56
(1961) 223), as few events leave few probabilities.

Where launches of a side differ by more than chance lets events differ (index of dispersion: R.
Fisher, Biometrics 6 (1950) 17), the normal deviate of the probability is divided by the root of
that index, which counts once more for each of two runs, and is judged as Student's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats

ALIKE = 0.03
"""Launches differ if chance alone makes them differ as much with a smaller probability."""
PROBABILITY_LEAST = 1e-300
"""Smaller ones have no finite deviate."""

Visits = Mapping[int, Mapping[int, Sequence[Floats]]]
"""The logarithms of samples in order of time, (samples,) of each visit, by size and launch."""


@dataclass(frozen=True)
class SlowEvents:
    """The events and the samples of one side, all sizes first: (launches, 1 + groups)."""

    events: NDArray[np.int64]
    samples: NDArray[np.int64]


def slow_events(visits: Visits, groups: Sequence[Sequence[int]], limit_level: Floats) -> SlowEvents:
    """The events beyond the limits (groups,), which are logarithms, of groups of sizes."""
    launches = sorted({launch for group in groups for size in group for launch in visits[size]})
    counts = np.zeros((2, len(launches), 1 + len(groups)), np.int64)
    for row, launch in enumerate(launches):
        for column, (group, limit) in enumerate(zip(groups, limit_level, strict=True), 1):
            for values in (part for size in group for part in visits[size].get(launch, ())):
                is_slow = values > limit
                begins = np.diff(is_slow, prepend=False) & is_slow
                counts[:, row, column] += np.array([np.count_nonzero(begins), len(values)])
    counts[..., 0] = counts.sum(axis=-1)
    return SlowEvents(*counts)


def chance_of_more(
    before: SlowEvents, now: SlowEvents, degrees: Floats, between_runs: float
) -> Floats:
    """The probability of as many events now without a change: all sizes, then groups.

    `degrees` are those of launches; `between_runs` is the variance between two runs, in that of
    launches beyond chance.
    """
    from scipy.special import bdtrc, ndtri, stdtr

    now_events, now_samples = now.events.sum(axis=0), now.samples.sum(axis=0)
    events = before.events.sum(axis=0) + now_events
    share = now_samples / (before.samples.sum(axis=0) + now_samples)
    by_chance = sum(bdtrc(now_events - more, events, share) / 2 for more in (0, 1))
    dispersion = _dispersion((before, now))
    launches = max(len(before.events), len(now.events))
    spread = np.sqrt(dispersion + launches * between_runs * (dispersion - 1))
    deviate = ndtri(np.maximum(by_chance, PROBABILITY_LEAST)) / spread
    chance: Floats = np.where(dispersion > 1, stdtr(degrees, deviate), by_chance)
    return chance


def _dispersion(sides: Sequence[SlowEvents]) -> Floats:
    """The index of dispersion of launches, 1 where they are alike: all sizes, then groups."""
    from scipy.special import chdtrc

    squares, degrees = np.zeros((2, sides[0].events.shape[1]))
    for side in sides:
        expected = side.samples * side.events.sum(axis=0) / side.samples.sum(axis=0)
        squares += ((side.events - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(axis=0)
        degrees += np.where(expected.any(axis=0), (side.samples > 0).sum(axis=0) - 1, 0)
    degrees = np.maximum(degrees, 1)
    index = np.where(chdtrc(degrees, squares) < ALIKE, squares / degrees, 1.0)
    # A burst of a launch is at many sizes, of which each alone shows little.
    largest: Floats = np.maximum(index, index[0])
    return largest

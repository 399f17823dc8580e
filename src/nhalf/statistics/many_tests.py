# SPDX-License-Identifier: Apache-2.0
"""Many one-sided tests of few launches each: which hold, so that hardly ever a false one does.

Means are trimmed by a fifth at either end (Yuen, Biometrika 61, 1974), since launches are disturbed
as wholes; variances are moderated over all tests (Smyth 2004, moderation.py), and Holm's procedure
(Scand. J. Stat. 6, 1979) keeps the rate of any false one, however the tests depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.statistics.moderation import moderate

FALSE_RATE = 0.025
"""One-sided rate, so that the 95 % interval of everything that holds excludes equality."""
TRIMMED = 0.2
"""The share of launches trimmed at either end: some are disturbed as a whole."""


def one_sided(
    logs: Sequence[Floats], least: float = 0.0, confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Trimmed mean, half-width of its interval, and the chance of at most `least`, (n,) each.

    `logs` are those of the launches of each test. Half-width and chance are NaN for one launch.
    """
    from scipy.special import stdtr, stdtrit

    parts = np.array([trimmed(launch_logs) for launch_logs in logs])
    mean, count = parts[:, 0], parts[:, 2]
    variance, degrees = moderate(parts[:, 1], count - 1)
    deviation = np.sqrt(variance / count)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = stdtr(degrees, (least - mean) / deviation)
        reach = stdtrit(degrees, (1 + confidence) / 2) * deviation
    # Without any spread, the sign alone decides.
    chance = np.where(deviation == 0, np.where(mean > least, 0.0, 1.0), chance)
    few = count < 2
    chance, reach = (np.where(few, math.nan, values) for values in (chance, reach))
    return mean, reach, chance


def trimmed(logs: Floats) -> tuple[float, float, int]:
    """Mean without the outermost fifth at either end, its variance times the remaining number.

    The variance is that of Yuen's test (Biometrika 61, 1974), from the winsorised values, so that
    a launch which was disturbed as a whole counts as the next best one does.
    """
    ordered = np.sort(logs)
    count = len(ordered)
    cut = int(TRIMMED * count)
    remaining = count - 2 * cut
    if remaining < 2:
        return float(ordered.mean()), 0.0, remaining
    inner = ordered[cut : count - cut]
    winsorised = np.clip(ordered, inner[0], inner[-1])
    variance = float(winsorised.var(ddof=1)) * (count - 1) / (remaining - 1)
    return float(inner.mean()), variance, remaining


def holm(chances: Sequence[float], false_rate: float = FALSE_RATE) -> list[bool]:
    """Whether each test holds, so that any false one has at most this rate; NaN never holds."""
    order = sorted(range(len(chances)), key=lambda i: (math.isnan(chances[i]), chances[i]))
    holds = [False] * len(chances)
    for place, i in enumerate(order):
        if not chances[i] <= false_rate / (len(chances) - place):
            break
        holds[i] = True
    return holds

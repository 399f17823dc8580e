"""States of the machine that outlast a launch and that no flag shows: seen, or not excluded."""

from __future__ import annotations

import math

import numpy as np

from nhalf.statistics.bimodality import EFFECT
from nhalf.statistics.intervals import Floats

LAUNCHES_LEAST = 4
"""Two of three launches are often close together by chance, which proves nothing."""

_COUNTS = (4, 5, 6, 7, 8, 10, 12, 15, 20)
_GAPS = (0.964, 0.895, 0.827, 0.764, 0.717, 0.643, 0.593, 0.544, 0.491)
"""The share of the range that the gap beside the first or last of n normal numbers exceeds
once in 500 times, by simulation of 400,000 sets of each."""


def one_apart(levels: Floats) -> bool:
    """Whether one launch lies apart from all others: Dixon's test on logarithms of times.

    (W. Dixon, Analysis of extreme values, Annals of Mathematical Statistics 21, 1950, 488.) The
    launch must be 3 % from the next one, as with two states.
    """
    if len(levels) < LAUNCHES_LEAST:
        return False
    gaps = np.diff(np.sort(levels))
    gap = max(float(gaps[0]), float(gaps[-1]))
    share_min = float(np.interp(len(levels), _COUNTS, _GAPS))
    return gap > math.log1p(EFFECT) and gap > share_min * float(gaps.sum())


def unseen_share(launches: int, confidence: float = 0.95) -> float:
    """The largest share of launches in a state that equal launches may all have missed.

    Independent launches miss a state of share q with the probability (1 - q)^n, which is 1 -
    `confidence` for the share returned. Raises nothing; one launch gives `confidence`.
    """
    return float(1 - (1 - confidence) ** (1 / max(1, launches)))

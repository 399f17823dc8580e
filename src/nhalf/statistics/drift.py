"""Drift: whether times rise or fall with their order."""

from __future__ import annotations

import math

import numpy as np

from nhalf.statistics.bimodality import EFFECT, LAUNCHES_LEAST
from nhalf.statistics.intervals import Floats
from nhalf.statistics.student import student_quantile

TREND_CONFIDENCE = 0.99
"""Confidence for the slope over launches, tested once for a whole curve."""


def trend_signs(times: Floats) -> tuple[Floats, Floats, Floats]:
    """Signs of each row's last third against its first third (Cox and Stuart, Biometrika 1955).

    `times` (rows, n), NaN-padded. Returns per row the number of pairs that rose minus those that
    fell, the number that differ, and the median logarithm of the ratio.
    """
    rows, longest = times.shape
    count = (~np.isnan(times)).sum(axis=1)
    third = count // 3
    place = np.arange(max(longest // 3, 1))[None, :]
    last = np.minimum((count - third)[:, None] + place, longest - 1)
    is_pair = place < third[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(times)
        later = np.take_along_axis(logs, last, axis=1)
        change = np.where(is_pair, later - logs[:, : place.shape[1]], np.nan)
    signs = np.nan_to_num(np.sign(change))
    pairs = (~np.isnan(change)).sum(axis=1)
    median_change = np.zeros(rows)
    has_pairs = third > 0
    # Sorting puts NaN last; numpy's own median of such rows is slow.
    ordered, rank = np.sort(change[has_pairs], axis=1), np.arange(int(has_pairs.sum()))
    median_change[has_pairs] = (
        ordered[rank, (pairs[has_pairs] - 1) // 2] + ordered[rank, pairs[has_pairs] // 2]
    ) / 2
    return signs.sum(axis=1), np.abs(signs).sum(axis=1), np.nan_to_num(median_change)


def has_slope(order: Floats, levels: Floats) -> bool:
    """Whether levels (logarithms) rise or fall with their order: Student's test of the slope."""
    count = len(levels)
    if count < LAUNCHES_LEAST:
        return False
    place = order - order.mean()
    slope = float(place @ levels / (place @ place))
    residuals = levels - levels.mean() - slope * place
    error = math.sqrt(float(residuals @ residuals) / (count - 2) / float(place @ place))
    change = abs(slope) * float(np.ptp(order))
    is_significant = abs(slope) > student_quantile(count - 2, TREND_CONFIDENCE) * error
    return bool(is_significant and change > math.log1p(EFFECT))

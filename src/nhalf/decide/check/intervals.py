"""Simultaneous intervals of the times that are checked.

The method is that of decide/compare.py, with the median of each size in place of a run A: the
deviations of a launch at all sizes are its level plus residuals, variances are moderated over
sizes, and the intervals of a curve hold jointly (Bonferroni over its sizes). Curves share the error
probability equally, so that all intervals of a check hold jointly with its confidence: a machine
that keeps every promise is reported to miss one with a probability of at most (1 - confidence) / 2,
because only one side of an interval can cause that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from nhalf.decide.compare import launch_matrix
from nhalf.decide.ratio_intervals import ratio_intervals
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import CURVE, POINT

CONFIDENCE = 0.95
"""The probability that all intervals of a check hold."""


Key = tuple[Any, ...]


def shared_confidence(curves: int) -> float:
    """The confidence that each of several curves needs, so that all of them hold jointly."""
    return 1 - (1 - CONFIDENCE) / max(curves, 1)


def time_intervals(summary: pl.DataFrame, medians: pl.DataFrame) -> dict[Key, Interval]:
    """The reported time of each point of `summary` with its interval, by the values of POINT.

    `medians` are those of the launches (columns of `launch_medians`). The interval is NaN if a
    point has one launch, or a launch with a time of 0.
    """
    times = medians.join(summary.select(POINT), on=POINT, how="semi", nulls_equal=True)
    curves = times.partition_by(CURVE, maintain_order=True)
    confidence = shared_confidence(len(curves))
    ends: dict[Key, tuple[float, float]] = {}
    for curve in curves:
        ends |= _ends(curve.filter(pl.col("median_s").min().over("bytes") > 0), confidence)
    intervals = {}
    for row in summary.select(*POINT, "median_s").iter_rows():
        key, value = row[:-1], row[-1]
        low, high = ends.get(key, (np.nan, np.nan))
        # The reported value is a different mean of the launches: the interval is extended to it.
        intervals[key] = Interval(
            value, float(np.minimum(low, value)), float(np.maximum(high, value))
        )
    return intervals


def _ends(curve: pl.DataFrame, confidence: float) -> dict[Key, tuple[float, float]]:
    """Low and high of every size of one curve, seconds."""
    if curve.is_empty():
        return {}
    sizes = curve["bytes"].unique().sort().to_numpy()
    logs = np.log(launch_matrix(curve, sizes, "median_s"))
    centre = np.nanmedian(logs, axis=0)
    _, (_, low, high) = ratio_intervals(logs - centre, confidence)
    key = curve.select(CURVE).row(0)
    place = POINT.index("bytes")
    return {
        (*key[:place], int(size), *key[place:]): (float(np.exp(a)), float(np.exp(b)))
        for size, a, b in zip(sizes, centre + low, centre + high, strict=True)
    }

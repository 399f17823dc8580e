"""b_eff from some of its points, when there was no time for all of them.

For each kind of pattern, method and length, the geometric mean over the measured patterns stands
for all of its kind. Then the maximum over methods is taken; missing lengths are interpolated
linearly between their neighbours (logarithms of both); the means follow as in average.py. With all
points this is at most the result of average.py, which takes the best method for each pattern.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from nhalf.base.rows import Row
from nhalf.measure.plan.plan import b_eff_lengths
from nhalf.statistics.intervals import Floats

LENGTHS_MIN = 3
"""Both ends and one in between."""


def estimate(points: pl.DataFrame, is_ring: pl.Expr, longest_bytes_min: int) -> Row | None:
    """The figures of average.py, without intervals; None if too little was measured.

    `points` has the columns ring, method, bytes and rate_Bps; `is_ring` distinguishes rings from
    random orders.
    """
    longest_bytes = int(points["bytes"].max())  # type: ignore[arg-type]
    lengths = b_eff_lengths(longest_bytes) if longest_bytes > longest_bytes_min else ()
    curves = [_curve(points.filter(kind), lengths) for kind in (is_ring, ~is_ring)]
    if curves[0] is None or curves[1] is None:
        return None
    (rings, rings_last), (random, random_last) = (
        (float(curve.mean()), float(curve[-1])) for curve in curves if curve is not None
    )
    return {
        "longest_bytes": longest_bytes,
        "b_eff_Bps": (rings * random) ** 0.5,
        "rings_Bps": rings,
        "random_Bps": random,
        "random_ratio": random / rings,
        "at_longest_Bps": (rings_last * random_last) ** 0.5,
        "rings_at_longest_Bps": rings_last,
    }


def _curve(points: pl.DataFrame, lengths: tuple[int, ...]) -> Floats | None:
    """Bytes per second of one kind at each length; None if the shortest or longest is missing."""
    best = points.group_by("ring", "method", "bytes").agg(pl.col("rate_Bps").max())
    means = best.group_by("method", "bytes").agg(pl.col("rate_Bps").log().mean())
    by_size = means.group_by("bytes").agg(pl.col("rate_Bps").max()).sort("bytes")
    sizes = by_size["bytes"].to_list()
    if len(sizes) < LENGTHS_MIN or not set(sizes) <= set(lengths):
        return None
    if sizes[0] != lengths[0] or sizes[-1] != lengths[-1]:
        return None
    logs = np.interp(np.log(lengths), np.log(sizes), by_size["rate_Bps"].to_numpy())
    rates_Bps: Floats = np.exp(logs)
    return rates_Bps

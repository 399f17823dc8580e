"""What the fastest samples of two sides say where most others were disturbed."""

import math

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats

SAMPLES_FEW = 10
"""With fewer samples in a launch, its median can be that of disturbed ones."""
DISTURBED_SPREAD = 1.5
"""Where the median is more than this many times the fastest sample, most samples were disturbed."""
LOG_FASTEST_APART = math.log(1.1)
"""The fastest of a handful of samples differ by so much by chance."""


def fastest_ratio(rows: pl.DataFrame, centre_ratio: Floats) -> Floats:
    """Logarithms of the ratios of the fastest samples (sizes,), NaN if medians can be trusted.

    A process that takes the core moves the median of a handful of samples, or of most samples of a
    busy hour, in all launches alike; it hardly moves the fastest sample of all of them. A change
    that this one does not show is unclear. Where it is apart from `centre_ratio` by more than its
    chance, LOG_FASTEST_APART, the end of this chance that is nearer to 0 counts.
    """
    sides = ("a", "b")
    sizes = rows.group_by("bytes").agg(
        ratio=(pl.col("b_fastest_s").min() / pl.col("a_fastest_s").min()).log(),
        samples=pl.min_horizontal(pl.col(f"{side}_samples").median() for side in sides),
        spread=pl.max_horizontal(
            (pl.col(f"{side}_s") / pl.col(f"{side}_fastest_s")).median() for side in sides
        ),
    )
    doubtful = (pl.col("samples") < SAMPLES_FEW) | (pl.col("spread") > DISTURBED_SPREAD)
    ratio = pl.when(doubtful & pl.col("ratio").is_finite()).then("ratio")
    ratios = sizes.sort("bytes").select(ratio)["ratio"].fill_null(math.nan).to_numpy()
    ratios = np.where(np.abs(ratios - centre_ratio) > LOG_FASTEST_APART, ratios, math.nan)
    nearest: Floats = np.sign(ratios) * np.maximum(np.abs(ratios) - LOG_FASTEST_APART, 0.0)
    return nearest

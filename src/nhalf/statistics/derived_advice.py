"""Warnings derived from the samples themselves: bimodal, launch-apart and drift."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from nhalf.statistics.bimodality import EFFECT, SAMPLES_LEAST, two_states
from nhalf.statistics.drift import has_slope, trend_signs
from nhalf.statistics.intervals import Floats
from nhalf.statistics.unseen_states import one_apart
from nhalf.store.keys import RUN_CURVE, RUN_POINT

SAMPLES_SEEN = 256
"""Samples examined per launch, evenly spaced: enough for a shape, and cheap for any store."""


TREND_DEVIATIONS = 3.29
"""Normal quantile of a two-sided error of 0.1 % per point."""


def derived(measurements: pl.LazyFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Warnings from the samples: per point, RUN_POINT, `bimodal`, `drift` and `apart`.

    `medians` is the result of `launch_medians` for the same measurements.
    """
    rows = measurements.filter(pl.col("samples_s").list.len() >= SAMPLES_LEAST)
    inside = _inside_launches(rows.select(*RUN_POINT, "samples_s").collect())
    between = _between_launches(medians)
    points = medians.select(RUN_POINT).unique(maintain_order=True)
    joined = points.join(inside, on=RUN_POINT, how="left", nulls_equal=True)
    joined = joined.join(between, on=RUN_CURVE, how="left", nulls_equal=True)
    flag = [pl.col(c).fill_null(False) for c in ("bimodal", "split", "drift", "slope", "apart")]
    return joined.select(
        *RUN_POINT,
        bimodal=flag[0] | flag[1],
        drift=(flag[2] & ~flag[0]) | flag[3],
        apart=flag[4] & ~flag[3],
    )


def _inside_launches(rows: pl.DataFrame) -> pl.DataFrame:
    """Points with `bimodal` and `drift` as detected within launches."""
    blocks = list(_blocks(rows["samples_s"]))
    states = [two_states(block) for block in blocks]
    trends = [trend_signs(block) for block in blocks]
    columns = {
        "states": np.concatenate(states) if states else np.zeros(0, dtype=np.bool_),
        **{
            name: np.concatenate([t[i] for t in trends]) if trends else np.zeros(0)
            for i, name in enumerate(("rises", "pairs", "change"))
        },
    }
    frame = rows.select(RUN_POINT).with_columns(pl.Series(n, v) for n, v in columns.items())
    enough = pl.min_horizontal(pl.len(), pl.lit(2))
    return frame.group_by(RUN_POINT).agg(
        bimodal=pl.col("states").sum() >= enough,
        drift=(pl.col("rises").sum().abs() > TREND_DEVIATIONS * pl.col("pairs").sum().sqrt())
        & (pl.col("change").mean().abs() > math.log1p(EFFECT)),
    )


def _blocks(samples: pl.Series, rows_at_once: int = 256) -> Iterator[Floats]:
    """Lists of samples as matrices (rows, at most SAMPLES_SEEN), thinned evenly, NaN at the end."""
    for start in range(0, len(samples), rows_at_once):
        part = samples.slice(start, rows_at_once)
        length = part.list.len().to_numpy().astype(np.int64)
        flat = part.list.explode(keep_nulls=False, empty_as_null=False).to_numpy()
        width = int(min(length.max(), SAMPLES_SEEN))
        if np.all(length == width):
            yield flat.reshape(-1, width)
            continue
        offset = np.concatenate([[0], np.cumsum(length)[:-1]])
        thinned_length = np.minimum(length, width)
        place = np.arange(width)[None, :]
        index = offset[:, None] + place * length[:, None] // thinned_length[:, None]
        is_filled = place < thinned_length[:, None]
        yield np.where(is_filled, flat[np.where(is_filled, index, 0)], np.nan)


def _between_launches(medians: pl.DataFrame) -> pl.DataFrame:
    """Curves with `split`, `slope` and `apart`, from the level of whole launches.

    These are two states, a trend, and one launch that differs from all others.

    The level of a launch is the median over sizes of the logarithm of its time relative to the
    median launch, so that a disturbance of one size is not attributed to the launch.
    """
    positive = medians.filter(pl.col("median_s") > 0).with_columns(
        level=pl.col("median_s").log() - pl.col("median_s").log().median().over(RUN_POINT)
    )
    levels = (
        positive.group_by([*RUN_CURVE, "launch"])
        .agg(pl.col("level").median())
        .sort([*RUN_CURVE, "launch"])
        .group_by(RUN_CURVE, maintain_order=True)
        .agg("level", number=pl.col("launch").cast(pl.Float64))
    )
    split_: list[bool] = []
    slope: list[bool] = []
    apart: list[bool] = []
    for level, number in zip(levels["level"], levels["number"], strict=True):
        values = level.to_numpy()
        split_.append(bool(two_states(np.exp(values)[None, :])[0]))
        slope.append(has_slope(number.to_numpy(), values))
        apart.append(one_apart(values))
    columns = {"split": split_, "slope": slope, "apart": apart}
    return levels.select(RUN_CURVE).with_columns(
        pl.Series(name, flags, dtype=pl.Boolean) for name, flags in columns.items()
    )

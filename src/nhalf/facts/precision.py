# SPDX-License-Identifier: Apache-2.0
"""The points that did not reach the precision that their run aimed at, and what could be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.facts.basis import Basis
from nhalf.facts.node_runs import of_messages
from nhalf.facts.series import with_series
from nhalf.statistics.advice import PRECISION_TARGET
from nhalf.store.keys import RUN_CURVE

BLIND = 1.0
"""From this half-width on an interval says hardly more than the order of magnitude."""
WORSE = 3.0
"""By this factor an interval is wider than those beside it before it is worth a word."""


def missed(basis: Basis) -> pl.DataFrame:
    """The summary's points whose interval is wider than their run's target, widest first.

    Adds `series` and `half_width` (relative, the larger side). Points of one launch are not
    judged: their interval says nothing about other launches.
    """
    found = _missed(_judged(basis)).drop("wanted").sort("half_width", descending=True)
    return with_series(found, basis)


@dataclass(frozen=True)
class Reach:
    """What precision was reached, where half of the points missed what their run aimed at.

    `half_width_share` is the middle of all points, `most_share` what 95 % of them keep; `launches`
    the fewest and the most of a point.
    """

    half_width_share: float
    most_share: float
    launches: tuple[int, int]


def reach(basis: Basis) -> Reach | None:
    """What the noise of the machine allowed; None where most points reached what was aimed at."""
    points = _judged(basis)
    if points.is_empty() or 2 * _missed(points).height <= points.height:
        return None
    widths = points["half_width"]
    launches = points["launches"].to_list()
    return Reach(
        float(widths.median()),  # type: ignore[arg-type]
        float(widths.quantile(0.95) or 0.0),
        (min(launches), max(launches)),
    )


def worse_than_neighbours(basis: Basis) -> pl.DataFrame:
    """The points that missed what was aimed at by far more than their neighbours, worst first.

    Neighbours are the points of the same curve up to two sizes away; where these know nothing
    either, no point is told apart. Columns as `missed`, and `neighbours`, the middle half-width
    there.
    """
    points = with_series(_judged(basis), basis).sort(*RUN_CURVE, "bytes")
    width = pl.col("half_width")
    beside = [width.shift(step).over(RUN_CURVE) for step in (-2, -1, 1, 2)]
    middle = pl.concat_list(beside).list.drop_nulls().list.median()
    return (
        points.with_columns(neighbours=middle)
        .filter(
            width > pl.col("wanted"),
            width > WORSE * pl.col("neighbours"),
            pl.col("neighbours") < BLIND,
        )
        .sort("half_width", descending=True)
    )


def _missed(points: pl.DataFrame) -> pl.DataFrame:
    """Of judged points, those whose interval is wider than what was aimed at."""
    return points.filter(pl.col("half_width") > pl.col("wanted"))


def _judged(basis: Basis) -> pl.DataFrame:
    """Points of several launches with `half_width`, relative, and `wanted`, what was aimed at."""
    median = pl.col("median_s")
    reach = pl.max_horizontal(pl.col("ci_high_s") - median, median - pl.col("ci_low_s")) / median
    targets = {run: target_of(environment) for run, environment in basis.environments.items()}
    wanted = pl.col("run").replace_strict(
        targets, default=PRECISION_TARGET, return_dtype=pl.Float64
    )
    return (
        of_messages(basis)
        .with_columns(half_width=reach, wanted=wanted)
        .filter((pl.col("launches") > 1) & pl.col("half_width").is_finite())
    )


def target(basis: Basis) -> float:
    """The half-width aimed at, the largest where runs differ."""
    return max(map(target_of, basis.environments.values()), default=PRECISION_TARGET)


def target_of(environment: Mapping[str, Any]) -> float:
    """The half-width aimed at: PRECISION_TARGET, or what the plan asked for where that is more."""
    plan = environment.get("plan")
    asked = plan.get("precision") if isinstance(plan, dict) else None
    return (
        max(PRECISION_TARGET, float(asked)) if isinstance(asked, int | float) else PRECISION_TARGET
    )

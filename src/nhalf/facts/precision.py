# SPDX-License-Identifier: Apache-2.0
"""The points that did not reach the precision that their run aimed at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from nhalf.facts.basis import Basis
from nhalf.facts.series import with_series
from nhalf.statistics.advice import PRECISION_TARGET


def missed(basis: Basis) -> pl.DataFrame:
    """The summary's points whose interval is wider than their run's target, widest first.

    Adds `series` and `half_width` (relative, the larger side). Points of one launch are not
    judged: their interval says nothing about other launches.
    """
    median = pl.col("median_s")
    reach = pl.max_horizontal(pl.col("ci_high_s") - median, median - pl.col("ci_low_s")) / median
    targets = {run: target_of(environment) for run, environment in basis.environments.items()}
    wanted = pl.col("run").replace_strict(
        targets, default=PRECISION_TARGET, return_dtype=pl.Float64
    )
    found = (
        basis.summary.with_columns(half_width=reach)
        .filter((pl.col("launches") > 1) & pl.col("half_width").is_finite())
        .filter(pl.col("half_width") > wanted)
        .sort("half_width", descending=True)
    )
    return with_series(found, basis)


def target(basis: Basis) -> float:
    """The half-width aimed at, the largest where runs differ."""
    return max(map(target_of, basis.environments.values()), default=PRECISION_TARGET)


def target_of(environment: Mapping[str, Any]) -> float:
    """The half-width aimed at: PRECISION_TARGET, or what the plan asked for where that is more.

    A plan may ask for less within a launch; between launches, less is not always to be had.
    """
    plan = environment.get("plan")
    asked = plan.get("precision") if isinstance(plan, dict) else None
    return (
        max(PRECISION_TARGET, float(asked)) if isinstance(asked, int | float) else PRECISION_TARGET
    )

# SPDX-License-Identifier: Apache-2.0
"""Simulated nights of many curves: how often a comparison raises a false alarm, or misses a change.

A night is put together from simulated runs of one curve (simulated_runs.py), each curve from other
ones, and compared with another night as `nhalf check --against` does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from nhalf.decide.changes import Comparison
from nhalf.decide.compare import Sides, compare_all

CURVES = 8
"""The default study has seven for each library."""
TOLERANCE = 0.10
"""The default of `nhalf check --against`."""
PLANTED = 1.25


def share_with_alarm(
    runs: Sequence[pl.DataFrame], nights: int, launches: int, seed: int = 1
) -> float:
    """The share of nights without any change in which some curve is called slower."""
    random = np.random.default_rng(seed)
    alarms = [compared(runs, launches, random, 1.0).regressed for _ in range(nights)]
    return float(np.mean(alarms))


def share_named_first(
    runs: Sequence[pl.DataFrame], nights: int, launches: int, seed: int = 1
) -> float:
    """The share of nights in which the only curve that is slower, PLANTED times, is named first."""
    random = np.random.default_rng(seed)
    first_count = 0
    for _ in range(nights):
        first = compared(runs, launches, random, PLANTED).by_evidence()[0]
        first_count += first.worse == "worse" and first.point["axes"] == _axes(0)
    return first_count / nights


def compared(
    runs: Sequence[pl.DataFrame], launches: int, random: np.random.Generator, planted: float
) -> Comparison:
    """Two nights, drawn at random; in the second one the first curve takes `planted` times."""
    whole = int(runs[0]["launch"].max()) + 1  # type: ignore[arg-type]
    count = -(-launches // whole)
    sides: list[list[pl.DataFrame]] = [[], []]
    for curve in range(CURVES):
        drawn = random.choice(len(runs), 2 * count, replace=False)
        for side, frames in enumerate(sides):
            factor = planted if side and curve == 0 else 1.0
            for place, number in enumerate(drawn[side * count : (side + 1) * count]):
                launch = pl.col("launch") + whole * place
                frames.append(
                    runs[number]
                    .with_columns(
                        run=pl.lit("night"),
                        axes=pl.lit(_axes(curve)),
                        launch=launch,
                        median_s=pl.col("median_s") * factor,
                        lowest_s=pl.col("lowest_s") * factor,
                    )
                    .filter(launch < launches)
                )
    a, b = (pl.concat(frames) for frames in sides)
    (comparison,) = compare_all([Sides(a, b, [("", "")])], 1 + TOLERANCE)
    return comparison


def _axes(curve: int) -> str:
    return f"curve={curve}"

# SPDX-License-Identifier: Apache-2.0
"""Curves that charts show behind those of a run, for comparison."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Overlay:
    """Curves to be drawn behind others: those of an earlier run, or of a machine's models.

    `points` has the columns `series`, `pattern`, `bytes`, `median_s` and `rate_Bps` (bytes per
    second, null if no data moves); a series that the run also has keeps its name.
    """

    name: str
    points: pl.DataFrame

# SPDX-License-Identifier: Apache-2.0
"""What a run could not resolve: points that missed their precision, or were not measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def unresolved(
    unmeasured: Mapping[str, tuple[int, int]], summary: pl.DataFrame
) -> list[dict[str, Any]]:
    """By pattern how many of its points are imprecise and how many were not measured at all.

    `unmeasured` holds for each pattern how many of how many points have no launch. Patterns
    without a doubt are left out.
    """
    import polars as pl

    wide = summary.filter(pl.col("advice").list.contains("imprecise"))
    imprecise = dict(wide.group_by("pattern").len().iter_rows())
    rows = [
        {
            "pattern": pattern,
            "points": points,
            "imprecise": imprecise.get(pattern, 0),
            "unmeasured": missing,
        }
        for pattern, (missing, points) in sorted(unmeasured.items())
    ]
    return [row for row in rows if row["imprecise"] or row["unmeasured"]]


def as_line(row: Mapping[str, Any]) -> str:
    """One pattern for a reader."""
    said = []
    if row["imprecise"]:
        said.append(f"{row['imprecise']} missed their precision")
    if row["unmeasured"]:
        said.append(f"{row['unmeasured']} were not measured")
    return f"not resolved: {row['pattern']}: of {row['points']} points {', '.join(said)}"

# SPDX-License-Identifier: Apache-2.0
"""Points that a run left open: those that missed their precision, or were not measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from nhalf.facts.facts import Facts


def unresolved(facts: Facts, unmeasured: Mapping[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """The numbers of imprecise and of unmeasured points, by pattern.

    `unmeasured` holds for each pattern how many of how many points have no launch. Patterns
    without either are left out; members are `pattern`, `points`, `imprecise` and `unmeasured`.
    """
    wide = facts.summary.filter(pl.col("advice").list.contains("imprecise"))
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

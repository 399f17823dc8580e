# SPDX-License-Identifier: Apache-2.0
"""The size at which each curve of rates reaches half of its maximum: n½ (R. Hockney, 1982)."""

from __future__ import annotations

import math

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.overview import n_half
from nhalf.facts.series import plain_points


@fact
def half_rates(facts: Facts) -> list[Row]:
    """By series and pattern between two ranks: `n_half_bytes`, and the rate there, `half_Bps`.

    Curves that start above half of their maximum rate have none.
    """
    points = plain_points(facts).filter(pl.col("bytes") > 0, pl.col("rate_Bps").is_not_null())
    rows: list[Row] = []
    curves = points.sort("bytes").group_by("series", "pattern", maintain_order=True)
    for (series, pattern), curve in curves:
        size_bytes = n_half(curve["bytes"].to_list(), curve["rate_Bps"].to_list())
        if not math.isnan(size_bytes):
            half_Bps = float(curve["rate_Bps"].max()) / 2  # type: ignore[arg-type]
            rows.append(
                {
                    **{"series": series, "pattern": pattern},
                    **{"n_half_bytes": size_bytes, "half_Bps": half_Bps},
                }
            )
    return rows

# SPDX-License-Identifier: Apache-2.0
"""Offered and accepted traffic: of a rule's stages only the slowest."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.results.traffic.accepted import OVER_LOADS, curves, launches


@fact
def offered_and_accepted(facts: Facts) -> pl.DataFrame:
    """One row per series, setting, rule and load, sorted; empty if no load was offered.

    Columns are those of `nhalf.results.traffic.accepted.curves`, `series`, and the rates per
    sending rank, so that rules with idle ranks are comparable: `offered_per_sender_Bps` and
    `accepted_per_sender_Bps`.
    """
    points = launches(facts.measurements)
    if points.is_empty():
        return points
    offered = curves(points).filter(pl.col("offered_Bps").is_not_null() & (pl.col("bytes") > 0))
    if offered.is_empty():
        return offered
    but_distance = [name for name in OVER_LOADS if name != "distance"]
    lowest = (
        offered.group_by(OVER_LOADS, maintain_order=True)
        .agg(rate=(pl.col("saturated_Bps") / pl.col("senders")).median())
        .sort("rate", maintain_order=True)
        .unique(but_distance, keep="first")
        .drop("rate")
    )
    per_sender = {
        f"{name}_per_sender_Bps": pl.col(f"{name}_Bps") / pl.col("senders")
        for name in ("offered", "accepted")
    }
    slowest_stages = (
        offered.with_columns(**per_sender)
        .join(lowest, on=OVER_LOADS, how="semi")
        .sort("bytes", *OVER_LOADS, "load_percent", maintain_order=True)
    )
    return with_series(slowest_stages.with_columns(algorithm=pl.lit(""), axes=pl.lit("")), facts)

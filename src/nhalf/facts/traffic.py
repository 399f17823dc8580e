# SPDX-License-Identifier: Apache-2.0
"""Traffic as the pictures of it need it: a line per rule, one setting shown at a time."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.units import format_rate, format_time
from nhalf.present.charts import common
from nhalf.present.panels import ReportData
from nhalf.results.traffic.accepted import CURVE, curves, launches, rule_name, setting_name

SETTING_TITLE = "Mean size "
TOOLTIP = [
    alt.Tooltip("series:N", title="library"),
    alt.Tooltip("kind:N", title="to"),
    alt.Tooltip("load:Q", title="load, % of saturation"),
    alt.Tooltip("offered_text:N", title="offered, per sender"),
    alt.Tooltip("accepted_text:N", title="accepted, per sender"),
    alt.Tooltip("share:N", title="of what was offered"),
    alt.Tooltip("delay_text:N", title="delay"),
]


def traffic_rows(data: ReportData) -> list[common.Row]:
    """One row per series, setting, rule and load; of a rule's stages the slowest only.

    Rates are per rank that sends, so that rules by which some ranks send nothing compare.
    """
    points = launches(data.measurements)
    if points.is_empty():
        return []
    offered = curves(points).filter(pl.col("offered_Bps").is_not_null() & (pl.col("bytes") > 0))
    if offered.is_empty():
        return []
    others = [name for name in CURVE if name != "distance"]
    lowest = (
        offered.group_by(CURVE, maintain_order=True)
        .agg(rate=(pl.col("saturated_Bps") / pl.col("senders")).median())
        .sort("rate", maintain_order=True)
        .unique(others, keep="first")
        .drop("rate")
    )
    kept = offered.join(lowest, on=CURVE, how="semi").sort(
        "bytes", *CURVE, "load_percent", maintain_order=True
    )
    named = common.with_series(kept.with_columns(algorithm=pl.lit(""), axes=pl.lit("")), data)
    return [_row(row) for row in named.iter_rows(named=True)]


def rules_of(rows: list[common.Row]) -> list[str]:
    """The rules that are drawn, uniform first."""
    return sorted({row["kind"] for row in rows}, key=lambda name: (name != "uniform", name))


def _row(row: common.Row) -> common.Row:
    offered, accepted = (row[name] / row["senders"] for name in ("offered_Bps", "accepted_Bps"))
    share = f"{row['accepted_share'] * 100:.0f} %"
    if row["launches"] > 1:
        low, high = row["accepted_share_low"] * 100, row["accepted_share_high"] * 100
        share += f" ({low:.0f} to {high:.0f} %)"
    return {
        "series": row["series"],
        "kind": rule_name(row),
        "setting": setting_name(row),
        "load": row["load_percent"],
        "offered": common.digits(offered),
        "accepted": common.digits(accepted),
        "delay": common.digits(row["delay_s"]) if row["delay_s"] else None,
        "offered_text": format_rate(offered),
        "accepted_text": format_rate(accepted),
        "share": share,
        "delay_text": format_time(row["delay_s"]) if row["delay_s"] is not None else "–",
    }

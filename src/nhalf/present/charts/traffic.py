# SPDX-License-Identifier: Apache-2.0
"""Traffic as the pictures of it need it: a line per rule, one setting shown at a time."""

from __future__ import annotations

import altair as alt

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.traffic import offered_and_accepted
from nhalf.present.charts import common
from nhalf.results.traffic.accepted import rule_name, setting_name

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


def traffic_rows(facts: Facts) -> list[Row]:
    """Make a row for each series, setting, rule and load; rates are per sending rank."""
    return [_row(row) for row in offered_and_accepted(facts).iter_rows(named=True)]


def rules_of(rows: list[Row]) -> list[str]:
    """The rules that are drawn, uniform first."""
    return sorted({row["kind"] for row in rows}, key=lambda name: (name != "uniform", name))


def _row(row: Row) -> Row:
    offered, accepted = row["offered_per_sender_Bps"], row["accepted_per_sender_Bps"]
    share = percent(row["accepted_share"])
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

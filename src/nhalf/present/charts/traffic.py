"""Traffic as the pictures of it need it: a line per rule, one setting shown at a time."""

from __future__ import annotations

import altair as alt

from nhalf.base.numbers import percent, share_span
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.traffic import offered_and_accepted
from nhalf.present.cells import texts
from nhalf.present.charts import common
from nhalf.results.traffic import rule_name, setting_name

SETTING_TITLE = "Mean size "


def traffic_rows(facts: Facts) -> list[Row]:
    """Make a row for each series, setting, rule and load; rates are per sending rank."""
    return [_row(row) for row in offered_and_accepted(facts).iter_rows(named=True)]


def rules_of(rows: list[Row]) -> list[str]:
    """The rules that are drawn, uniform first."""
    return sorted({row["kind"] for row in rows}, key=lambda name: (name != "uniform", name))


def tooltip(rows: list[Row]) -> list[alt.Tooltip]:
    """What is said of a load."""
    return common.tooltip(
        rows,
        series="library",
        kind="to",
        load="load, % of saturation",
        offered_text="offered, per sender",
        accepted_text="accepted, per sender",
        share="of what was offered",
        delay_text="delay",
    )


def _row(row: Row) -> Row:
    offered, accepted = "offered_per_sender_Bps", "accepted_per_sender_Bps"
    share = percent(row["accepted_share"])
    if row["launches"] > 1:
        share += f" ({share_span(row['accepted_share_low'], row['accepted_share_high'])})"
    return {
        **{"series": row["series"], "kind": rule_name(row), "setting": setting_name(row)},
        **{"load": row["load_percent"], "share": share},
        **{"offered": common.digits(row[offered]), "accepted": common.digits(row[accepted])},
        "delay": common.digits(row["delay_s"]) if row["delay_s"] else None,
        **texts(row, offered_text=offered, accepted_text=accepted, delay_text="delay_s"),
    }

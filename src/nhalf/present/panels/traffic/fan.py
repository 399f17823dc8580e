# SPDX-License-Identifier: Apache-2.0
"""One to many, many to one, many to many: what a message costs there."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.many_ranks import FANS, fans
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.lines import lines
from nhalf.present.panels import Panel
from nhalf.present.wording import interval_text

KINDS = {
    "one-to-many": "one to many",
    "many-to-one": "many to one",
    "many-to-many": "many to many",
}
OWN = "one to many, the one's own time"
"""The time of rank 0 until its last message is sent, without waiting for other ranks."""


class Fan(Panel[Facts]):
    title = "One to many, many to one"
    how_to_read = (
        "The cost of each message for the busiest process: the time of a round divided by the "
        "messages that one process sends or receives in it; many to one far above one to many "
        "means that receiving is the bottleneck, many to many above both means contention, and the "
        "one's own time below one to many shows how much earlier it is free again."
    )
    order = 64
    patterns = FANS

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = fans(facts)
        if points.is_empty():
            return None
        rows = _rows(common.thin(points, ["series", "pattern"]))
        time_axis = common.log_axis("per_message", "time per message", rows, common.TIME_LABEL)
        shown_kinds = {row["kind"] for row in rows}
        return lines(
            rows,
            (common.size_axis(), time_axis),
            kinds=[kind for kind in (*KINDS.values(), OWN) if kind in shown_kinds],
            facets=("series", series_names(facts)),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("kind:N", title="traffic"),
                alt.Tooltip("size:N", title="size"),
                alt.Tooltip("words:N", title="per message"),
                alt.Tooltip("round:N", title="whole round"),
                alt.Tooltip("rate:N", title="rate of all"),
                alt.Tooltip("interval:N", title="95 % interval of the round"),
            ],
        )


def _rows(points: pl.DataFrame) -> list[Row]:
    rows = []
    for row in points.iter_rows(named=True):
        rows.append(_row(row, KINDS[row["pattern"]], row["median_s"]))
        if row["pattern"] == "one-to-many" and (row["root_s"] or 0) > 0:
            rows.append(_row(row, OWN, row["root_s"]) | {"interval": "none"})
    return rows


def _row(row: Row, kind: str, round_s: float) -> Row:
    """A point of the chart from the time of a round."""
    per_message_s = row["per_message_s"] * round_s / row["median_s"]
    return {
        "series": row["series"],
        "kind": kind,
        "bytes": row["bytes"],
        "size": format_size(row["bytes"]),
        "per_message": common.digits(per_message_s),
        "words": format_time(per_message_s),
        "round": format_time(round_s),
        "rate": format_rate(row["rate_Bps"] or 0.0),
        "interval": interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"]),
    }

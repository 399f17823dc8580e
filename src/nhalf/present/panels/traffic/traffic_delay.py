# SPDX-License-Identifier: Apache-2.0
"""How long messages wait until they are sent, over the load."""

from __future__ import annotations

import altair as alt

from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.lines import lines
from nhalf.present.charts.traffic import SETTING_TITLE, TOOLTIP, rules_of, traffic_rows
from nhalf.present.panels import Panel
from nhalf.results.traffic.accepted import PATTERN


class TrafficDelay(Panel[Facts]):
    title = "Waiting time under traffic"
    how_to_read = (
        "The mean time that a message waits until its process sends it, because earlier "
        "messages are still being sent and received: short at a low load, it grows steeply where "
        "the machine is nearly saturated, at 100 %; a program whose load lies left of the steep "
        "part has room to spare."
    )
    order = 57
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for row in traffic_rows(facts) if row["delay"] is not None]
        if not rows:
            return None
        delay = common.log_axis("delay", "mean waiting time", rows, common.TIME_LABEL)
        load = alt.X(
            "load:Q",
            title="offered load, % of what goes through without pauses",
            axis=alt.Axis(values=sorted({row["load"] for row in rows}), labelOverlap=True),
        )
        return lines(
            rows,
            (load, delay),
            kinds=rules_of(rows),
            facets=("series", series_names(facts)),
            tooltip=TOOLTIP,
            choice=("setting", SETTING_TITLE),
        )

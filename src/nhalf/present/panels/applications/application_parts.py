# SPDX-License-Identifier: Apache-2.0
"""The effect of a replaced part of the message layer on each kernel."""

from __future__ import annotations

import altair as alt

from nhalf.base.listing import ranks_text
from nhalf.base.rows import Row
from nhalf.facts.applications import part_races
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.charts.dots import dots
from nhalf.present.panels import Panel
from nhalf.present.wording import ends


class ApplicationParts(Panel[Facts]):
    title = "Applications: replaced parts"
    how_to_read = (
        "Each kernel's speed with a different barrier or decision table over that of the "
        "unmodified library, in the same launches, with its 95 % interval: right of 1 the part "
        "makes it faster."
    )
    order = 86

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows: list[Row] = [
            {
                "name": kernel,
                "kind": race.second,
                "on": f"{facts.titles.get(str(race.place['library']), race.place['library'])}, "
                f"{ranks_text(race.place['workers'])}",
                "ratio": common.digits(ratio.median, 4),
                "low": common.digits(common.drawn_low(ratio.low, ratio.median), 4),
                "high": common.digits(common.drawn_high(ratio.high, ratio.median), 4),
                "interval": ends(ratio),
            }
            for race in part_races(facts)
            for kernel, ratio in race.ratios.items()
        ]
        if not rows:
            return None
        ticks = common.log_ticks(row["ratio"] for row in rows)
        axis = alt.Axis(values=ticks, labelExpr="format(datum.value, '~r') + '×'")
        return dots(
            rows,
            alt.X("ratio:Q", title="times as fast", scale=common.LOG_SCALE, axis=axis),
            sorted({str(row["kind"]) for row in rows}),
            [
                alt.Tooltip("name:N", title="kernel"),
                alt.Tooltip("kind:N", title="part"),
                alt.Tooltip("ratio:Q", title="times as fast", format=".3~r"),
                alt.Tooltip("interval:N", title="95 % interval"),
            ],
            ("on", "Library"),
            level=1,
        )

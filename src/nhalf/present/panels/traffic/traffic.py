# SPDX-License-Identifier: Apache-2.0
"""The accepted share of an offered load, by destination rule."""

from __future__ import annotations

import altair as alt

from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.lines import lines
from nhalf.present.charts.traffic import SETTING_TITLE, TOOLTIP, rules_of, traffic_rows
from nhalf.present.panels import Panel
from nhalf.results.traffic.accepted import PATTERN


class Traffic(Panel[Facts]):
    title = "Accepted traffic"
    how_to_read = (
        "To the right the processes offer more load, upwards more is accepted: on the dashed line "
        "it is all of it, and where a line leaves it the machine is saturated; each line is one "
        "rule that assigns destinations, and a lower level means more contention."
    )
    order = 56
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = traffic_rows(facts)
        if not rows:
            return None
        most = max(row["offered"] for row in rows)
        diagonal = (
            alt.Chart()
            .mark_rule(strokeDash=[4, 4], opacity=0.6, clip=True)
            .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(most), y2=alt.datum(most))
        )
        axis = alt.Axis(labelExpr=common.RATE_LABEL, labelOverlap=True, tickCount=5)
        return lines(
            rows,
            (
                alt.X("offered:Q", title="offered, per sending process", axis=axis),
                alt.Y("accepted:Q", title="accepted, per sending process", axis=axis),
            ),
            kinds=rules_of(rows),
            facets=("series", series_names(facts)),
            tooltip=TOOLTIP,
            choice=("setting", SETTING_TITLE),
            behind=[diagonal],
        )

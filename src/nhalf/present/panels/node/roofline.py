# SPDX-License-Identifier: Apache-2.0
"""What a loop on one core can reach at most, by its operations for each byte."""

from __future__ import annotations

import altair as alt

from nhalf.base.rows import Row
from nhalf.base.units import format_rate
from nhalf.facts.facts import Facts
from nhalf.facts.roofline import Roof, roofs
from nhalf.node.reading import UNIT
from nhalf.present.charts import common
from nhalf.present.panels import Panel

FIRST_PER_BYTE, LAST_PER_BYTE = 2**-6, 2**6


_NUMBER = "format(datum.value, '~r')"
_FRACTION = f"datum.value < 1 ? '1/' + format(1 / datum.value, '~r') : {_NUMBER}"


class Roofline(Panel[Facts]):
    title = "Roofline of one core"
    how_to_read = (
        "A loop with this many floating-point operations for each byte it moves stays below the "
        "line of the level that holds its arrays: on the slope that level's bandwidth limits it, "
        "on the flat part the units do."
    )
    order = 75
    patterns = (UNIT,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        all_roofs = roofs(facts)
        if not all_roofs:
            return None
        rows = [row for roof in all_roofs for row in _rows(roof)]
        chart: alt.Chart = (
            alt.Chart(common.data_of(rows))
            .mark_line(point=True)
            .encode(
                x=alt.X(
                    "per_byte:Q",
                    title="flop/B",
                    scale=alt.Scale(type="log", base=2, nice=False),
                    axis=alt.Axis(labelExpr=_FRACTION, labelOverlap="greedy", tickCount=8),
                ),
                y=common.log_axis("giga", "GFLOP/s", rows, _NUMBER),
                color=alt.Color("level:N", title=None),
                tooltip=[
                    alt.Tooltip("level:N", title="arrays in"),
                    alt.Tooltip("rate:N", title="triad"),
                    alt.Tooltip("per_byte:Q", title="flop/B"),
                    alt.Tooltip("giga:Q", title="GFLOP/s"),
                ],
            )
        )
        return chart.properties(width="container", height=common.CHART_HEIGHT)


def _rows(roof: Roof) -> list[Row]:
    places = (FIRST_PER_BYTE, roof.ridge_per_byte, max(LAST_PER_BYTE, 2 * roof.ridge_per_byte))
    return [
        {
            "level": roof.level,
            "per_byte": common.digits(place, 4),
            "giga": common.digits(roof.reached_per_s(place) / 1e9, 4),
            "rate": format_rate(roof.rate_Bps),
        }
        for place in places
    ]

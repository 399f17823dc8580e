# SPDX-License-Identifier: Apache-2.0
"""Applications by library and programming model, side by side."""

from __future__ import annotations

import altair as alt

from nhalf.base.numbers import format_number
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.applications import applications
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.charts.dots import dots
from nhalf.present.panels import Panel
from nhalf.present.wording import interval_text, kernel_name, run_by


class ApplicationTimes(Panel[Facts]):
    title = "Applications: libraries and programming models"
    how_to_read = (
        "Each kernel's time relative to the fastest on the same number of ranks, with its "
        "95 % interval: the leftmost dot of a line is fastest."
    )
    order = 82

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        timed = [row for row in applications(facts) if row["time_s"]]
        cells: dict[tuple[str, int], list[Row]] = {}
        for row in timed:
            workers = row["ranks"] * row["threads"]
            cells.setdefault((kernel_name(row), workers), []).append(row)
        rows = [
            _drawn(row, name, workers, min(entry["time_s"] for entry in cell))
            for (name, workers), cell in sorted(cells.items(), key=lambda item: -item[0][1])
            for row in cell
            if len(cell) > 1
        ]
        if not rows:
            return None
        ticks = _ticks(max(row["ratio"] for row in rows))
        axis = alt.Axis(values=ticks, labelExpr="format(datum.value, '~r') + '×'")
        return dots(
            rows,
            alt.X("ratio:Q", title="times the fastest", scale=common.LOG_SCALE, axis=axis),
            sorted({row["kind"] for row in rows}),
            [
                alt.Tooltip("name:N", title="kernel"),
                alt.Tooltip("kind:N", title="run by"),
                alt.Tooltip("time:N", title="time"),
                alt.Tooltip("interval:N", title="95 % interval"),
                alt.Tooltip("rate:N", title="Mop/s"),
            ],
            ("on", "Ranks or threads"),
            level=1,
        )


def _ticks(most: float) -> list[float]:
    """Round multiples of the fastest; below twice as long, steps of a tenth."""
    if most < 2:
        return [1 + tenth / 10 for tenth in range(11)]
    return common.log_ticks([1.0, most])


def _drawn(row: Row, name: str, workers: int, fastest_s: float) -> Row:
    time_s = row["time_s"]
    low_s = common.drawn_low(row["ci_low_s"], time_s)
    high_s = common.drawn_high(row["ci_high_s"], time_s)
    return {
        "name": name,
        "kind": run_by(row),
        "on": str(workers),
        "ratio": common.digits(time_s / fastest_s, 4),
        "low": common.digits(low_s / fastest_s, 4),
        "high": common.digits(high_s / fastest_s, 4),
        "time": format_time(time_s),
        "interval": interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"]),
        "rate": "–" if row["mops"] is None else format_number(row["mops"]),
    }

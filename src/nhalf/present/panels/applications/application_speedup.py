# SPDX-License-Identifier: Apache-2.0
"""Speed-ups of applications over ranks and threads."""

from __future__ import annotations

import altair as alt

from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.applications import applications
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.charts.lines import count_axis, lines
from nhalf.present.panels import Panel
from nhalf.present.wording import interval_text, kernel_name, run_by

PERFECT = "as many times as ranks"


class ApplicationSpeedup(Panel[Facts]):
    title = "Applications: speed-up"
    how_to_read = (
        "How many times as fast a kernel is as on one rank or thread; if the smallest number "
        "measured is 2, that counts as twice as fast as one, and the last line of the legend is "
        "perfect scaling."
    )
    order = 81

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [_drawn(row) for row in applications(facts) if row["speedup"]]
        if len({row["workers"] for row in rows}) < 2:
            return None
        names = sorted({row["name"] for row in rows})
        kinds = [*sorted({row["kind"] for row in rows}), PERFECT]
        workers = sorted({row["workers"] for row in rows})
        for name in names:
            rows += [_perfect(name, number) for number in workers]
        axis = alt.Axis(values=common.log_ticks(row["speedup"] for row in rows), format="~r")
        speedup = alt.Y("speedup:Q", title="speed-up", scale=common.LOG_SCALE, axis=axis)
        return lines(
            rows,
            (count_axis("workers", "ranks or threads", workers, doubling=True), speedup),
            kinds,
            ("name", names),
            [
                alt.Tooltip("kind:N", title="run by"),
                alt.Tooltip("workers:Q", title="ranks or threads"),
                alt.Tooltip("speedup:Q", title="speed-up", format=".3~r"),
                alt.Tooltip("base:N", title="against"),
                alt.Tooltip("time:N", title="time"),
                alt.Tooltip("interval:N", title="95 % interval"),
            ],
        )


def _drawn(row: Row) -> Row:
    return {
        "name": kernel_name(row),
        "kind": run_by(row),
        "workers": row["ranks"] * row["threads"],
        "speedup": common.digits(row["speedup"], 4),
        "base": _base(row["speedup_base"]),
        "time": format_time(row["time_s"]),
        "interval": interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"]),
    }


def _base(workers: int) -> str:
    """State the base of a speed-up; without a run on one worker, its value is assumed."""
    return "one" if workers == 1 else f"{workers}, taken as {workers} times as fast as one"


def _perfect(name: str, workers: int) -> Row:
    return {"name": name, "kind": PERFECT, "workers": workers, "speedup": workers}

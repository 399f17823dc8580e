"""What each rank does over time, with the critical path on it."""

from __future__ import annotations

import math
from itertools import groupby

import altair as alt
import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.program.program import Program
from nhalf.facts.program.states import STATES, Shares, path_ranks, run_parts_s, states
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.present.report.themes import PATH, PATH_EDGE

PLACES_MAX = 64
"""More ranks are drawn as groups of neighbours."""
PARTS_MAX = 240
MARKS_MAX = 6000
"""A page with more rectangles takes noticeably longer to open."""
ROW_HEIGHT = 9


class Timeline(Panel[Program]):
    title = "Timeline"
    how_to_read = (
        "Each row is a rank, coloured by what it does most in each moment; the line is the "
        "critical path, the chain of work that the run time consists of: only what is on it can "
        "make the program faster."
    )
    order = 4

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        step = max(1, math.ceil(program.ranks / PLACES_MAX))
        places = math.ceil(program.ranks / step)
        parts = max(20, min(PARTS_MAX, MARKS_MAX // places))
        by_rank = states(program, parts)
        edges_s = run_parts_s(program, parts)
        if not by_rank or edges_s[-1] <= edges_s[0]:
            return None
        rows = _rows(program, by_rank, step, edges_s)
        used = [state for state in STATES if any(row["state"] == state for row in rows)]
        unit = "rank" if step == 1 else f"groups of {step} ranks"
        x = alt.X(
            "from:Q",
            title="time",
            scale=alt.Scale(domain=[0, common.digits(float(edges_s[-1] - edges_s[0]))], nice=False),
            axis=alt.Axis(labelExpr=common.TIME_LABEL, labelOverlap="greedy", labelSeparation=12),
        )
        y = alt.Y(
            "place:O", title=unit, axis=alt.Axis(labelOverlap=True, labelAngle=0, domain=False)
        )
        bars = (
            alt.Chart(common.data_of(rows))
            .mark_rect()
            .encode(
                x=x,
                x2="to:Q",
                y=y,
                color=alt.Color(
                    "state:N",
                    title=None,
                    scale=alt.Scale(domain=list(STATES)),
                    sort=list(STATES),
                    legend=alt.Legend(values=used, labelLimit=320),
                ),
                tooltip=common.tooltip(
                    rows, rank="rank", state="does", at="at", share="of that time"
                ),
            )
        )
        line = (
            alt.Chart(common.data_of(_path(program, parts, step, float(edges_s[0]))))
            .mark_line(interpolate="linear", strokeJoin="round")
            .encode(x=x, y=y, order="order:Q")
        )
        edge = line.mark_line(style=PATH_EDGE, strokeWidth=5, strokeJoin="round")
        path = line.mark_line(style=PATH, strokeWidth=2, strokeJoin="round")
        height = max(common.CHART_HEIGHT - 100, min(640, ROW_HEIGHT * places))
        return alt.layer(bars, edge, path).properties(width="container", height=height)


def _rows(program: Program, by_rank: dict[int, Shares], step: int, edges_s: Floats) -> list[Row]:
    """Stretches of a rank, or a group, in which it does one thing most."""
    rows: list[Row] = []
    begin_s = float(edges_s[0])
    for first in range(0, program.ranks, step):
        members = [rank for rank in range(first, min(first + step, program.ranks))]
        seconds = [by_rank[rank] for rank in members if rank in by_rank]
        if not seconds:
            continue
        together: Shares = np.sum(seconds, axis=0)
        most = np.where(together.sum(axis=1) > 0, together.argmax(axis=1), -1)
        for state, run in groupby(range(len(most)), key=lambda part: int(most[part])):
            span = list(run)
            if state < 0:
                continue
            own = together[span[0] : span[-1] + 1]
            from_s, to_s = (float(edges_s[part]) - begin_s for part in (span[0], span[-1] + 1))
            rows.append(
                {
                    "place": first,
                    "rank": str(first) if step == 1 else f"{first} to {members[-1]}",
                    "state": STATES[state],
                    "from": common.digits(from_s),
                    "to": common.digits(to_s),
                    "at": f"{format_time(from_s)} to {format_time(to_s)}",
                    "share": percent(float(own[:, state].sum() / own.sum())),
                }
            )
    return rows


def _path(program: Program, parts: int, step: int, begin_s: float) -> list[Row]:
    """The corners of the critical path."""
    rows: list[Row] = []
    for from_s, to_s, rank in path_ranks(program, parts):
        for moment_s in (from_s, to_s):
            at = common.digits(moment_s - begin_s)
            rows.append({"order": len(rows), "place": rank // step * step, "from": at})
    return rows

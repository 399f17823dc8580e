"""Panels on the calls of a program: their time, place and rate."""

import math
from itertools import groupby

import altair as alt
import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.base.numbers import MISSING, percent
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_time
from nhalf.facts.program import calls as call_facts
from nhalf.facts.program import states as state_facts
from nhalf.facts.program.program import Program
from nhalf.present.charts import common
from nhalf.present.charts.common import places_of, rank_bars
from nhalf.present.panels import Panel, Table
from nhalf.present.program.answer import size_span
from nhalf.present.report.themes import PATH, PATH_EDGE
from nhalf.present.wording import Cell, texts

SITES_MAX = 12


class CallSites(Panel[Program]):
    title = "Where MPI is called"
    how_to_read = (
        "Calls by their place in the program, the most expensive first, with their smallest and "
        "largest size; the share is that of all ranks' time."
    )
    order = 8

    def render(self, program: Program) -> Table | None:
        columns: dict[str, Cell] = {
            **{"place": "place", "function": "function", "call": "call"},
            "sizes": lambda row: size_span(row["least_bytes"], row["most_bytes"]),
            "calls": "count",
            "time per rank": lambda row: format_time(row["time_s"] / max(1, program.ranks)),
            "of the run": "share",
        }
        placed = call_facts.calls_by_place(program).filter(pl.col("place") != "")
        return Table.of(placed.to_dicts(), columns, SITES_MAX)


CALLS_MAX = 5
OTHERS = "other calls"


class TimeInMpi(Panel[Program]):
    title = "Time in MPI"
    how_to_read = (
        "Each bar is a rank, its parts the calls in which it spends the time of the run; what is "
        "missing up to 100 % is computing. Bars of different heights mean that the work is not "
        "shared equally: ranks that finish early wait inside MPI."
    )
    order = 30

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        if call_facts.time_by_call(program).is_empty() or program.elapsed_s <= 0:
            return None
        calls = call_facts.time_by_call(program)
        totals = calls.group_by("call").agg(pl.col("time_s").sum())
        # Calls of equal time have the same colours whenever the page is made.
        ordered = totals.sort("time_s", "call", descending=[True, False])
        shown = ordered["call"].head(CALLS_MAX).to_list()
        name = pl.when(pl.col("call").is_in(shown)).then("call").otherwise(pl.lit(OTHERS))
        places = places_of(program.ranks)
        summed = (
            calls.with_columns(call=name)
            .join(places, on="rank")
            .group_by("place", "ranks", "call")
            .agg(pl.col("count", "time_s").sum())
            .join(_threads(program, places), on="place")
            .with_columns(each_s=pl.col("time_s") / pl.col("threads"))
            .sort("place", "call")
        )
        rows = [
            {
                **common.pick(row, "place", "call", "count"),
                **texts(row, rank="ranks", time="each_s"),
                "share": common.digits(min(1.0, row["each_s"] / program.elapsed_s)),
            }
            for row in summed.iter_rows(named=True)
        ]
        kinds = [*shown, OTHERS] if any(row["call"] == OTHERS for row in rows) else shown
        y = alt.Y("share:Q", title="share of the run", axis=alt.Axis(format="%"))
        color = alt.Color("call:N", title=None, scale=alt.Scale(domain=kinds), sort=kinds)
        return rank_bars(
            rows, y, color, call="call", count="calls", time="time", share="of the run"
        )


def _threads(program: Program, places: pl.DataFrame) -> pl.DataFrame:
    """How many threads of a place call MPI."""
    threads = call_facts.threads_by_rank(program).join(places, on="rank")
    return threads.group_by("place").agg(pl.col("threads").sum())


KINDS = {"sent": "messages sent", "collective": "collective calls", "one-sided": "one-sided"}
CALLS, BYTES = "calls per second", "bytes per second"
_LABEL = "replace(format(datum.value, '~s'), /([a-zµ]?)$/i, ' $1')"


class OverTime(Panel[Program]):
    title = "Rate over time"
    how_to_read = (
        "How many messages and collective calls all ranks together issue in each moment of the "
        "run; dashed lines part the phases, in which the rate of both together is about the same."
    )
    order = 50

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        rows = _rows(program)
        if not rows:
            return None
        axis = alt.Axis(labelExpr=common.TIME_LABEL, labelOverlap="greedy", labelSeparation=12)
        kinds = [name for name in KINDS.values() if any(row["kind"] == name for row in rows)]
        lines = (
            alt.Chart(common.data_of(rows))
            .transform_filter("datum.measure === chosen")
            .mark_area(interpolate="step-after", line={"strokeWidth": 1.5}, fillOpacity=0.25)
            .encode(
                x=alt.X("time:Q", title="time", axis=axis),
                y=alt.Y("rate:Q", title="rate", stack=None, axis=alt.Axis(labelExpr=_LABEL)),
                color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds), sort=kinds),
                tooltip=common.tooltip(
                    rows, "at", kind="what", rate="calls per second", bytes_text="bytes"
                ),
            )
        )
        borders = [
            {"border": common.digits(row["start_s"])}
            for row in state_facts.rate_phases(program)[1:]
        ]
        rules = alt.Chart(common.data_of(borders)).mark_rule(strokeDash=[4, 4]).encode(x="border:Q")
        layers = (lines, rules) if borders else (lines,)
        return common.wide(
            alt.layer(*layers), common.choice("chosen", [CALLS, BYTES], CALLS, "Show")
        )


def _rows(program: Program) -> list[Row]:
    """Each bin of each kind that occurs, once for each measure."""
    bins = state_facts.rates_over_time(program)
    return [
        {
            **{"measure": measure, "kind": KINDS[row["kind"]]},
            **{"time": common.digits(row["start_s"]), "at": format_time(row["start_s"])},
            "rate": common.digits(row[name] / row["width_s"], 4),
            "bytes_text": format_rate(row["bytes"] / row["width_s"]),
        }
        for row in bins.filter(bins["kind"].is_in(list(KINDS))).iter_rows(named=True)
        for measure, name in ((CALLS, "messages"), (BYTES, "bytes"))
    ]


ROWS_MAX = 30


class Collectives(Panel[Program]):
    title = "Collective operations"
    how_to_read = (
        "Each row is a call with one size on one communicator, those with the most time first; "
        "waiting is the share beyond the shortest call of each rank, and all of a barrier."
    )
    order = 70

    def render(self, program: Program) -> Table | None:
        columns: dict[str, Cell] = {
            **{"call": "call", "size": "size_bytes", "ranks": "ranks"},
            **{"communicator": "communicator", "operations": "operations"},
            "each": lambda row: format_time(row["time_s"] / max(1, row["operations"])),
            "per rank": "time_s",
            "waiting": lambda row: (
                percent(row["waiting_s"] / row["time_s"]) if row["time_s"] else MISSING
            ),
        }
        return Table.of(call_facts.collective_calls(program).head(ROWS_MAX).to_dicts(), columns)


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
        by_rank = state_facts.states(program, parts)
        edges_s = state_facts.run_parts_s(program, parts)
        if not by_rank or edges_s[-1] <= edges_s[0]:
            return None
        rows = _stretches(program, by_rank, step, edges_s)
        used = [state for state in state_facts.STATES if any(row["state"] == state for row in rows)]
        unit = "rank" if step == 1 else f"groups of {step} ranks"
        scale = alt.Scale(domain=[0, common.digits(float(edges_s[-1] - edges_s[0]))], nice=False)
        axis = alt.Axis(labelExpr=common.TIME_LABEL, labelOverlap="greedy", labelSeparation=12)
        x = alt.X("from:Q", title="time", scale=scale, axis=axis)
        y = alt.Y(
            "place:O", title=unit, axis=alt.Axis(labelOverlap=True, labelAngle=0, domain=False)
        )
        color_scale = alt.Scale(domain=list(state_facts.STATES))
        sort = list(state_facts.STATES)
        legend = alt.Legend(values=used, labelLimit=320)
        color = alt.Color("state:N", title=None, scale=color_scale, sort=sort, legend=legend)
        tooltip = common.tooltip(rows, "rank", state="does", at="at", share="of that time")
        bars = (
            alt.Chart(common.data_of(rows))
            .mark_rect()
            .encode(x=x, x2="to:Q", y=y, color=color, tooltip=tooltip)
        )
        line = (
            alt.Chart(common.data_of(_path(program, parts, step, float(edges_s[0]))))
            .mark_line(interpolate="linear", strokeJoin="round")
            .encode(x=x, y=y, order="order:Q")
        )
        edge = line.mark_line(style=PATH_EDGE, strokeWidth=5, strokeJoin="round")
        path = line.mark_line(style=PATH, strokeWidth=2, strokeJoin="round")
        height = max(common.CHART_HEIGHT - 100, min(640, ROW_HEIGHT * places))
        return common.wide(alt.layer(bars, edge, path), height=height)


def _stretches(
    program: Program, by_rank: dict[int, state_facts.Shares], step: int, edges_s: Floats
) -> list[Row]:
    """Stretches of a rank, or a group, in which it does one thing most."""
    rows: list[Row] = []
    begin_s = float(edges_s[0])
    for first in range(0, program.ranks, step):
        members = [rank for rank in range(first, min(first + step, program.ranks))]
        seconds = [by_rank[rank] for rank in members if rank in by_rank]
        if not seconds:
            continue
        together: state_facts.Shares = np.sum(seconds, axis=0)
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
                    "state": state_facts.STATES[state],
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
    for from_s, to_s, rank in state_facts.path_ranks(program, parts):
        for moment_s in (from_s, to_s):
            at = common.digits(moment_s - begin_s)
            rows.append({"order": len(rows), "place": rank // step * step, "from": at})
    return rows

"""Panels on what ranks wait for, and on what it costs."""

import altair as alt
import polars as pl

from nhalf.base.numbers import format_number, percent, share_span
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.decide.program.basis import Efficiency, efficiency, is_disturbed, traced_run
from nhalf.decide.program.tolerance_curves import network_curves
from nhalf.facts.program.delays import delays
from nhalf.facts.program.program import Program
from nhalf.facts.program.states import COMPUTING, IN_MPI, NO_PROCESSOR, STATES
from nhalf.facts.program.waits import late_pairs, waiting_by_cause
from nhalf.present.charts import common
from nhalf.present.charts.common import places_of, rank_bars
from nhalf.present.panels import Panel, Table
from nhalf.present.program.tolerance import TITLES
from nhalf.present.report.themes import ON_COLOR
from nhalf.present.wording import Cell

KEPT, LOST = "used", "lost"
DEPTH = "› "
LABEL_WIDTH = 150
ROW_HEIGHT = 34


class Efficiencies(Panel[Program]):
    title = "Efficiency"
    how_to_read = (
        "The first bar is the share of the ranks' time in which they compute; the bars below are "
        "its factors, and the lowest of them says what to do first: balance the work, send results "
        "earlier (serialisation), or make messages faster (transfer)."
    )
    order = 2

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        tree = None if program.calls.is_empty() else efficiency(program)
        if tree is None:
            return None
        rows = _efficiencies_rows(tree)
        names = list(dict.fromkeys(str(row["name"]) for row in rows))
        axis = alt.Axis(
            labelLimit=260,
            labelFontSize=13,
            title=None,
            labelAlign="left",
            labelPadding=LABEL_WIDTH,
        )
        y = alt.Y("name:N", sort=names, axis=axis)
        x_axis = alt.Axis(format="%")
        scale = alt.Scale(domain=[0, 1], nice=False)
        color_scale = alt.Scale(domain=[KEPT, LOST])
        x = alt.X("share:Q", title=None, axis=x_axis, stack="zero", scale=scale)
        color = alt.Color("part:N", title=None, scale=color_scale, sort=[KEPT, LOST])
        tooltip = common.tooltip(rows, name="efficiency", meaning="is", text="share")
        bars = (
            alt.Chart(common.data_of(rows))
            .mark_bar(height={"band": 0.7})
            .encode(x=x, y=y, color=color, order=alt.Order("place:Q"), tooltip=tooltip)
        )
        labels = (
            alt.Chart(common.data_of([row for row in rows if row["part"] == KEPT]))
            .mark_text(style=ON_COLOR, align="left", dx=8, fontWeight=600, fontSize=13)
            .encode(x=alt.datum(0), y=y, text="text:N")
        )
        return alt.layer(bars, labels).properties(
            width="container", height=max(210, ROW_HEIGHT * len(names))
        )


def _efficiencies_rows(tree: Efficiency) -> list[Row]:
    """Two rows per efficiency: what is used of its time, and what is lost."""
    factors = [
        (0, "Parallel efficiency", tree.parallel_share, "computing over the run time, mean"),
        (1, "Load balance", tree.load_balance_share, "mean over largest computing of a rank"),
        (1, "Communication", tree.communication_share, "largest computing over the run time"),
        (2, "Serialisation", tree.serialisation_share, "the same on an ideal network"),
        (2, "Transfer", tree.transfer_share, "run time on an ideal network over the run time"),
    ]
    rows: list[Row] = []
    for depth, name, share, meaning in factors:
        if share is None:
            continue
        shown = {"name": DEPTH * depth + name, "meaning": meaning, "text": percent(share)}
        for place, (part, value) in enumerate(((KEPT, share), (LOST, max(0.0, 1 - share)))):
            rows.append({**shown, "place": place, "part": part, "share": common.digits(value)})
    return rows


DOING = {"computing_s": COMPUTING, "in_mpi_s": IN_MPI, "taken_s": NO_PROCESSOR}


class Delays(Panel[Program]):
    title = "Who makes others wait"
    how_to_read = (
        "Each bar is the time that other ranks wait because of a rank, directly or through ranks "
        "that wait themselves, coloured by what it does meanwhile: a tall bar is a rank to give "
        "less work, or one whose processor others have."
    )
    order = 6

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        caused = delays(program)
        if caused.is_empty() or caused["waiting_s"].sum() <= 0:
            return None
        summed = (
            caused.join(places_of(program.ranks), on="rank")
            .unpivot(list(DOING), index=["place", "ranks"], variable_name="doing")
            .group_by("place", "ranks", "doing")
            .agg(pl.col("value").sum())
            .sort("place", "doing")
        )
        rows = [
            {
                **{"place": row["place"], "rank": row["ranks"], "doing": DOING[row["doing"]]},
                **{"seconds": common.digits(row["value"]), "time": format_time(row["value"])},
            }
            for row in summed.iter_rows(named=True)
            if row["value"] > 0
        ]
        shown = [name for name in DOING.values() if any(row["doing"] == name for row in rows)]
        axis = alt.Axis(labelExpr=common.TIME_LABEL)
        scale = alt.Scale(domain=list(STATES))
        sort = list(DOING.values())
        legend = alt.Legend(values=shown)
        color = alt.Color("doing:N", title=None, scale=scale, sort=sort, legend=legend)
        title = "waiting of others"
        y = alt.Y("seconds:Q", title=title, axis=axis)
        return rank_bars(rows, y, color, common.CHART_HEIGHT - 100, doing="meanwhile", time=title)


CAUSES = ("late sender", "late receiver", "collective", "completion")


class Waiting(Panel[Program]):
    title = "Waiting"
    how_to_read = (
        "Each bar is the time that a rank waits: for messages sent late, for late receivers, "
        "in collective operations for the last rank to arrive, or in MPI_Wait and its family "
        "for messages to complete; the rank with the lowest bar is the one that others wait for."
    )
    order = 40

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        if waiting_by_cause(program).is_empty():
            return None
        summed = (
            waiting_by_cause(program)
            .join(places_of(program.ranks), on="rank")
            .group_by("place", "ranks", "members", "cause")
            .agg(pl.col("waiting_s").sum())
            .sort("place", "cause")
        )
        rows = [
            {
                **{"place": row["place"], "rank": row["ranks"], "cause": row["cause"]},
                "seconds": common.digits(row["waiting_s"] / row["members"]),
                "time": format_time(row["waiting_s"] / row["members"]),
            }
            for row in summed.iter_rows(named=True)
        ]
        shown = [cause for cause in CAUSES if cause in set(summed["cause"])]
        axis = alt.Axis(labelExpr=common.TIME_LABEL)
        y = alt.Y("seconds:Q", title="waiting", axis=axis)
        color = alt.Color("cause:N", title=None, scale=alt.Scale(domain=shown), sort=shown)
        return rank_bars(rows, y, color, cause="for", time="waiting")


ROWS_MAX = 30


class LateMessages(Panel[Program]):
    title = "Late messages"
    how_to_read = (
        "Each row is a rank that waits for messages of another, those with the most time first: "
        "how many of their messages were late, how long it waited for all of them and for the "
        "worst, and the size and time of that one, to be found in a timeline."
    )
    order = 45

    def render(self, program: Program) -> Table | None:
        columns: dict[str, Cell] = {
            **{"rank": "rank", "waits for": "late_rank", "cause": "cause", "late": "messages"},
            **{"of": "of_messages", "waiting": "waiting_s", "longest": "longest_s"},
            "size": "size_bytes",
            "from": lambda row: f"{format_number(row['from_s'], 6)} s",
        }
        return Table.of(late_pairs(program).head(ROWS_MAX).to_dicts(), columns)


_SHARE = "format(datum.value, '.0%')"


class Tolerance(Panel[Program]):
    title = "How much it tolerates"
    how_to_read = (
        "How much longer the run takes if each message had so much more latency, overhead or time "
        "per byte: replays of the timeline, with their interval. Where a curve is flat the program "
        "waits for something else; where it bends, another path becomes the longest."
    )
    order = 45

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        rows = _tolerance_rows(program)
        if not rows:
            return None
        names = list(dict.fromkeys(str(row["what"]) for row in rows))
        axis = alt.Axis(labelExpr=common.TIME_LABEL, labelOverlap="greedy", labelSeparation=12)
        x = alt.X("added:Q", title="added", axis=axis)
        base = alt.Chart(common.data_of(rows)).transform_filter("datum.what === chosen").encode(x=x)
        title, form = "run time lost", alt.Axis(labelExpr=_SHARE)
        band = base.mark_area(fillOpacity=0.25).encode(
            y=alt.Y("low:Q", title=title, axis=form), y2="high:Q"
        )
        line = base.mark_line(point=True).encode(
            y=alt.Y("lost:Q", title=title, axis=form),
            tooltip=common.tooltip(rows, added_text="added", lost_text="lost", interval="interval"),
        )
        return common.wide(alt.layer(band, line), common.choice("chosen", names, names[0], "Grows"))


def _tolerance_rows(program: Program) -> list[Row]:
    """Each point of each curve, as shares of the measured time."""
    if is_disturbed(program):
        return []
    return [
        {
            "what": TITLES[curve.parameter],
            "added": common.digits(point.added),
            "added_text": format_time(point.added),
            **{"lost": common.digits(lost), "low": common.digits(low), "high": common.digits(high)},
            "lost_text": percent(lost, 1),
            "interval": share_span(low, high),
        }
        for curve in network_curves(traced_run(program))
        for point in curve.points
        for ends_s in [(point.time_s, point.low_s, point.high_s)]
        for lost, low, high in [[end_s / curve.measured_s - 1 for end_s in ends_s]]
    ]

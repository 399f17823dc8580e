"""Panels on multicasts: their time, and what else they cost."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts import multicast
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.charts.curves import count_axis
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import line, texts


class Multicast(Panel[Facts]):
    title = "Multicast"
    how_to_read = (
        "The time until the last of this many destinations has one node's message, low is fast: "
        "each line is one method of forwarding, dashed if nodes are ordered by number and solid if "
        "by their place on the torus; charts side by side show copies made by the processors or by "
        "the network adapters."
    )
    order = 67
    patterns = (multicast.PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = multicast.multicasts(facts)
        if points.is_empty():
            return None
        rows = _rows(points)
        methods = multicast.methods_of(points)
        settings = list(dict.fromkeys(row["setting"] for row in rows))
        scale = alt.Scale(domain=methods)
        dashes = [[5, 3] if name in multicast.BY_NUMBER else [1, 0] for name in methods]
        base = alt.Chart().encode(
            x=count_axis(rows, "group", "destinations"),
            y=_time_axis(rows),
            color=alt.Color("method:N", title=None, sort=methods, scale=scale),
        )
        line = base.mark_line(strokeWidth=2).encode(
            strokeDash=alt.StrokeDash(
                "method:N", title=None, sort=methods, scale=alt.Scale(domain=methods, range=dashes)
            )
        )
        marks = base.mark_point(filled=True, size=46, opacity=1).encode(
            shape=alt.Shape("method:N", title=None, sort=methods, scale=scale),
            tooltip=common.tooltip(
                rows,
                method="way",
                forwarding="copies",
                setting="message",
                group="destinations",
                time="completion",
                cpu="a host's processor, mean",
                links="links used",
                concentration="link concentration",
            ),
        )
        layers = alt.layer(line, marks, data=common.data_of(rows))
        return (
            common.facets(layers, rows, multicast.forwardings_of(points), "forwarding")
            .transform_filter("datum.setting === chosen")
            .add_params(common.choice("chosen", settings, settings[0], "Message"))
        )


def _time_axis(rows: list[Row]) -> alt.Y:
    """Completion times; ticks are close, as one size at a time covers little of all sizes."""
    round_ticks = common.log_ticks(row["median"] for row in rows)
    decades = [tick for tick in round_ticks if f"{tick:.0e}".startswith("1")]
    ticks = [tick * step for tick in decades for step in (1, 2, 5)]
    axis = alt.Axis(values=ticks, labelExpr=common.TIME_LABEL, labelOverlap="greedy")
    return alt.Y("median:Q", title="completion time", scale=common.LOG_SCALE, axis=axis)


def _rows(points: pl.DataFrame) -> list[Row]:
    """One row per case and way, sizes of the first machine first."""
    several = points["series"].n_unique() > 1
    return [
        {
            **common.pick(row, "method", "group"),
            **texts(row, time="median_s", cpu="host_cpu_s", links="links_used"),
            "setting": format_size(row["bytes"]) + (f", {row['series']}" if several else ""),
            "forwarding": multicast.FORWARDINGS.get(row["forwarding"], row["forwarding"]),
            "median": common.digits(row["median_s"]),
            "concentration": common.digits(row["link_concentration"] or 0.0, 3),
        }
        for row in points.sort("series", "bytes", "group", "method").iter_rows(named=True)
    ]


MEASURES = ("group", "bytes", "links_used", "link_visits", "link_concentration")
"""Columns that do not depend on whether host or adapter makes the copies."""


class MulticastCost(Panel[Facts]):
    title = "Costs of a multicast besides time"
    how_to_read = (
        "For the largest group and the smallest message: the mean processor time per node, lost "
        "to computing, with its share of the multicast's time, by what makes the copies; and how "
        "evenly links are used: with a concentration of 1 all used links carry the same load, "
        "with 3 one carries three times the mean."
    )
    order = 68

    def render(self, facts: Facts) -> Table | None:
        points = multicast.multicasts(facts)
        if points.is_empty():
            return None
        points = points.filter(pl.col("link_visits").is_not_null()).filter(
            pl.col("group") == pl.col("group").max().over("series"),
            pl.col("bytes") == pl.col("bytes").min().over("series"),
        )
        forwardings = [name for name in multicast.FORWARDINGS if name in set(points["forwarding"])]
        rows = []
        for (series,), machine in points.group_by("series", maintain_order=True):
            for method in multicast.methods_of(machine):
                of_method = machine.filter(pl.col("method") == method)
                cpu = {row["forwarding"]: row for row in of_method.iter_rows(named=True)}
                rows.append([str(series), method, *line(of_method.row(0, named=True), MEASURES)])
                rows[-1] += [_processor(cpu[name]) if name in cpu else "–" for name in forwardings]
        columns = ["machine", "way", "destinations", "size", "links", "visits", "concentration"]
        return Table(
            [*columns, *(f"processor, {multicast.FORWARDINGS[name]}" for name in forwardings)], rows
        )


def _processor(row: Row) -> str:
    """'6.86 µs (12 %)': the mean time of a node's processor, and its share of the completion."""
    return f"{format_time(row['host_cpu_s'])} ({percent(row['host_cpu_share'])})"

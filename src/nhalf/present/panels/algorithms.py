"""Panels on algorithms of collective operations, work between barriers, and multicasts."""

import altair as alt
import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts import multicast
from nhalf.facts.algorithms import PATTERN, algorithm_name, best_parts, loops, root_medians
from nhalf.facts.collectives import algorithms
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.charts import common
from nhalf.present.charts.curves import count_axis, lines, some_sizes
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import Cell, line, texts

OWN = "the library's own"


class Algorithms(Panel[Facts]):
    title = "Algorithms of collective operations"
    how_to_read = (
        "Lower is faster: each line is one algorithm, built from the library's sends and receives; "
        "where one of them lies below the library's own line, the library chose badly for that "
        "size and number of processes."
    )
    order = 53

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = algorithms(facts)
        if points.is_empty():
            return None
        shown = common.thin(points, ["series", "pattern", "kind"])
        rows = common.time_rows(shown)
        rows = [{**row, "kind": kind or OWN} for row, kind in zip(rows, shown["kind"], strict=True)]
        title = "completion time"
        return lines(
            rows,
            axes=(common.size_axis(), common.log_axis("median", title, rows, common.TIME_LABEL)),
            kinds=[OWN, *sorted({row["kind"] for row in rows} - {OWN})],
            every_kind=False,
            facets=("series", sorted({row["series"] for row in rows})),
            tooltip=common.tooltip(
                rows, "series", kind="algorithm", size="size", time="time", interval="95 % interval"
            ),
            choice=("pattern", "Operation"),
        )


SIZES_SHOWN = 3
ROWS_MAX = 60


class RootBusy(Panel[Facts]):
    title = "How long the root is busy"
    how_to_read = (
        "The root of an operation may continue before all others are done: the algorithm that "
        "completes first is not always the one that frees the root first."
    )
    order = 59

    def render(self, facts: Facts) -> Table | None:
        points = root_medians(facts)
        several = points.filter(pl.col("algorithm").n_unique().over("pattern", "mpi") > 1)
        if several.is_empty():
            return None
        shown = several.filter(
            pl.col("bytes").is_in(some_sizes(several["bytes"].to_list(), SIZES_SHOWN)),
            pl.col("ranks") == pl.col("ranks").max().over("pattern", "mpi"),
        ).sort("mpi", "pattern", "bytes", "complete_s", maintain_order=True)
        columns: dict[str, Cell] = {
            "library": lambda row: library_label(facts, row["transport"], row["mpi"]),
            **{"operation": _operation, "size": "bytes"},
            "algorithm": lambda row: algorithm_name(row["algorithm"]),
            **{"completion": "complete_s", "root busy": "root_s"},
            "share": lambda row: percent(row["root_s"] / row["complete_s"]),
        }
        return Table.of(shown.to_dicts(), columns, ROWS_MAX)


class PartSizes(Panel[Facts]):
    title = "The best size of parts"
    how_to_read = (
        "An algorithm that cuts messages fills its chain or tree sooner with small parts, and "
        "pays fewer startups with large ones: the fastest size of those that were measured."
    )
    order = 61

    def render(self, facts: Facts) -> Table | None:
        best = best_parts(facts).sort("mpi", "pattern", "algorithm", "ranks", "bytes")
        columns: dict[str, Cell] = {
            "library": lambda row: library_label(facts, row["transport"], row["mpi"]),
            **{"operation": _operation, "algorithm": "algorithm", "size": "bytes"},
            **{"best part": "part_bytes", "time": "median_s"},
            "saves": lambda row: (
                percent(1 - row["median_s"] / row["usual_s"]) if row["usual_s"] else ""
            ),
        }
        return Table.of(best.to_dicts(), columns, ROWS_MAX)


def _operation(row: Row) -> str:
    return f"{row['pattern']}, {row['ranks']} ranks"


class Grain(Panel[Facts]):
    title = "Work between barriers"
    how_to_read = (
        "Every rank works for a while, then all wait for each other: the share of the time that is "
        "not work, over the length of the work; where a line is near 0, a faster barrier does not "
        "make the program faster."
    )
    order = 85
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = loops(facts, facts.summary).filter(pl.col("grain_s") > 0)
        rows = [
            {
                **common.pick(row, "series", "kind"),
                **{"grain": row["grain_s"], "work": format_time(row["grain_s"])},
                "share": common.digits(row["share"], 4),
                "barrier": format_time(row["median_s"] - row["grain_s"]),
            }
            for row in points.iter_rows(named=True)
        ]
        if not rows:
            return None
        ticks = common.log_ticks(row["grain"] for row in rows)
        axis = alt.Axis(values=ticks, labelExpr=common.TIME_LABEL, labelOverlap="greedy")
        names = sorted({str(row["series"]) for row in rows})
        return lines(
            rows,
            (
                alt.X("grain:Q", title="work", scale=common.LOG_SCALE, axis=axis),
                common.share_axis("share", "share of barriers", ".0%"),
            ),
            ("series", names),
            common.tooltip(
                rows, kind="barrier", work="work", barrier="beyond the work", share="share"
            ),
            sorted({str(row["kind"]) for row in rows}),
        )


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
        rows = _multicast_rows(points)
        methods = multicast.methods_of(points)
        settings = list(dict.fromkeys(row["setting"] for row in rows))
        scale = alt.Scale(domain=methods)
        dashes = [[5, 3] if name in multicast.BY_NUMBER else [1, 0] for name in methods]
        x = count_axis(rows, "group", "destinations")
        color = alt.Color("method:N", title=None, sort=methods, scale=scale)
        base = alt.Chart().encode(x=x, y=_time_axis(rows), color=color)
        strokeDash_scale = alt.Scale(domain=methods, range=dashes)
        line = base.mark_line(strokeWidth=2).encode(
            strokeDash=alt.StrokeDash("method:N", title=None, sort=methods, scale=strokeDash_scale)
        )
        titles = {"method": "way", "forwarding": "copies", "setting": "message"}
        titles |= {"group": "destinations", "time": "completion", "cpu": "a host's processor, mean"}
        titles |= {"links": "links used", "concentration": "link concentration"}
        marks = base.mark_point(filled=True, size=46, opacity=1).encode(
            shape=alt.Shape("method:N", title=None, sort=methods, scale=scale),
            tooltip=common.tooltip(rows, **titles),
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


def _multicast_rows(points: pl.DataFrame) -> list[Row]:
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

"""Panels on collective operations and barriers."""

import math

import altair as alt
import polars as pl

from nhalf.base.numbers import MISSING, times
from nhalf.base.operations import NATIVE
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts import collectives
from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label, series_names
from nhalf.present.charts import common
from nhalf.present.charts.curves import series_lines, time_curves, with_some_sizes
from nhalf.present.charts.ratios import ratio_chart, ratio_row
from nhalf.present.fastest_by_ranks import fastest_by_ranks
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import Cell, interval_of, texts


class FastestByRanks(Panel[Facts]):
    title = "Fastest library by operation, size and ranks"
    how_to_read = (
        "Each cell names the fastest library and how many times as long the next one takes; "
        "where several are named, or none, the launches do not tell them apart."
    )
    order = 43

    def render(self, facts: Facts) -> Table | None:
        columns, rows = fastest_by_ranks(facts)
        return Table(columns, rows) if rows else None


class Collectives(Panel[Facts]):
    title = "Collective operations"
    how_to_read = (
        "Lower is faster: the time from the moment when the first process starts the operation to "
        "the moment when the last one has finished it; all start together on synchronised clocks, "
        "and the band is the 95 % interval over launches."
    )
    order = 50

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = collectives.standard(facts.sound).filter(pl.col("pattern") != "barrier")
        return time_curves(points, facts, "completion time")


SIZES_SHOWN = 4


class CollectivesByRanks(Panel[Facts]):
    title = "Collective operations by number of ranks"
    how_to_read = (
        "How much longer an operation takes when more processes take part: each line is one "
        "library at one message size; a line that rises steeply marks an operation that will hurt "
        "on a larger machine."
    )
    order = 52

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = collectives.by_ranks(facts)
        if points.is_empty():
            return None
        shown = pl.concat(
            with_some_sizes(operation, SIZES_SHOWN)
            for _, operation in points.group_by("pattern", maintain_order=True)
        ).sort("pattern", "bytes", "series", "ranks")
        rows = common.time_rows(shown)
        rows = [{**row, "ranks": ranks} for row, ranks in zip(rows, shown["ranks"], strict=True)]
        scale = alt.Scale(type="log", base=2, nice=False)
        axis = alt.Axis(values=sorted({row["ranks"] for row in rows}), format="d")
        x = alt.X("ranks:Q", title="ranks", scale=scale, axis=axis)
        y = common.log_axis("median", "completion time", rows, common.TIME_LABEL)
        sizes = list(dict.fromkeys(row["size"] for row in rows))
        tips = common.tooltip(rows, "series", "ranks", "size", "time", "interval")
        return series_lines(rows, (x, y), tips, ("size", sizes))


class Barriers(Panel[Facts]):
    title = "Barriers"
    how_to_read = (
        "The time until every process knows that all have arrived: a program that synchronises in "
        "every step cannot step faster than this; first and last are the ranks that leave earliest "
        "and latest, by the median of each rank: where the latest is another one each time, even "
        "the last may be below the time."
    )
    order = 54

    def render(self, facts: Facts) -> Table | None:
        columns: dict[str, Cell] = {
            "library": lambda row: library_label(facts, row["transport"], row["mpi"]),
            **{"kind": _kind, "ranks": "ranks", "time": "median_s", "95 % interval": interval_of},
            **{"first": "first_s", "last": "last_s", "warnings": "advice"},
        }
        return Table.of(collectives.barriers(facts).to_dicts(), columns)


def _kind(row: Row) -> str:
    """The library's own barrier, one of ours, or one that is started and waited for."""
    if row["pattern"] != "barrier":
        return "non-blocking"
    return "barrier" if row["algorithm"] in (NATIVE, "") else str(row["algorithm"])


class CollectiveVariants(Panel[Facts]):
    title = "The same operation under different conditions"
    how_to_read = (
        "Each line is one condition, as a multiple of the time under the usual ones (started "
        "together, buffers in cache, called before, data and result apart): 2× is twice as slow; "
        "started after a barrier is what most other benchmarks do, so its distance from 1× is how "
        "much they mislead."
    )
    order = 55

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        ratios = collectives.varied(facts.launches, facts)
        if ratios.is_empty():
            return None
        points = with_intervals(ratios, ["series", "pattern", "variant", "bytes"])
        rows = [
            {**ratio_row(row, row["variant"]), "pattern": row["pattern"]}
            for row in common.thin(points, ["series", "pattern", "variant"]).to_dicts()
        ]
        names = series_names(facts)
        return ratio_chart(rows, names, kind_title="condition", standard="the usual time")


ROWS_MAX = 60


class StartedTogether(Panel[Facts]):
    title = "Started together, or after a barrier"
    how_to_read = (
        "Most benchmarks start an operation when a process leaves a barrier, and processes leave "
        "a barrier at different times: the ratio is that time over the time of an operation "
        "that all start together; the last column is how well the clocks agree."
    )
    order = 58

    def render(self, facts: Facts) -> Table | None:
        columns: dict[str, Cell] = {
            "library": lambda row: library_label(facts, row["transport"], row["mpi"]),
            "operation": _operation,
            "size": lambda row: format_size(row["bytes"]) if row["bytes"] else MISSING,
            **{"together": "median_s", "after a barrier": "barrier_s"},
            "ratio": lambda row: times(row["ratio"]).replace("x", "×"),
            "its first start to last end": "true_s",
            "clocks agree within": "clock_uncertainty_s",
        }
        return Table.of(collectives.started_both_ways(facts).to_dicts(), columns, ROWS_MAX)


def _operation(row: Row) -> str:
    algorithm = [] if row["algorithm"] in (NATIVE, "") else [row["algorithm"]]
    return ", ".join([row["pattern"], *algorithm, f"{row['ranks']} ranks"])


RANKS_SHOWN = 64


class Ranks(Panel[Facts]):
    title = "Who finishes when"
    how_to_read = (
        "Each mark is one process: the share of the whole operation's time after which it may "
        "continue; marks far below 100 % are processes that leave early, so that an average "
        "over processes would flatter the operation."
    )
    order = 60

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = collectives.finishing(facts)
        if points.is_empty():
            return None
        names = series_names(facts)
        rows = [
            {
                **common.pick(row, "series", "pattern", "bytes"),
                **{"size": format_size(row["bytes"]), "rank": rank},
                "share": common.digits(row["shares"][rank], 3),
                "time": format_time(row["rank_s"][rank]),
            }
            for row in common.thin(points, ["series", "pattern"]).to_dicts()
            for rank in range(0, len(row["rank_s"]), max(1, len(row["rank_s"]) // RANKS_SHOWN))
        ]
        patterns = sorted({row["pattern"] for row in rows})
        axis, scale = alt.Axis(format="%"), alt.Scale(domainMin=0)
        ticks = alt.Chart().mark_tick(thickness=3, size=9, opacity=0.75)
        marks = ticks.encode(
            x=common.size_axis(),
            y=alt.Y("share:Q", title="of the operation's time", axis=axis, scale=scale),
            color=_rank_color(max(row["rank"] for row in rows)),
            tooltip=common.tooltip(rows, "series", "rank", "size", time="its time"),
        )
        chart = common.facets(alt.layer(marks, data=common.data_of(rows)), rows, names)
        shown = chart.transform_filter(common.only_shown())
        return shown.add_params(common.pattern_choice(patterns))


def _rank_color(last: int) -> alt.Color:
    """Colour by rank, with at most five integers on the legend."""
    step = max(1, math.ceil(last / 4))
    legend = alt.Legend(format="d", values=list(range(0, last + 1, step)))
    # The domain of all patterns: the legend's values would lie beyond that of a smaller one.
    scale = alt.Scale(scheme="viridis", domain=[0, max(1, last)])
    return alt.Color("rank:Q", title="rank", scale=scale, legend=legend)


class Overlap(Panel[Facts]):
    title = "Overlap with computing"
    how_to_read = (
        "Higher is better: 100 % means that a non-blocking operation costs nothing while the "
        "program computes, 0 % that the library does all its work in the waiting call, so that "
        "nothing is gained."
    )
    order = 62

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = collectives.overlaps(facts)
        if points.is_empty():
            return None
        rows = [
            {
                **common.pick(row, "series", "pattern", "bytes"),
                **texts(row, size="bytes", pure="pure_s", total="median_s"),
                "overlap": common.digits(row["overlap"], 3),
            }
            for row in common.thin(points, ["series", "pattern"]).to_dicts()
        ]
        titles = {"overlap": "hidden", "pure": "operation alone", "total": "with computing"}
        tips = common.tooltip(rows, "series", "size", **titles)
        y = common.share_axis("overlap", "hidden behind computing")
        return series_lines(rows, (common.size_axis(), y), tips)

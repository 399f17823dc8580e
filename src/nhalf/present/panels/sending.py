"""Panels on ways to send: modes, windows, layouts, threads, active messages and segments."""

import altair as alt
import polars as pl

from nhalf.base.units import format_size
from nhalf.facts import memory
from nhalf.facts.active_messages import LONG, MEDIUM, way_ratios
from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.sending import LAYOUTS, THREADS, WINDOWS, mode_name, mode_ratios
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart, ratio_row, ways_chart
from nhalf.present.panels import Panel
from nhalf.present.wording import layout_name, texts, threads_name, window_name


class Modes(Panel[Facts]):
    title = "Send modes"
    how_to_read = (
        "Each line is one way to send, as a multiple of the time of a standard send of the same "
        "size in the same launch: 2× is twice as slow, below 1× is faster, and marks at an "
        "edge lie beyond it."
    )
    order = 30

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = with_intervals(mode_ratios(facts), ["series", "pattern", "bytes"])
        rows = [
            ratio_row(row, mode_name(row["pattern"]))
            for row in common.thin(points, ["series", "pattern"]).iter_rows(named=True)
        ]
        if not rows:
            return None
        return ratio_chart(
            rows, series_names(facts), kind_title="mode", standard="the standard send"
        )


KINDS = {
    (MEDIUM, "one-transfer"): "medium: one copy and one transfer",
    (LONG, "bulk"): "long: bulk copy, connected once",
    (LONG, "bulk-each"): "long: bulk copy, connected each time",
    (LONG, "bulk-hybrid"): "long: bulk copy, connected each time from a buffer",
}


class ActiveMessages(Panel[Facts]):
    title = "Active messages"
    how_to_read = (
        "Each line is one way to carry a payload, as a multiple of the time of the standard way in "
        "the same launch: two transfers without a copy for medium messages, stores by the program "
        "for long ones; where the line of bulk copies falls below 1×, they pay off."
    )
    order = 32
    patterns = (MEDIUM, LONG)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        ratios = way_ratios(facts).filter(pl.col("pattern").is_in([MEDIUM, LONG]))
        if ratios.is_empty():
            return None
        by = ["series", "pattern", "way", "bytes"]
        points = common.thin(with_intervals(ratios.sort(by), by), ["series", "pattern", "way"])
        rows = [
            ratio_row(row, KINDS[row["pattern"], row["way"]])
            for row in points.iter_rows(named=True)
        ]
        return ratio_chart(
            rows,
            series_names(facts),
            kind_title="way",
            standard="the standard way",
            series_title="transport",
            order=list(KINDS.values()),
            outliers=False,
        )


class Windows(Panel[Facts]):
    title = "One-sided accesses"
    how_to_read = (
        "Each line is one way to synchronise an access to an MPI window, or one kind of window, "
        "as a multiple of the time of an access to allocated memory that ends with a flush in the "
        "same launch: a fence or a lock far above 1× costs more than the data it protects."
    )
    order = 33
    patterns = WINDOWS.patterns

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        return ways_chart(facts, WINDOWS, window_name, "an access with a flush")


class Layouts(Panel[Facts]):
    title = "Non-contiguous data"
    how_to_read = (
        "Each line is one layout of the data and one way to send it, as a multiple of the time "
        "of contiguous data of the same size in the same launch: where packing by hand "
        "lies below the data type, the library's own packing is slow."
    )
    order = 34
    patterns = LAYOUTS.patterns

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        return ways_chart(facts, LAYOUTS, layout_name, "contiguous data")


class Threads(Panel[Facts]):
    title = "Several threads of each rank"
    how_to_read = (
        "Each line is a number of threads that send at the same time, through one communicator or "
        "one for each, as a multiple of the time that one thread takes in the same launch: at 1× "
        "threads do not disturb each other, and at the number of threads they are serialised."
    )
    order = 35
    patterns = THREADS.patterns

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        return ways_chart(facts, THREADS, threads_name, "one thread")


class SegmentLife(Panel[Facts]):
    title = "The life of a segment"
    how_to_read = (
        "One bar is the whole life of a segment of remote memory: setup (create, "
        "register, publish, connect, map), one transfer of all its bytes each way, and teardown: "
        "where setup and teardown fill most of the bar, segments should be kept and used again."
    )
    order = 36
    patterns = (memory.SEGMENT_PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = memory.step_times(facts)
        if points.is_empty():
            return None
        sizes = [format_size(size) for size in sorted(set(points["bytes"]))]
        rows = [
            {
                **common.pick(row, "series", "part", "step", "place"),
                **texts(row, size="bytes", percent="share", time="time_s"),
                "share": common.digits(row["share"], 4),
            }
            for row in points.iter_rows(named=True)
        ]
        names = sorted({row["series"] for row in rows})
        color = alt.Color("part:N", title=None, scale=alt.Scale(domain=list(memory.SEGMENT_PARTS)))
        x = alt.X("size:N", sort=sizes, title="segment size")
        y = common.share_axis("share", "share of a segment's life")
        tooltip = common.tooltip(rows, "step", time="takes", percent="share", size="segment")
        bars = (
            alt.Chart()
            .mark_bar(stroke="white", strokeWidth=0.5)
            .encode(x=x, y=y, color=color, order=alt.Order("place:Q"), tooltip=tooltip)
        )
        return common.facets(alt.layer(bars, data=common.data_of(rows)), rows, names)

"""Panels on memory: rates by cores, and the life of a segment."""

import altair as alt
import polars as pl

from nhalf.base.units import format_size
from nhalf.facts import memory
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.charts.curves import count_axis, lines
from nhalf.present.panels import Panel
from nhalf.present.wording import interval_of, texts, way_name


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


class Memory(Panel[Facts]):
    title = "Memory bandwidth"
    how_to_read = (
        "Bytes per second that all processes or threads together read and write, counted as STREAM "
        "does: a line that rises with the cores has bandwidth to spare, and an access to shared "
        "arrays below ordinary ones spends its time on address computation."
    )
    order = 72
    patterns = memory.PATTERNS

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = memory.rates(facts)
        if points.is_empty():
            return None
        order = points.with_columns(
            place=pl.col("way").replace_strict(list(memory.WAYS), list(range(len(memory.WAYS)))),
            # Words come before numbers.
            length=pl.when(block=memory.EVEN)
            .then(0)
            .otherwise(pl.col("block").cast(pl.Int64, strict=False)),
        )
        rows = [
            {
                **common.pick(row, "series", "kernel", "ranks", "cores"),
                **texts(row, words="rate_Bps", size="bytes"),
                "kind": way_name(row["way"], row["block"]),
                "rate": common.digits(row["rate_Bps"]),
                "interval": interval_of(row),
            }
            for row in order.sort("place", "length", "series", "cores").iter_rows(named=True)
        ]
        titles = {"series": "on", "kind": "access", "ranks": "ranks", "words": "rate of all"}
        titles |= {"size": "each array", "interval": "95 % interval of the time"}
        return lines(
            rows,
            (
                count_axis(rows, "cores", "cores", doubling=True),
                common.log_axis("rate", "rate of all cores", rows, common.RATE_LABEL),
            ),
            facets=("series", sorted({row["series"] for row in rows})),
            tooltip=common.tooltip(rows, **titles),
            choice=("kernel", "Kernel"),
        )

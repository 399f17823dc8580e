"""Panels on algorithms of collective operations, and on the work between barriers."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.algorithms import PATTERN, algorithm_name, best_parts, loops, root_medians
from nhalf.facts.collectives import algorithms
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.charts import common
from nhalf.present.charts.curves import lines, some_sizes
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import Cell

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
        return lines(
            rows,
            axes=(
                common.size_axis(),
                common.log_axis("median", "completion time", rows, common.TIME_LABEL),
            ),
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

"""From a loop's lower bound to its measured time, rung by rung."""

from typing import Any

import polars as pl

from nhalf.base.rows import Row
from nhalf.loops.climb import Climb
from nhalf.loops.livermore.titles import PATTERN, TITLES
from nhalf.node.reading import subject_of
from nhalf.results import Column, Result, cycles_text
from nhalf.store.keys import parse_axes


class Ladder(Result):
    """One row per kernel and build, with the cause of each gap and what helps."""

    title = "Ladder"
    patterns = frozenset({PATTERN})
    parts = frozenset({PATTERN})
    columns = (
        Column("kernel", "kernel"),
        Column("build", "build"),
        Column("ma_cycles", "MA", cycles_text),
        Column("mac_cycles", "MAC", cycles_text),
        Column("macs_cycles", "MACS", cycles_text),
        Column("cycles", "measured", cycles_text),
        Column("cause", "largest gap"),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Cycles per iteration on each rung; null if unknown."""
        columns = ["run", "axes", "values"]
        points = measurements.filter(pl.col("pattern") == PATTERN).select(columns).collect()
        rows = [_row(point) for point in points.iter_rows(named=True)]
        return sorted(rows, key=lambda row: (row["run"], row["number"]))


def _row(point: dict[str, Any]) -> Row:
    axes = parse_axes(point["axes"])
    climb = Climb.of_values({value["name"]: value["value"] for value in point["values"]})
    number = int(axes["kernel"])
    tuned = " tuned" if axes.get("tuned") else ""
    gaps = climb.gaps()
    largest = max(gaps, key=lambda gap: gap.ratio, default=None)
    return {
        **subject_of(point["run"]),
        "number": number,
        "kernel": f"{number} {TITLES[number - 1]}",
        "build": f"{axes['compiler']} -{axes['level'].replace('-', ' ')}{tuned}",
        "is_tuned": bool(tuned),
        "ma_cycles": climb.essential_cycles,
        "mac_cycles": climb.emitted_cycles,
        "macs_cycles": climb.scheduled_cycles,
        "cycles": climb.measured_cycles,
        "share": climb.share,
        "cause": largest.cause if largest else None,
        "remedy": largest.remedy if largest else None,
        "gaps": [f"{gap.rungs}: {gap}" for gap in gaps],
    }

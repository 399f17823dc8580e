"""Bandwidth at each level of a node's memory hierarchy, by kernel and number of cores."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import polars as pl

from nhalf.base.numbers import percent, share_span
from nhalf.base.rows import Row
from nhalf.base.units import format_rate
from nhalf.node.bandwidth import (
    ARRAYS,
    CALM_SHARE,
    KERNELS,
    MEMORY,
    STREAMING,
    STREAMING_AXES,
    TRANSPORT,
    WAITED,
    level_name,
    level_of,
)
from nhalf.node.levels import SHARED_PLACE
from nhalf.node.plateaus import Plateau, curve, terraces, undisturbed
from nhalf.node.reading import CHASE, readings
from nhalf.results import Column, Result
from nhalf.statistics.intervals import launch_interval
from nhalf.statistics.summary import launch_medians

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

POINT = ("run", "pattern", "ranks", "bytes", "axes")
NEAR = 0.01
"""Shares that differ by less are written once."""


class Stream(Result):
    """One row per level and number of cores, with the rate of each kernel."""

    title = "Bandwidth of levels"
    patterns = frozenset({CHASE})
    columns = (
        Column("level", "level"),
        *(Column(f"{kernel}_Bps", kernel, format_rate) for kernel in KERNELS),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Bytes per second with intervals, counted as STREAM does; all cores together.

        An interval is that over the launches of the point itself: rates of other levels say
        nothing about it.

        `marks` says by kernel why a rate is doubtful, `waited` for which share of the time others
        had the cores.
        """
        flat_by_run = {
            run: terraces(undisturbed(curve(run_readings)))
            for run, run_readings in readings(measurements).items()
        }
        medians = launch_medians(_of_threads(measurements))
        by_point = medians.group_by(*POINT).agg("median_s")
        points = _of_threads(summary).filter(pl.col("median_s") > 0).drop("median_s")
        points = points.join(by_point, on=POINT)
        rows: dict[tuple[object, ...], Row] = {}
        for point in points.sort("ranks", "bytes", "axes").iter_rows(named=True):
            level = _level(point, flat_by_run.get(point["run"], []))
            key = (point["run"], level, point["ranks"])
            subject = {name: point[name] for name in ("run", "transport", "mpi", "ranks")}
            row = rows.setdefault(
                key,
                {
                    **subject,
                    "placement": point["placement"],
                    "level": level,
                    "marks": {},
                    "waited": {},
                },
            )
            _add(row, point)
        for run in flat_by_run:
            of_run = [row for row in rows.values() if row["run"] == run]
            _mark_slower(of_run)
            for row in of_run:
                row["doubts"] = [*_sentences(row), *_without_shared(row, of_run)]
        return list(rows.values())


def _of_threads(frame: Frame) -> Frame:
    """The points of STREAM that `nhalf node` measures."""
    return frame.filter(
        pl.col("transport") == TRANSPORT,
        pl.col("pattern").is_in([f"memory-{kernel}" for kernel in KERNELS]),
        pl.col("axes").is_in(["", STREAMING_AXES]),
    )


def _level(point: Row, flat: Sequence[Plateau]) -> str:
    return STREAMING if point["axes"] else level_of(flat, ARRAYS * point["bytes"] / point["ranks"])


def _add(row: Row, point: Row) -> None:
    """Add the rate of a kernel to a row, and a mark if others had the cores meanwhile."""
    kernel = point["pattern"].removeprefix("memory-")
    moved_bytes = point["bytes_per_time"]
    time = launch_interval(point["median_s"])
    row[f"{kernel}_Bps"] = moved_bytes / time.median
    if len(point["median_s"]) > 1 and time.low > 0:
        row[f"{kernel}_Bps_ci"] = [moved_bytes / time.high, moved_bytes / time.low]
    waited = {value["name"]: value["value"] for value in point["values"]}.get(WAITED) or 0.0
    if waited > CALM_SHARE:
        row["marks"][kernel] = f"other programs had the cores for {percent(waited)} of the time"
        row["waited"][kernel] = waited


def _mark_slower(rows: Iterable[Row]) -> None:
    """Mark rates of many cores below those of fewer, where the intervals do not tell them apart."""
    rows = sorted(rows, key=lambda row: row["ranks"])
    for place, row in enumerate(rows):
        for kernel in KERNELS:
            name = f"{kernel}_Bps"
            fewer = [
                earlier
                for earlier in rows[:place]
                if earlier["level"] == row["level"]
                and earlier["ranks"] < row["ranks"]
                and (earlier.get(name) or 0.0) > (row.get(name) or float("inf"))
            ]
            overlapping = [earlier for earlier in fewer if _overlap(row, earlier, name)]
            if overlapping and kernel not in row["marks"]:
                row["marks"][kernel] = (
                    f"no measurable difference from {_cores(overlapping[0]['ranks'])}"
                )


def _overlap(row: Row, earlier: Row, name: str) -> bool:
    """Whether the intervals of two rates have something in common; unknown ones may."""
    intervals: list[Any] = [row.get(f"{name}_ci"), earlier.get(f"{name}_ci")]
    if None in intervals:
        return True
    return bool(max(low for low, _ in intervals) <= min(high for _, high in intervals))


def _sentences(row: Row) -> list[str]:
    """The marks of a row, those of one kind together."""
    start = f"{row['level']} on {_cores(row['ranks'])}"
    waited: dict[str, float] = row["waited"]
    kernels_by_reason: dict[str, list[str]] = {}
    for kernel, reason in row["marks"].items():
        if kernel not in waited:
            kernels_by_reason.setdefault(reason, []).append(kernel)
    sentences = [
        f"{start}: {', '.join(kernels)}: {reason}" for reason, kernels in kernels_by_reason.items()
    ]
    if waited:
        ends = min(waited.values()), max(waited.values())
        shares = percent(ends[0]) if ends[1] - ends[0] < NEAR else share_span(*ends)
        sentences.append(f"{start}: other programs had the cores for {shares} of the time")
    return sentences


def _cores(count: int) -> str:
    return f"{count} core{'s' if count > 1 else ''}"


def _without_shared(row: Row, rows: Sequence[Row]) -> list[str]:
    """Why there is no rate of the shared level with the cores of the row that names memory."""
    name = level_name(SHARED_PLACE)
    measured = [earlier["ranks"] for earlier in rows if earlier["level"] == name]
    if row["level"] != MEMORY or not measured or row["ranks"] in measured:
        return []
    return [
        f"{name} on {_cores(row['ranks'])}: not measured, since arrays that miss level 2 would not "
        "fit together into what one core has of the shared level"
    ]

"""Puts of less than a cache line beside those of a whole one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from nhalf.facts.difference import COSTLY, beyond, chosen_ratios, middles
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, launch_interval
from nhalf.store.keys import RUN_CURVE

LINE_BYTES = 64
"""A cache line, and the least that an adapter such as Sun Fire Link writes at once."""
PUTS = (
    *("put", "put-stream", "put-pingpong", "put-signal", "put-watched"),
    *("mapped-pingpong", "rma-put", "rma-put-all"),
)


@dataclass(frozen=True)
class PartialLine:
    """The size below a line that costs most, and its time over that of a whole line."""

    series: str
    mpi: str
    pattern: str
    axes: str
    size_bytes: int
    partial: Interval
    line: Interval
    ratio: Interval


@fact
def partial_lines(facts: Facts) -> list[PartialLine]:
    """Curves of puts where less than a line is dearer than a whole one, the worst first."""
    puts = facts.launches.filter(
        pl.col("pattern").is_in(PUTS),
        pl.col("bytes").is_between(1, LINE_BYTES),
        pl.col("median_s") > 0,
    )
    dearer = list(_dearer(with_series(puts, facts)))
    return sorted(dearer, key=lambda case: -case.ratio.median)


def _dearer(puts: pl.DataFrame) -> Iterator[PartialLine]:
    for _, frame in puts.group_by(RUN_CURVE, maintain_order=True):
        partial = middles(frame.filter(pl.col("bytes") < LINE_BYTES), "bytes")
        if not partial:
            continue
        ratio = beyond(chosen_ratios(frame, "bytes", _ends), COSTLY)
        if ratio is None:
            continue
        size_bytes = list(partial)[-1]
        subject = frame.row(0, named=True)
        yield PartialLine(
            series=subject["series"],
            mpi=subject["mpi"],
            pattern=subject["pattern"],
            axes=subject["axes"],
            size_bytes=size_bytes,
            partial=_time(frame, size_bytes),
            line=_time(frame, LINE_BYTES),
            ratio=ratio,
        )


def _ends(times_s: Mapping[int, float]) -> tuple[int, int]:
    """The size below a line that takes longest, and the line."""
    below = [size for size in times_s if size < LINE_BYTES]
    return (below[-1] if below else LINE_BYTES), LINE_BYTES


def _time(frame: pl.DataFrame, size_bytes: int) -> Interval:
    return launch_interval(frame.filter(bytes=size_bytes)["median_s"].to_numpy())

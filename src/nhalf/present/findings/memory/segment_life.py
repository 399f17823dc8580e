# SPDX-License-Identifier: Apache-2.0
"""The cost of setting up remote memory in transfers, which shows when keeping it pays off."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.memory import SEGMENT_PATTERN, part_times, step_times
from nhalf.present.findings import Finder, Finding


class SegmentLife(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        parts = part_times(facts)
        for (series,), lives in parts.group_by("series", maintain_order=True):
            largest = lives.filter(pl.col("bytes") == pl.col("bytes").max())
            shares = dict(largest.select("part", "share").iter_rows())
            if len(shares) == len(set(parts["part"])) > 1:
                yield _finding(str(series), largest, shares, facts)


def _finding(series: str, life: pl.DataFrame, shares: dict[str, float], facts: Facts) -> Finding:
    size_bytes = life["bytes"][0]
    times_s = dict(life.select("part", "time_s").iter_rows())
    steps = step_times(facts).filter(series=series, bytes=size_bytes)
    costliest = steps.sort("time_s").row(-1, named=True)
    overhead_share = shares.get("setup", 0.0) + shares.get("teardown", 0.0)
    parts = ", ".join(f"{part} {format_time(time_s)}" for part, time_s in times_s.items())
    return Finding(
        f"{series}: of the life of a segment of {format_size(size_bytes)} ({parts}), "
        f"{percent(overhead_share)} is setup and teardown; {costliest['step']} costs most "
        f"({format_time(costliest['time_s'])}).",
        importance=40,
        kind="segment-life",
        label="Setup and teardown of a segment",
        value=overhead_share,
        pattern=SEGMENT_PATTERN,
        size_bytes=size_bytes,
    )

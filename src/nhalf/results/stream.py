# SPDX-License-Identifier: Apache-2.0
"""Bandwidth at each level of a node's memory hierarchy, by kernel and number of cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate
from nhalf.node.bandwidth import ARRAYS, KERNELS, MEMORY, STREAMING, STREAMING_AXES, TRANSPORT
from nhalf.node.plateaus import curve, plateaus
from nhalf.node.reading import CHASE, readings
from nhalf.results import Column, Result


class Stream(Result):
    """One row per level and number of cores, with the rate of each kernel."""

    title: ClassVar[str] = "Bandwidth of levels"
    patterns: ClassVar[frozenset[str]] = frozenset({CHASE})
    columns: ClassVar[Sequence[Column]] = (
        Column("level", "level"),
        *(Column(f"{kernel}_Bps", kernel, format_rate) for kernel in KERNELS),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Bytes per second, counted as STREAM does; all cores together."""
        flat = {
            run: plateaus(curve(run_readings))
            for run, run_readings in readings(measurements).items()
        }
        points = summary.filter(
            pl.col("transport") == TRANSPORT,
            pl.col("pattern").is_in([f"memory-{kernel}" for kernel in KERNELS]),
            pl.col("median_s") > 0,
            pl.col("axes").is_in(["", STREAMING_AXES]),
        )
        rows: dict[tuple[object, ...], Row] = {}
        for point in points.sort("ranks", "bytes").iter_rows(named=True):
            each_bytes = ARRAYS * point["bytes"] / point["ranks"]
            own = flat.get(point["run"], [])[:2]
            near = (f"L{n}" for n, plateau in enumerate(own, 1) if each_bytes <= plateau.last_bytes)
            level = STREAMING if point["axes"] else next(near, MEMORY)
            key = (point["run"], level, point["ranks"])
            subject = {name: point[name] for name in ("run", "transport", "mpi", "ranks")}
            row = rows.setdefault(
                key,
                {**subject, "placement": point["placement"], "level": level},
            )
            kernel = point["pattern"].removeprefix("memory-")
            row[f"{kernel}_Bps"] = point["bytes_per_time"] / point["median_s"]
        return list(rows.values())

"""The effective bandwidth, with the columns used to compare machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.results import Column, Result
from nhalf.results.b_eff.average import PATTERN, b_eff, pingpong


class EffectiveBandwidth(Result):
    """One row per library, ranks and placement."""

    title: ClassVar[str] = "b_eff"
    patterns: ClassVar[frozenset[str]] = frozenset({PATTERN})
    parts: ClassVar[frozenset[str]] = patterns
    columns: ClassVar[Sequence[Column]] = (
        Column("b_eff_Bps", "b_eff", format_rate),
        Column("b_eff_per_process_Bps", "per process", format_rate, with_interval=False),
        Column("longest_bytes", "L_max", format_size),
        Column("at_longest_Bps", "at L_max", format_rate),
        Column("rings_at_longest_Bps", "rings at L_max", format_rate, with_interval=False),
        Column("pingpong_bandwidth_Bps", "ping-pong", format_rate, with_interval=False),
        Column("pingpong_latency_s", "latency", format_time, with_interval=False),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per subject, with the members from results/b_eff/average.py."""
        return [row | pingpong(summary, row) for row in b_eff(measurements)]

    def line(self, row: Row) -> str:
        """The number, its value per process, and random orders as a share of rings."""
        if row["missing"]:
            return f"no {self.title}: {row['missing']}"
        whole, part = (column.cell(row) for column in self.columns[:2])
        share = percent(row["random_ratio"])
        figures = f"{whole}, {part} per process; random orders reach {share} of rings"
        if row.get("subset"):
            return f"{self.title} is about {figures}; an estimate, since {row['subset']}"
        return f"{self.title} {figures}"

"""The accepted share of an offered load, and the load from which it falls below 100 %."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from nhalf.base.numbers import percent, share_span
from nhalf.base.rows import Row
from nhalf.base.units import format_rate
from nhalf.results import Column, Result
from nhalf.results.traffic.accepted import PATTERN, rule_name, setting_name, traffic


def _percent(load_percent: float) -> str:
    return percent(load_percent / 100)


def percent_of(share: float) -> str:
    """Write a share of 1 as a percentage."""
    return percent(share)


def _parts(row: Row) -> str:
    """' (on-node 1.2 GB/s, off-node 3 GB/s)' if the traffic has both parts."""
    share = row.get("on_node_share")
    if share is None or not 0 < share < 1:
        return ""
    parts = (format_rate(part * row["saturated_Bps"]) for part in (share, 1 - share))
    return " (on-node {}, off-node {})".format(*parts)


class Traffic(Result):
    """One row per library, ranks, placement, destination rule, size and laws."""

    title: ClassVar[str] = "Traffic"
    patterns: ClassVar[frozenset[str]] = frozenset({PATTERN})
    parts: ClassVar[frozenset[str]] = patterns
    columns: ClassVar[Sequence[Column]] = (
        Column("rule", "to"),
        Column("setting", "mean size"),
        Column("senders", "senders"),
        Column("saturated_Bps", "without pauses", format_rate),
        Column("on_node_share", "on-node", percent_of),
        Column("saturation_percent", "saturated from", _percent),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per curve over loads: the members from accepted.py, and two names."""
        return [
            {**row, "rule": rule_name(row), "setting": setting_name(row)}
            for row in traffic(measurements)
        ]

    def line(self, row: Row) -> str:
        """The throughput, and the load from which not all of it is accepted."""
        rule, setting, _, saturated, *_ = (column.cell(row) for column in self.columns)
        destinations = "to uniform ranks" if row["rule"] == "uniform" else f"by {rule}"
        summary = f"{self.title} {destinations}, {setting}: {saturated} without pauses{_parts(row)}"
        if row["missing"]:
            return f"{summary}; {row['missing']}"
        point = _percent(row["saturation_percent"])
        if row["saturation_percent"] <= min(load["load_percent"] for load in row["loads"]):
            return f"{summary}, not all of it is accepted even at {point}"
        low, high = row.get("saturation_percent_ci", (None, None))
        interval = "" if low is None else f" (interval {share_span(low / 100, high / 100)})"
        return f"{summary}, accepted up to {point} of that{interval}"

"""The parameters of the LogP family, with their limitations."""

from dataclasses import fields
from typing import Any

import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_time
from nhalf.results import Column, Result
from nhalf.results.logp.parameters import each_logp
from nhalf.results.logp.times import PATTERNS, LogP, Size
from nhalf.statistics.intervals import Interval
from nhalf.statistics.summary import stated_visits


def _as_rate(gap_per_byte_s: float) -> str:
    """Seconds per byte, shown as the familiar rate."""
    return format_rate(1 / gap_per_byte_s) if gap_per_byte_s > 0 else "–"


class LogPResult(Result):
    """One row per library, ranks and placement; the columns are those at 1 byte."""

    title = "LogP"
    patterns = PATTERNS
    columns = (
        Column("half_round_trip_s", "RTT/2", format_time),
        Column("latency_s", "L", format_time),
        Column("send_overhead_s", "o_s", format_time),
        Column("recv_overhead_s", "o_r", format_time),
        Column("gap_s", "g", format_time),
        Column("gap_per_byte_s", "1/G", _as_rate),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per subject: parameters in seconds, `sizes`, `identifiable`, `doubts`."""
        stated = stated_visits(measurements)
        return [{**subject, **as_row(parameters)} for subject, parameters in each_logp(stated)]

    def line(self, row: Row) -> str:
        """The known parameters, and whether L is one of them."""
        parameters = ", ".join(
            f"{column.title} {column.cell(row)}"
            for column in self.columns
            if row[column.name] is not None
        )
        if not parameters:
            return super().line(row)
        unsure = "L is indistinguishable from 0" if row["identifiable"] is False else ""
        return "; ".join(filter(None, [f"{self.title} {parameters}", unsure, row["missing"]]))


def as_row(parameters: LogP) -> Row:
    """The members of a row: every interval as NAME and NAME_ci, null with only one launch.

    Times are seconds, `busy_share` is a share of 1.
    """
    has_intervals = parameters.launches > 1
    return {
        **_members(parameters, has_intervals),
        "sizes": [{"bytes": s.size_bytes, **_members(s, has_intervals)} for s in parameters.sizes],
        "doubts": list(parameters.doubts),
    }


def _members(item: LogP | Size, several: bool) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name in (part.name for part in fields(item) if part.name != "size_bytes"):
        value = getattr(item, name)
        if isinstance(value, Interval):
            members[name] = value.median
            members[f"{name}_ci"] = [value.low, value.high] if several else None
        else:
            members[name] = value
    return members

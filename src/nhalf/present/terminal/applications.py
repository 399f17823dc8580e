# SPDX-License-Identifier: Apache-2.0
"""The table of an application's kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nhalf.base.units import format_time
from nhalf.present.terminal.tables import show_table

COLUMNS = (
    *("kernel", "class", "program", "ranks", "time", "95 % interval", "Mop/s", "speed-up"),
    *("efficiency", "communication", "verified"),
)


def show_applications(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line for every kernel, class, program and number of ranks."""
    show_table(COLUMNS, [_cells(row) for row in rows])


def _cells(row: Mapping[str, Any]) -> list[str]:
    where = row["mpi"] or row["program"]
    shape = f"{row['threads']} threads" if row["threads"] > 1 else str(row["ranks"])
    known = row["ci_low_s"] is not None and row["ci_low_s"] == row["ci_low_s"]
    interval = f"{format_time(row['ci_low_s'])} to {format_time(row['ci_high_s'])}" if known else ""
    return [
        row["kernel"],
        row["class"],
        where,
        shape if row["placement"] in ("cores", "free") else f"{shape} ({row['placement']})",
        format_time(row["time_s"]) if row["time_s"] else "–",
        interval or "–",
        _number(row["mops"], "{:.1f}"),
        _number(row["speedup"], "{:.2f}"),
        _number(row["efficiency"], "{:.0%}"),
        _number(row["communication_share"], "{:.0%}"),
        _verdict(row),
    ]


def _verdict(row: Mapping[str, Any]) -> str:
    deviation = _number(row["deviation"], "{:.1g}")
    return f"deviation {deviation}" if row["verified"] else f"NOT VERIFIED, deviation {deviation}"


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)

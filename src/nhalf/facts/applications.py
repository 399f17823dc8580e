# SPDX-License-Identifier: Apache-2.0
"""Runs of applications: rate, speed-up, efficiency, share of communication and verification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nhalf.base.rows import Row
from nhalf.store.axes import parse_axes

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts

THREADED = ("openmp", "java")
"""Programs whose ranks are threads of one process."""
CLASS = "class"
KEPT = ("run", "mpi", "placement", "ci_low_s", "ci_high_s", "launches", "verified")
NUMBERS = ("mops", "communication_share", "deviation", "computed", "official")
CURVE = ("run", "app", "kernel", CLASS, "program", "mpi")
"""Rows that differ in ranks and placement only."""


def applications(facts: Facts) -> list[Row]:
    """A row for every kernel, class, program, library, number of ranks and placement.

    Times are seconds, with the ends of the 95 % interval. `speedup` is against the smallest number
    of ranks or threads, taken as that many times as fast as one; `efficiency` is the speed-up per
    rank. `computed` and `official` are the number of the verification that deviates most.
    """
    rows = [
        _row(point)
        for point in facts.summary.iter_rows(named=True)
        if is_application(point["transport"], point["axes"])
    ]
    rows.sort(key=lambda row: (*(str(row[name]) for name in CURVE), row["ranks"] * row["threads"]))
    first: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        first.setdefault(tuple(row[name] for name in CURVE), row)
    for row in rows:
        _add_speedup(row, first[tuple(row[name] for name in CURVE)])
    return rows


def is_application(transport: str, axes: str) -> bool:
    """Whether a point is the run of an application: a program's, with a class."""
    return "-" in transport and f"{CLASS}=" in axes


def _row(point: Mapping[str, Any]) -> Row:
    app, _, kernel = point["pattern"].partition("-")
    program = point["transport"].removeprefix(f"{app}-")
    values = {item["name"]: item["value"] for item in point["values"] or []}
    threads = point["ranks"] if program in THREADED else 1
    return {
        "app": app,
        "kernel": kernel,
        CLASS: parse_axes(point["axes"])[CLASS],
        "program": program,
        "ranks": point["ranks"] // threads,
        "threads": threads,
        "time_s": point["median_s"],
        **{name: point[name] for name in KEPT},
        **{name: values.get(name) for name in NUMBERS},
    }


def _add_speedup(row: Row, first: Row) -> None:
    """Against the smallest number of ranks or threads of the same curve."""
    begin, number = (one["ranks"] * one["threads"] for one in (first, row))
    known = row["time_s"] and first["time_s"]
    row["speedup"] = first["time_s"] / row["time_s"] * begin if known else None
    row["efficiency"] = row["speedup"] / number if known else None

"""What kept ranks from their processors while they did fixed work: how long, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any, ClassVar

import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.results import Column, Result
from nhalf.statistics.intervals import launch_interval
from nhalf.store.keys import RUN_SUBJECT

PATTERN = "interruptions"
LENGTHS = {
    "1us": "below 10 µs",
    "10us": "10 to 100 µs",
    "100us": "100 µs to 1 ms",
    "1ms": "1 to 10 ms",
    "10ms": "from 10 ms",
}
"""The classes of native/timing/interruptions.hpp, by the names in its values."""


class Interruptions(Result):
    """One row per length of interruption, shortest first: a spectrum of the noise."""

    title: ClassVar[str] = "Interruptions of rank 0"
    patterns: ClassVar[frozenset[str]] = frozenset({PATTERN})
    parts: ClassVar[frozenset[str]] = frozenset({PATTERN})
    columns: ClassVar[Sequence[Column]] = (
        Column("lengths", "lengths"),
        Column("length_s", "median", format_time),
        Column("apart_s", "every", format_time),
        Column("share", "of the time", lambda share: percent(share, 1)),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Medians over visits of length and distance (null: one alone), and the share they take.

        The share is the pseudomedian of all launches, with its interval.
        """
        points = measurements.filter(pl.col("pattern") == PATTERN, "verified")
        visits = points.select(*RUN_SUBJECT, "launch", "values").collect()
        rows: list[Row] = []
        for key, group in visits.group_by(RUN_SUBJECT, maintain_order=True):
            launches: dict[int, list[dict[str, float]]] = {}
            for visit in group.iter_rows(named=True):
                values = {each["name"]: each["value"] for each in visit["values"]}
                if values.get("watched_s", 0) > 0:
                    launches.setdefault(visit["launch"], []).append(values)
            subject = dict(zip(RUN_SUBJECT, key, strict=True))
            rows += [subject | row for row in _spectrum(list(launches.values()))]
        return rows


def _spectrum(launches: Sequence[Sequence[dict[str, float]]]) -> list[Row]:
    """A row for each length that came, of the values of every visit by launch."""
    rows = []
    for name, words in LENGTHS.items():
        visits = [values for launch in launches for values in launch]
        lengths_s = [v[f"length_{name}_s"] for v in visits if f"length_{name}_s" in v]
        if not lengths_s:
            continue
        apart_s = [v[f"apart_{name}_s"] for v in visits if f"apart_{name}_s" in v]
        shares = [fmean(_share(values, name) for values in launch) for launch in launches]
        row: dict[str, Any] = {
            "lengths": words,
            "length_s": median(lengths_s),
            "apart_s": median(apart_s) if apart_s else None,
            "share": (interval := launch_interval(shares)).median,
        }
        if len(shares) > 1:
            row["share_ci"] = [interval.low, interval.high]
        rows.append(row)
    return rows


def _share(values: dict[str, float], name: str) -> float:
    """What interruptions of a length take of the time that was watched."""
    count, length_s = values.get(f"count_{name}", 0.0), values.get(f"length_{name}_s", 0.0)
    return count * length_s / values["watched_s"]

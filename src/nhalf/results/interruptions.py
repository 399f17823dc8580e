"""What kept ranks from their processors while they did fixed work: how long, and how often."""

from collections.abc import Sequence
from statistics import fmean, median

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
RARE = "in few launches"


class Interruptions(Result):
    """One row per length of interruption, shortest first: a spectrum of the noise."""

    title = "Interruptions of rank 0"
    patterns = frozenset({PATTERN})
    parts = frozenset({PATTERN})
    columns = (
        Column("lengths", "lengths"),
        Column("length_s", "median", format_time),
        Column("apart_s", "every", format_time),
        Column("share", "of the time", lambda share: percent(share, 1) if share else RARE),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Median length of all visits, the time in which one comes, and the share that they take.

        The share is the pseudomedian of all launches, with its interval.
        """
        points = measurements.filter(pl.col("pattern") == PATTERN, "verified")
        visits = points.select(*RUN_SUBJECT, "launch", "values").collect()
        rows: list[Row] = []
        for key, group in visits.group_by(RUN_SUBJECT, maintain_order=True):
            launches: dict[int, list[dict[str, float]]] = {}
            for visit in group.iter_rows(named=True):
                values = {item["name"]: item["value"] for item in visit["values"]}
                if values.get("watched_s", 0) > 0:
                    launches.setdefault(visit["launch"], []).append(values)
            subject = dict(zip(RUN_SUBJECT, key, strict=True))
            rows += [subject | row for row in _spectrum(list(launches.values()))]
        return rows


def _spectrum(launches: Sequence[Sequence[dict[str, float]]]) -> list[Row]:
    """A row for each length that came, of the values of every visit by launch."""
    visits = [values for launch in launches for values in launch]
    rows = []
    for name, words in LENGTHS.items():
        came = [values for values in visits if f"count_{name}" in values]
        if not came:
            continue
        lost = f"lost_{name}_s"
        shares = [fmean(v.get(lost, 0.0) / v["watched_s"] for v in launch) for launch in launches]
        interval = launch_interval(shares)
        row: Row = {
            "lengths": words,
            "length_s": median(values[f"length_{name}_s"] for values in came),
            "apart_s": sum(values["watched_s"] for values in visits)
            / sum(values[f"count_{name}"] for values in came),
            "share": interval.median,
        }
        if len(shares) > 1:
            row["share_ci"] = [interval.low, interval.high]
        rows.append(row)
    return rows

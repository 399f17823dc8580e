"""Two-sided messages beside puts with their signal, of each layer that has both."""

import math
from typing import Any

import polars as pl

from nhalf.base.numbers import times
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.results import Column, Result
from nhalf.store.keys import RUN_SUBJECT

TWO_SIDED = "pingpong"
ONE_SIDED = {"put_signal": "put-signal", "put_then_signal": "put-pingpong"}
"""Members of a row, and the patterns whose times they are: all are of one way."""
Carried = tuple[str, str, str]
"""Transport, library ('' for none) and pattern."""
MESSAGES_OF = {"rma": "mpi", "shm": "shmq"}
"""The transport with the messages of a layer whose puts are another's."""


class OneSided(Result):
    """One row per layer and size: UCX, libfabric, active messages, shared memory, MPI's windows."""

    title = "Messages and puts"
    patterns = frozenset(ONE_SIDED.values())
    columns = (
        Column("bytes", "size", format_size),
        Column("messages", "messages of"),
        Column("two_sided_s", "send, receive", format_time),
        Column("put_signal_s", "put with signal", format_time),
        Column("put_then_signal_s", "put, then signal", format_time),
        Column("ratio", "put over message", times),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Seconds one way with their intervals; the ratio is of the faster put.

        Its interval has a probability of 95 % at least: it divides the ends of both times.
        """
        points = summary.filter(
            pl.col("pattern").is_in([TWO_SIDED, *ONE_SIDED.values()]),
            (pl.col("axes") == "") & pl.col("median_s").is_finite() & (pl.col("median_s") > 0),
        )
        by_place: dict[tuple[Any, ...], dict[Carried, Row]] = {}
        for point in points.iter_rows(named=True):
            place = tuple(point[name] for name in ("run", "ranks", "placement", "bytes"))
            carried = point["transport"], point["mpi"] or "", point["pattern"]
            by_place.setdefault(place, {})[carried] = point
        rows = [row for place in by_place.values() for row in _rows(place)]
        order = ("run", "transport", "mpi", "ranks", "placement", "bytes")
        return sorted(rows, key=lambda row: [row[name] or "" for name in order])


def _rows(points: dict[Carried, Row]) -> list[Row]:
    """A row for each layer with a put between the same ranks as its messages."""
    rows = []
    for transport, mpi in dict.fromkeys(carried[:2] for carried in points):
        messages = MESSAGES_OF.get(transport.partition("+")[0], transport)
        two_sided = points.get((messages, mpi, TWO_SIDED))
        puts = {
            name: points[transport, mpi, pattern]
            for name, pattern in ONE_SIDED.items()
            if (transport, mpi, pattern) in points
        }
        if two_sided is None or not puts:
            continue
        fastest = min(puts.values(), key=lambda point: point["median_s"])
        row: Row = {
            **{name: fastest[name] for name in RUN_SUBJECT},
            "bytes": fastest["bytes"],
            "messages": messages,
            **{f"{name}_s": None for name in ONE_SIDED},
        }
        for name, point in {"two_sided": two_sided, **puts}.items():
            row[f"{name}_s"] = point["median_s"]
            if (interval := _interval(point)) is not None:
                row[f"{name}_s_ci"] = interval
        row["ratio"] = fastest["median_s"] / two_sided["median_s"]
        ends = _interval(fastest), _interval(two_sided)
        if ends[0] is not None and ends[1] is not None and ends[1][0] > 0:
            row["ratio_ci"] = [ends[0][0] / ends[1][1], ends[0][1] / ends[1][0]]
        rows.append(row)
    return rows


def _interval(point: Row) -> list[float] | None:
    """The interval of a time; None for that of one launch."""
    ends = [point["ci_low_s"], point["ci_high_s"]]
    return ends if point["launches"] > 1 and all(map(math.isfinite, ends)) else None

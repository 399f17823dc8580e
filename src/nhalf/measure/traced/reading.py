# SPDX-License-Identifier: Apache-2.0
"""From the files of one process to rows of the tables of a trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.measure.traced.clocks import Clock, agrees, clock_of
from nhalf.measure.traced.layout import REMEDY, ProcessFile, ThreadFile
from nhalf.measure.traced.members import Members
from nhalf.measure.traced.tables import BINS, CALLS, KINDS, TIMELINE


@dataclass(frozen=True)
class Process:
    """A process with its threads and its clock."""

    file: ProcessFile
    threads: list[ThreadFile]
    clock: Clock

    @classmethod
    def of(cls, file: ProcessFile, begin_ns: int) -> Process | None:
        """None if it counted nothing. Raises InputError for a file that cannot be read."""
        threads = list(file.threads())
        return cls(file, threads, clock_of(threads, begin_ns)) if threads else None

    @property
    def lost(self) -> int:
        """What did not fit, of all threads."""
        return int(np.bitwise_or.reduce([int(one.head["lost"]) for one in self.threads]))

    @property
    def timeline_lacks(self) -> int:
        """Calls that were kept and are no longer in a file."""
        return sum(one.timeline_lacks for one in self.threads)

    @property
    def start_s(self) -> float:
        """When its MPI_Init was called, or its first thread known to be there."""
        return min(float(self.clock.seconds(int(one.head["begin_ticks"]))) for one in self.threads)

    def ready_s(self, begin_ns: int) -> float:
        """When MPI_Init returned, which is when MPI_COMM_WORLD was noted."""
        start_s = self.start_s
        noted_ns = [one.made_ns for one in self.file.communicators if one.communicator == 0]
        ready_s = (noted_ns[0] - begin_ns) * 1e-9 if noted_ns else start_s
        return min(max(start_s, ready_s), self.end_s)

    @property
    def end_s(self) -> float:
        """When something was last known of it."""
        return max(float(self.clock.seconds(int(one.head["last_ticks"]))) for one in self.threads)

    def calls(self, members: Members) -> pl.DataFrame:
        """Rows of the table of calls."""
        return pl.concat(
            [pl.DataFrame(schema=CALLS)] + [self._calls(one, members) for one in self.threads]
        )

    def _calls(self, thread: ThreadFile, members: Members) -> pl.DataFrame:
        cells = thread.cells[thread.cells["count"] > 0]
        tick_s = self.clock.tick_s
        columns = {
            **self._subjects(thread.path, cells["call_and_kind"] >> 4, cells["call_and_kind"] & 15),
            "communicator": _numbered(self.file, members, cells["communicator"]),
            "partner": cells["partner"],
            "size_bytes": cells["size_bytes"],
            "count": cells["count"],
            "bytes": cells["bytes"],
            "time_s": cells["time"] * tick_s,
            "waiting_s": cells["waiting"] * tick_s,
            "min_s": cells["least"] * tick_s,
            "max_s": cells["most"] * tick_s,
        }
        return _frame(columns, self.file.rank, thread, CALLS)

    def bins(self, shift: int) -> pl.DataFrame:
        """Rows of the table over time, in spans of 2 to the power of `shift` ticks."""
        return pl.concat(
            [pl.DataFrame(schema=BINS)] + [self._bins(one, shift) for one in self.threads]
        )

    def _bins(self, thread: ThreadFile, shift: int) -> pl.DataFrame:
        together = 1 << (shift - thread.shift)
        at, kind = np.nonzero(thread.spans["count"] + thread.spans["time"])
        found = thread.spans[at, kind]
        width_s = (1 << shift) * self.clock.tick_s
        begin_s = float(self.clock.seconds(int(thread.head["spans_begin"])))
        frame = pl.DataFrame(
            {
                "number": at // together,
                "kind_number": kind,
                "count": found["count"].astype(np.int64),
                "bytes": found["bytes"].astype(np.int64),
                "time_s": found["time"] * self.clock.tick_s,
            }
        )
        summed = frame.group_by("number", "kind_number").sum().sort("number", "kind_number")
        numbers = summed["number"].to_numpy()
        columns = {
            "start_s": begin_s + numbers * width_s,
            "width_s": np.full(len(numbers), width_s),
            "kind": np.array(KINDS, object)[summed["kind_number"].to_numpy()],
            **{name: summed[name].to_numpy() for name in ("count", "bytes", "time_s")},
        }
        return _frame(columns, self.file.rank, thread, BINS)

    def timeline(self, members: Members) -> pl.DataFrame:
        """Rows of the timeline, in order of start within a thread."""
        return pl.concat(
            [pl.DataFrame(schema=TIMELINE)] + [self._timeline(one, members) for one in self.threads]
        )

    def _timeline(self, thread: ThreadFile, members: Members) -> pl.DataFrame:
        found = thread.timeline()
        columns = {
            **self._subjects(thread.timeline_path, found["call"], found["kind"]),
            "communicator": _numbered(self.file, members, found["communicator"]),
            "partner": found["partner"],
            "tag": found["tag"],
            "size_bytes": found["size_bytes"],
            "start_s": self.clock.seconds(found["begin"]),
            "end_s": self.clock.seconds(found["end"]),
            "waiting_s": found["waiting"] * self.clock.tick_s,
        }
        return _frame(columns, self.file.rank, thread, TIMELINE).sort("start_s")

    def _subjects(self, path: Path, call: Any, kind: Any) -> dict[str, Any]:
        known = len(self.file.calls)
        if len(call) and (int(call.max()) >= known or int(kind.max()) >= len(KINDS)):
            raise InputError(f"{path} is damaged: it names calls that there are not", REMEDY)
        return {
            "call": np.array(self.file.calls, object)[call],
            "kind": np.array(KINDS, object)[kind],
        }


def on_clocks_of_hosts(processes: Sequence[Process], begin_ns: int) -> list[Process]:
    """The same with one clock for all processes of a host, as far as they agree with it."""
    together: dict[str, list[ThreadFile]] = defaultdict(list)
    for one in processes:
        together[one.file.host] += one.threads
    clocks = {host: clock_of(threads, begin_ns) for host, threads in together.items()}
    return [
        replace(one, clock=clocks[one.file.host])
        if agrees(clocks[one.file.host], one.clock, one.threads)
        else one
        for one in processes
    ]


def _numbered(file: ProcessFile, members: Members, local: Any) -> Any:
    """The numbers of communicators that are the same on all ranks."""
    known = np.unique(local)
    numbers = np.array([members.number(file.rank, int(one)) for one in known], np.int32)
    return numbers[np.searchsorted(known, local)] if len(known) else np.empty(0, np.int32)


def _frame(
    columns: dict[str, Any], rank: int, thread: ThreadFile, schema: dict[str, pl.DataType]
) -> pl.DataFrame:
    """Columns as a table has them, with the rank and the thread."""
    rows = len(next(iter(columns.values())))
    own = {"rank": np.full(rows, rank), "thread": np.full(rows, int(thread.head["thread"]))}
    series = [
        pl.Series(name, list(values) if values.dtype == object else np.ascontiguousarray(values))
        for name, values in {**own, **columns}.items()
    ]
    frame = pl.DataFrame(series).select(pl.col(name).cast(kind) for name, kind in schema.items())
    return frame.select(*schema)

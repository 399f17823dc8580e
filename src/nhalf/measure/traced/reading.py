"""From the files of one process to rows of the tables of a trace.

Ticks are those of the host, so its processes share one clock, even if the time of day was set
meanwhile: the order of their calls is known with the precision of a tick.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.measure.traced.layout import REMEDY, ProcessFile, ThreadFile, ThreadHead
from nhalf.measure.traced.symbols import CallSites
from nhalf.measure.traced.tables import BINS, CALL_SITES, CALLS, KINDS, OFF_PROCESSOR, TIMELINE
from nhalf.measure.traced.worlds import Members


@dataclass(frozen=True)
class Clock:
    """A process's clock: one moment in ticks and in seconds since the command began, and a tick."""

    ticks: int
    at_s: float
    tick_s: float

    def seconds(self, ticks: Any) -> Any:
        """Convert unsigned ticks of any shape to seconds."""
        return self.at_s + (np.asarray(ticks, np.int64) - self.ticks) * self.tick_s


VIRTUAL = Clock(ticks=0, at_s=0.0, tick_s=1e-12)
"""That of ranks in virtual time, which begins with the command and is counted in picoseconds."""
STEADY_SINCE = 2
"""The first version of files that also have a steady clock."""
TICK_S, TICK_MIN_S, TICK_MAX_S = 1e-9, 1e-11, 1e-5
"""Assumed tick if none passed, and the shortest and longest plausible tick of a counter."""
APART_S = 0.02
APART = 1e-3
"""Allowed difference between a process's clock and its host's: seconds, and a share of the time."""


def agrees(shared: Clock, own: Clock, threads: Iterable[ThreadFile]) -> bool:
    """Whether a process has the ticks of its host; different hosts may have the same name."""
    for thread in threads:
        for name in ("begin_ticks", "last_ticks"):
            own_s = float(own.seconds(int(thread.head[name])))
            apart_s = abs(float(shared.seconds(int(thread.head[name]))) - own_s)
            if apart_s > APART_S + APART * abs(own_s):
                return False
    return True


def clock_of(threads: Iterable[ThreadHead], begin_ns: int) -> Clock:
    """Derive a clock from the thread with the longest time between two readings of both clocks.

    Raises InputError for an implausible tick.
    """
    threads_by_ns = [(elapsed_ns(thread), thread) for thread in threads]
    longest_ns, longest = max(threads_by_ns, key=lambda pair: pair[0])
    head = longest.head
    ticks = int(head["last_ticks"]) - int(head["begin_ticks"])
    tick_s = longest_ns * 1e-9 / ticks if ticks > 0 else TICK_S
    if ticks < 0 or not TICK_MIN_S <= tick_s <= TICK_MAX_S:
        raise InputError(
            f"the clocks of {longest.path} do not agree: {ticks} ticks in {longest_ns} ns", REMEDY
        )
    return Clock(int(head["begin_ticks"]), (int(head["begin_ns"]) - begin_ns) * 1e-9, tick_s)


def elapsed_ns(thread: ThreadHead) -> int:
    """Return the time from first to last reading of a thread, by the steady clock if recorded."""
    name = "ns" if int(thread.head["version"]) < STEADY_SINCE else "steady_ns"
    return int(thread.head[f"last_{name}"]) - int(thread.head[f"begin_{name}"])


NS_S = 1e-9
AWAKE = 0.5
"""A thread that had a processor, or waited for one, for this share of the run needs one."""


Columns = dict[str, Any]
"""The columns of a table of one thread, but for its rank and thread."""


@dataclass(frozen=True)
class Process:
    """A process with its threads and its clock."""

    file: ProcessFile
    threads: list[ThreadFile]
    clock: Clock

    @classmethod
    def of(cls, file: ProcessFile, begin_ns: int) -> Process | None:
        """Read a process; None if it counted nothing. Raises InputError for an unreadable file."""
        threads = list(file.threads())
        if not threads:
            return None
        return cls(file, threads, VIRTUAL if file.virtual else clock_of(threads, begin_ns))

    @property
    def host(self) -> str:
        """Where it ran: on a node of a simulated machine, if on one."""
        file = self.file
        return file.host if file.virtual is None else file.virtual.host(file.rank)

    @property
    def lost(self) -> int:
        """The flags of what did not fit, of all threads."""
        return int(np.bitwise_or.reduce([int(thread.head["lost"]) for thread in self.threads]))

    @property
    def timeline_lacks(self) -> int:
        """The number of calls that were written and are no longer in a file."""
        return sum(thread.timeline_lacks for thread in self.threads)

    @property
    def start_s(self) -> float:
        """The time of its call of MPI_Init, or of the first record of any thread."""
        return min(
            float(self.clock.seconds(int(thread.head["begin_ticks"]))) for thread in self.threads
        )

    def ready_s(self, begin_ns: int) -> float:
        """Return when MPI_Init returned, which is when MPI_COMM_WORLD was recorded."""
        start_s = self.start_s
        worlds = [note for note in self.file.communicators if note.communicator == 0]
        if not worlds:
            return start_s
        world = worlds[0]
        if world.made_ticks is None:
            ready_s = (world.made_ns - begin_ns) * 1e-9
        else:
            ready_s = float(self.clock.seconds(world.made_ticks))
        return min(max(start_s, ready_s), self.end_s)

    @property
    def end_s(self) -> float:
        """The time of the last record of any thread."""
        return max(
            float(self.clock.seconds(int(thread.head["last_ticks"]))) for thread in self.threads
        )

    def calls(self, members: Members) -> pl.DataFrame:
        """Return the rows of the table of calls."""
        return self._table(CALLS, lambda thread: self._calls(thread, members))

    def _calls(self, thread: ThreadFile, members: Members) -> Columns:
        cells = thread.cells[thread.cells["count"] > 0]
        tick_s = self.clock.tick_s
        return {
            **self._subjects(thread.path, cells["call_and_kind"] >> 4, cells["call_and_kind"] & 15),
            "communicator": _numbered(self.file, members, cells["communicator"]),
            "partner": cells["partner"],
            "size_bytes": cells["size_bytes"],
            "count": cells["count"],
            "bytes": cells["bytes"],
            "time_s": cells["time"] * tick_s,
            "waiting_s": cells["waiting"] * tick_s,
            # Of a receive that took no time within calls there is no shortest one.
            "min_s": np.minimum(cells["least"], cells["most"]) * tick_s,
            "max_s": cells["most"] * tick_s,
        }

    def bins(self, shift: int) -> pl.DataFrame:
        """Return the rows of the table over time, in spans of 2 to the power of `shift` ticks."""
        return self._table(BINS, lambda thread: self._bins(thread, shift))

    def _bins(self, thread: ThreadFile, shift: int) -> Columns:
        together = 1 << (shift - thread.shift)
        at, kind = np.nonzero(thread.spans["count"] + thread.spans["time"])
        spans = thread.spans[at, kind]
        width_s = (1 << shift) * self.clock.tick_s
        begin_s = float(self.clock.seconds(int(thread.head["spans_begin"])))
        frame = pl.DataFrame(
            {
                "number": at // together,
                "kind_number": kind,
                "count": spans["count"].astype(np.int64),
                "bytes": spans["bytes"].astype(np.int64),
                "time_s": spans["time"] * self.clock.tick_s,
            }
        )
        summed = frame.group_by("number", "kind_number").sum().sort("number", "kind_number")
        numbers = summed["number"].to_numpy()
        return {
            "start_s": begin_s + numbers * width_s,
            "width_s": np.full(len(numbers), width_s),
            "kind": np.array(KINDS, object)[summed["kind_number"].to_numpy()],
            **{name: summed[name].to_numpy() for name in ("count", "bytes", "time_s")},
        }

    def call_sites(self, sites: CallSites) -> pl.DataFrame:
        """Return the rows of the table of calls by site."""
        return self._table(CALL_SITES, lambda thread: self._call_sites(thread, sites))

    def _call_sites(self, thread: ThreadFile, sites: CallSites) -> Columns:
        cells = thread.cells_at_sites[thread.cells_at_sites["count"] > 0]
        # Where there were more than fit, several have none.
        local = np.maximum(cells["partner"], 0)
        return {
            "call": self._names(thread.path, cells["call_and_kind"] >> 4),
            "site": sites.numbered(self.file, thread, local),
            "size_bytes": cells["size_bytes"],
            "count": cells["count"],
            "bytes": cells["bytes"],
            "time_s": cells["time"] * self.clock.tick_s,
            "waiting_s": cells["waiting"] * self.clock.tick_s,
        }

    def off_processor(self) -> pl.DataFrame:
        """Return the rows of the table of time off the processor."""
        return self._table(OFF_PROCESSOR, self._off_processor)

    def _off_processor(self, thread: ThreadFile) -> Columns:
        records = thread.off_processor()
        return {
            "start_s": self.clock.seconds(records["begin"]),
            "end_s": self.clock.seconds(records["end"]),
            "in_call": records["call"] > 0,
            "off_s": records["size_bytes"] * NS_S,
            "queued_s": records["waiting"] * NS_S,
        }

    def _table(
        self, schema: dict[str, pl.DataType], columns_of: Callable[[ThreadFile], Columns]
    ) -> pl.DataFrame:
        """The rows of all threads, with the schema's columns."""
        frames = [
            _frame(columns_of(thread), self.file.rank, thread, schema) for thread in self.threads
        ]
        return pl.concat([pl.DataFrame(schema=schema), *frames])

    def off_processor_s(self) -> dict[str, float]:
        """Return the fields of Rank about its threads' time off the processor, if known."""
        heads = [thread.head for thread in self.threads if thread.has_sites]
        if not heads or self.file.virtual is not None:
            return {}
        between, within = 0, 1
        fields = {
            "off_s": ("off_ns", between),
            "queued_s": ("queued_ns", between),
            "in_calls_off_s": ("off_ns", within),
            "in_calls_queued_s": ("queued_ns", within),
        }
        return {
            name: sum(float(head[field][place]) for head in heads) * NS_S
            for name, (field, place) in fields.items()
        }

    def threads_running(self) -> int:
        """Return how many threads did not sleep for most of the run; at least one."""
        run_s = self.end_s - self.start_s
        return max(1, sum(self._awake_s(thread) >= AWAKE * run_s for thread in self.threads))

    def _awake_s(self, thread: ThreadFile) -> float:
        """How long a thread had a processor or waited for one."""
        head = thread.head
        begin_s, end_s = (float(self.clock.seconds(int(head[name])))
                          for name in ("begin_ticks", "last_ticks"))  # fmt: skip
        if not thread.has_sites:
            return end_s - begin_s
        slept_ns = sum(float(head["off_ns"][at]) - float(head["queued_ns"][at]) for at in (0, 1))
        return end_s - begin_s - slept_ns * NS_S

    def timeline(self, members: Members, sites: CallSites) -> pl.DataFrame:
        """Return the rows of the timeline, in order of start within a thread."""
        return self._table(TIMELINE, lambda thread: self._timeline(thread, members, sites))

    def _timeline(self, thread: ThreadFile, members: Members, sites: CallSites) -> Columns:
        recorded = thread.timeline()
        records = recorded[np.argsort(recorded["begin"], kind="stable")]
        return {
            **self._subjects(thread.timeline_path, records["call"], records["kind"]),
            "communicator": _numbered(self.file, members, records["communicator"]),
            "partner": records["partner"],
            "tag": records["tag"],
            "size_bytes": records["size_bytes"],
            "start_s": self.clock.seconds(records["begin"]),
            "end_s": self.clock.seconds(records["end"]),
            "waiting_s": records["waiting"] * self.clock.tick_s,
            "site": sites.numbered(self.file, thread, records["site"]),
        }

    def _subjects(self, path: Path, call: Any, kind: Any) -> dict[str, Any]:
        names = self._names(path, call)
        if len(kind) and int(kind.max()) >= len(KINDS):
            raise _damaged(path)
        return {"call": names, "kind": np.array(KINDS, object)[kind]}

    def _names(self, path: Path, call: Any) -> Any:
        if len(call) and int(call.max()) >= len(self.file.calls):
            raise _damaged(path)
        return np.array(self.file.calls, object)[call]


def _damaged(path: Path) -> InputError:
    return InputError(f"{path} is damaged: it names calls that there are not", REMEDY)


def on_clocks_of_hosts(processes: Sequence[Process], begin_ns: int) -> list[Process]:
    """Return processes with one clock per host, except those that disagree with it."""
    together: dict[str, list[ThreadFile]] = defaultdict(list)
    for process in processes:
        if process.file.virtual is None:
            together[process.file.host] += process.threads
    clocks = {host: clock_of(threads, begin_ns) for host, threads in together.items()}
    return [
        replace(process, clock=clocks[process.file.host])
        if process.file.virtual is None
        and agrees(clocks[process.file.host], process.clock, process.threads)
        else process
        for process in processes
    ]


def _numbered(file: ProcessFile, members: Members, local: Any) -> Any:
    """Map local numbers of communicators to those that are equal on all ranks."""
    local_numbers = np.unique(local)
    numbers = np.array(
        [members.number(file.rank, int(number)) for number in local_numbers], np.int32
    )
    return (
        numbers[np.searchsorted(local_numbers, local)]
        if len(local_numbers)
        else np.empty(0, np.int32)
    )


def _frame(
    columns: Columns, rank: int, thread: ThreadFile, schema: dict[str, pl.DataType]
) -> pl.DataFrame:
    """Return a table of the schema's columns, with the rank and the thread."""
    rows = len(next(iter(columns.values())))
    own = {"rank": np.full(rows, rank), "thread": np.full(rows, int(thread.head["thread"]))}
    series = [
        pl.Series(name, list(values) if values.dtype == object else np.ascontiguousarray(values))
        for name, values in {**own, **columns}.items()
    ]
    frame = pl.DataFrame(series).select(pl.col(name).cast(kind) for name, kind in schema.items())
    return frame.select(*schema)

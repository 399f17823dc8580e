"""The tables of a trace, and the one place that reads and writes them.

A trace is a folder: `trace.json` describes what was traced, and Parquet files hold the tables.
Times of `bins` and `timeline` count from the start of the command, on one clock for all ranks.
Ranks are those of MPI_COMM_WORLD everywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.unreadable import UNREADABLE
from nhalf.measure.traced.layout import LibraryReport, TracedMachine
from nhalf.store import parquet
from nhalf.store.described import TRACE_DESCRIPTION

VERSION = 1
"""Version of the folder: raised when an older reader would misread a newer trace."""

DESCRIPTION = TRACE_DESCRIPTION

SCHEDULE = "schedule"
"""The detail of a program that another tool wrote down without the times of its calls."""

PROC_NULL = -1
"""The partner of a message to or from MPI_PROC_NULL."""
NO_PARTNER = -2
"""The partner of a call that has none: a collective without a root, a wait."""
ELSEWHERE = -3
"""A partner outside MPI_COMM_WORLD, or several that no longer fitted into the table."""

KINDS = ("sent", "received", "one-sided", "collective", "waiting")
"""What a call is about. A call that sends and receives (MPI_Sendrecv) has a row of each, its time
is in the received one. A wait, test or probe is 'waiting'; what is received between is a row of the
call that began it (MPI_Irecv, MPI_Recv_init), as is what persistent calls send (MPI_Send_init)."""

CALLS: dict[str, pl.DataType] = {
    "rank": pl.Int32(),
    "thread": pl.Int32(),
    "call": pl.String(),
    "kind": pl.String(),
    "communicator": pl.Int32(),
    "partner": pl.Int32(),
    "size_bytes": pl.Int64(),
    "count": pl.Int64(),
    "bytes": pl.Int64(),
    "time_s": pl.Float64(),
    "waiting_s": pl.Float64(),
    "min_s": pl.Float64(),
    "max_s": pl.Float64(),
}
"""One row is one thread's calls of one kind on one communicator with one partner and size.

`partner` is the destination, source, target or root. `size_bytes` is that of a message as it was
sent or received. Of a collective it is what the rank puts in (its vector of a reduction, its block
of a gather, all its blocks of an all-to-all or, at the root, of a scatter), and where it puts in
nothing, what it gets. `bytes` is the sum over the calls. `waiting_s` is the whole time
of waits, probes, barriers and whatever else moves nothing, and what other calls that can wait took
beyond the shortest one of their row up to then."""

BINS: dict[str, pl.DataType] = {
    "rank": pl.Int32(),
    "thread": pl.Int32(),
    "start_s": pl.Float64(),
    "width_s": pl.Float64(),
    "kind": pl.String(),
    "count": pl.Int64(),
    "bytes": pl.Int64(),
    "time_s": pl.Float64(),
}
"""One row is one of KINDS in one span of time of a thread; spans without calls have none. The width
is the same for all rows. Of kind 'waiting' `time_s` is the waiting of calls of every kind, `count`
and `bytes` are those of waits, tests and probes."""

TIMELINE: dict[str, pl.DataType] = {
    "rank": pl.Int32(),
    "thread": pl.Int32(),
    "call": pl.String(),
    "kind": pl.String(),
    "communicator": pl.Int32(),
    "partner": pl.Int32(),
    "tag": pl.Int32(),
    "size_bytes": pl.Int64(),
    "start_s": pl.Float64(),
    "end_s": pl.Float64(),
    "waiting_s": pl.Float64(),
    "site": pl.Int32(),
}
"""One row is one call, in order of start within a thread. A receive that was begun before starts
where it was begun and ends with the wait that completed it. `site` is that of SITES, -1 where it is
not known."""

COMMUNICATORS: dict[str, pl.DataType] = {
    "communicator": pl.Int32(),
    "name": pl.String(),
    "rank": pl.Int32(),
    "world_rank": pl.Int32(),
}
"""One row is one member: `rank` in the communicator is `world_rank` in MPI_COMM_WORLD. 0 is
MPI_COMM_WORLD; others are numbered in the order of their creation. Of one between two groups both
are members, the group with the lowest rank first."""

SITES: dict[str, pl.DataType] = {
    "site": pl.Int32(),
    "module": pl.String(),
    "offset": pl.Int64(),
    "function": pl.String(),
    "file": pl.String(),
    "line": pl.Int32(),
    "python_file": pl.String(),
    "python_line": pl.Int32(),
}
"""One row is one place in the program that calls MPI: the file of the program or library, and the
address there that the call returns to. `function` and `file` are '' and `line` is 0 where they are
not known. Where Python called that file, `python_file` and `python_line` are from where; and where
the file is nothing but Python's way to MPI, that is `file` and `line`, and `offset` is 0."""

CALL_SITES: dict[str, pl.DataType] = {
    "rank": pl.Int32(),
    "thread": pl.Int32(),
    "site": pl.Int32(),
    "call": pl.String(),
    "size_bytes": pl.Int64(),
    "count": pl.Int64(),
    "bytes": pl.Int64(),
    "time_s": pl.Float64(),
    "waiting_s": pl.Float64(),
}
"""One row is one thread's calls of one name and size at one place, with the columns of CALLS."""

OFF_PROCESSOR: dict[str, pl.DataType] = {
    "rank": pl.Int32(),
    "thread": pl.Int32(),
    "start_s": pl.Float64(),
    "end_s": pl.Float64(),
    "in_call": pl.Boolean(),
    "off_s": pl.Float64(),
    "queued_s": pl.Float64(),
}
"""One row is a span of time between two calls, or of a call, in which the thread was off its
processor for `off_s`; for `queued_s` of them it could have run, but others had the processor. What
remains it slept, or the machine stood."""

TABLES: Mapping[str, Mapping[str, pl.DataType]] = {
    "calls": CALLS,
    "bins": BINS,
    "timeline": TIMELINE,
    "communicators": COMMUNICATORS,
    "sites": SITES,
    "call_sites": CALL_SITES,
    "off_processor": OFF_PROCESSOR,
}
NAMES: Mapping[str, pl.DataType] = {"call": pl.Categorical(), "kind": pl.Enum(KINDS)}
"""Columns of names, as a timeline has them in memory."""
MAY_LACK = ("timeline", "sites", "call_sites", "off_processor")
"""Tables that not every trace has."""
NO_SITE = -1
"""Where a call was made from is not known."""
ADDED: Mapping[str, object] = {"site": NO_SITE, "python_file": "", "python_line": 0}
"""Columns that older traces lack, with what stands for them."""


class Rank(msgspec.Struct):
    """Where and when a rank ran, from the call of MPI_Init to that of MPI_Finalize.

    `finished` is whether it reached the latter; `ready_s` is when MPI_Init returned, None if
    unknown. `off_s` is how long its threads that call MPI were off the processor between calls, and
    `queued_s` how long of that others had it; `in_calls_off_s` and `in_calls_queued_s` are the same
    within calls: sums over these threads. None where processor time was not recorded.
    `threads_running` are those of them that do not sleep for most of the run, at least one.
    `processors` are those of its host that it may run on, none if they are unknown, as in virtual
    time.
    """

    rank: int
    host: str
    pid: int
    start_s: float
    end_s: float
    finished: bool
    ready_s: float | None = None
    off_s: float | None = None
    queued_s: float | None = None
    in_calls_off_s: float | None = None
    in_calls_queued_s: float | None = None
    processors: tuple[int, ...] = ()
    threads_running: int = 1

    @property
    def begin_s(self) -> float:
        """When the program itself began, after MPI_Init."""
        return self.start_s if self.ready_s is None else self.ready_s


class Trace(msgspec.Struct):
    """The description of a trace: `trace.json`.

    `complete` is whether every rank is present and reached its end; `exit_code` is the command's,
    None if unknown. `start_s` and `end_s` are seconds since 1970, those of ranks since `start_s`.
    `notes` state what is missing. A `virtual` machine is a simulated one: all times are its
    own, exactly. `mpi_t` is what the library said of itself, None if it was not asked.
    """

    command: list[str]
    library: str
    ranks: list[Rank]
    start_s: float
    end_s: float
    detail: str
    complete: bool
    exit_code: int | None
    notes: list[str] = []
    version: int = VERSION
    virtual: TracedMachine | None = None
    mpi_t: LibraryReport | None = None


@dataclass(frozen=True)
class TraceFolder:
    """A trace that was collected."""

    path: Path
    trace: Trace

    def table(self, name: str) -> pl.LazyFrame:
        """Return one of TABLES; one that may lack is empty if it was not recorded.

        Raises InputError if the file is missing or damaged.
        """
        path = self.path / f"{name}.parquet"
        columns = TABLES[name]
        if name in MAY_LACK and not path.exists():
            return pl.LazyFrame(schema=columns)
        try:
            schema = parquet.schema(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{path} is damaged or missing", "trace the program again") from error
        lacking = [column for column in ADDED if column in columns and column not in schema]
        for column, kind in columns.items():
            if column not in lacking and schema.get(column) != kind:
                raise InputError(
                    f"{path} has no column {column} of type {kind}", "trace the program again"
                )
        constants = [pl.lit(ADDED[column], columns[column]).alias(column) for column in lacking]
        return parquet.scan(path).with_columns(constants).select(*columns)

    def rows(self, name: str) -> pl.DataFrame:
        """Return one of TABLES in memory. Raises InputError if the file is damaged.

        A timeline may have many rows: it has numbers for names of calls, and is read column by
        column.
        """
        table = self.table(name)
        try:
            if name != "timeline":
                return table.collect()
            columns = [table.select(pl.col(column).cast(NAMES.get(column, kind)))
                       for column, kind in TIMELINE.items()]  # fmt: skip
            return pl.DataFrame([column.collect().to_series().rechunk() for column in columns])
        # A reader of invalid bytes may panic, which is not a subclass of Exception.
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            path = self.path / f"{name}.parquet"
            raise InputError(f"{path} is damaged", "trace the program again") from error


def is_trace(path: Path) -> bool:
    """Whether a folder holds a trace that was collected."""
    return (path / DESCRIPTION).is_file()


def open_trace(path: Path) -> TraceFolder:
    """Open a trace by its folder. Raises InputError if it is missing or of another version."""
    file = path / DESCRIPTION
    if not file.is_file():
        raise InputError(f"{path} is not a trace", f"it has no {DESCRIPTION}")
    try:
        version = msgspec.json.decode(file.read_bytes(), type=dict[str, object]).get("version")
        if version != VERSION:
            raise InputError(
                f"{file} has version {version}; this nhalf reads version {VERSION}",
                "use the nhalf that wrote it",
            )
        return TraceFolder(path.resolve(), msgspec.json.decode(file.read_bytes(), type=Trace))
    except UNREADABLE as error:
        raise InputError(f"{file} is damaged: {error}", "trace the program again") from error


SENT_AND_RECEIVED = "sent and received"
"""The kind of a call that does both (MPI_Sendrecv), which the tables keep in two rows."""
_SUMS = ("count", "bytes", "time_s", "waiting_s")


def totals(calls: pl.LazyFrame) -> list[dict[str, Any]]:
    """Sum count, bytes, time and waiting of each call and kind, the longest first."""
    frame = summed_by_call(calls).collect()
    return frame.sort("time_s", "call", descending=[True, False]).to_dicts()


def summed_by_call(calls: pl.LazyFrame, *keys: str) -> pl.LazyFrame:
    """Rows of the table of calls by keys, call and kind: the sums of `count`, `bytes`, `time_s` and
    `waiting_s`. A call that sends and receives is one row, with the bytes of both.
    """
    sends, receives = (pl.col("kind") == kind for kind in ("sent", "received"))
    does_both = (sends | receives) & sends.any().over("rank", "call")
    does_both &= receives.any().over("rank", "call")
    return (
        calls.with_columns(
            pl.when(does_both).then(pl.lit(SENT_AND_RECEIVED)).otherwise("kind").alias("kind"),
            pl.when(does_both & sends).then(0).otherwise("count").alias("count"),
        )
        .group_by(*keys, "call", "kind")
        .agg(pl.col(*_SUMS).sum())
    )

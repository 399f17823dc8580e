# SPDX-License-Identifier: Apache-2.0
"""A schedule in GOAL as a program: calls in their order with computing between them, not timed.

A processor (`cpu`) of a rank is a thread; operations of several that require each other become
one thread. GOAL knows no nodes: each rank has one to itself, until it is placed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from nhalf.base.errors import InputError
from nhalf.exchange.program.goal_file import (
    ANY,
    CALCULATE,
    RECEIVE,
    GoalOperation,
    GoalRanks,
    read_goal,
)
from nhalf.exchange.program.goal_order import BEGIN, BLOCK, WAIT, Circle, GoalCall, calls_of
from nhalf.exchange.program.written import counted_calls, world
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import SHORT_S
from nhalf.measure.traced.tables import NO_PARTNER, NO_SITE, SCHEDULE, TABLES, Rank, Trace

NANO = 1e-9
NOMINAL_S = 2 * SHORT_S
"""What a call is written to take: longer than a wait that finds its message there, which would
count as the time of the call itself."""
NOTE = "a schedule in GOAL: calls are in their order, and their times are not measured"
JOINED = "processors of {} ranks depend on each other: their operations are one after the other"
_NAMES = {
    ("send", BEGIN): ("MPI_Isend", "sent"),
    ("send", BLOCK): ("MPI_Send", "sent"),
    (RECEIVE, BEGIN): ("MPI_Irecv", "received"),
    (RECEIVE, BLOCK): ("MPI_Recv", "received"),
}


def read_schedule(path: Path) -> Program:
    """The program of a schedule.

    Raises InputError for what is no schedule, receives from any rank, and operations that require
    each other.
    """
    ranks = read_goal(path)
    rows, ends_s, joined = _Rows(), list[float](), 0
    tags = _tags(ranks)
    for rank, operations in enumerate(ranks):
        _check(operations, rank, len(ranks), path)
        threads = _threads(operations)
        if threads is None:
            joined, threads = joined + 1, [list(range(len(operations)))]
        ends_s.append(0.0)
        for thread, places in enumerate(threads):
            try:
                calls = calls_of(operations, places)
            except Circle as error:
                reason = f"{path}: operations of rank {rank} require each other"
                raise InputError(reason, "write it again") from error
            end_s = rows.add((rank, thread), operations, calls, tags)
            ends_s[rank] = max(ends_s[rank], end_s)
    timeline = rows.frame()
    if timeline.is_empty():
        raise InputError(f"{path} holds no message", "name a schedule with sends")
    records = [
        Rank(rank, f"node{rank}", 0, 0.0, end_s, finished=True) for rank, end_s in enumerate(ends_s)
    ]
    notes = [NOTE, *([JOINED.format(joined)] if joined else [])]
    trace = Trace([path.name], "", records, 0.0, max(ends_s), SCHEDULE, True, None, notes)
    bins = pl.DataFrame([], schema=TABLES["bins"])
    counted = counted_calls(timeline, spent=pl.lit(0.0))
    return Program(path, trace, counted, bins, timeline, world(range(len(ranks))))


def _check(operations: Sequence[GoalOperation], rank: int, ranks: int, path: Path) -> None:
    """Raises InputError for a partner that is no rank, and for receives of any message."""
    for operation in operations:
        if operation.kind == CALCULATE:
            continue
        if ANY in (operation.peer, operation.tag):
            raise InputError(
                f"{path}: rank {rank} receives from any rank or of any tag, so which message it "
                "takes is not known",
                "name the rank and the tag",
            )
        if operation.peer >= ranks:
            raise InputError(
                f"{path}: rank {rank} has a message with rank {operation.peer} of {ranks}",
                "write it again",
            )


def _threads(operations: Sequence[GoalOperation]) -> list[list[int]] | None:
    """The operations of each processor; None if those of several require each other."""
    by_cpu: dict[int, list[int]] = {}
    for place, operation in enumerate(operations):
        by_cpu.setdefault(operation.cpu, []).append(place)
        for required in (*operation.after, *operation.begun):
            if operations[required].cpu != operation.cpu:
                return None
    return [by_cpu[cpu] for cpu in sorted(by_cpu)]


def _tags(ranks: GoalRanks) -> dict[int, int]:
    """A number for each tag, since those of a timeline are smaller than those of GOAL."""
    tags = {operation.tag for operations in ranks for operation in operations}
    return {tag: number for number, tag in enumerate(sorted(tags))}


class _Rows:
    """The rows of a timeline, in columns."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in TABLES["timeline"]}

    def add(
        self,
        actor: tuple[int, int],
        operations: Sequence[GoalOperation],
        calls: Sequence[GoalCall],
        tags: dict[int, int],
    ) -> float:
        """Add the calls of a thread of a rank; returns when it ends."""
        now_s = 0.0
        begun: dict[int, int] = {}
        for call in calls:
            place = call.places[0]
            operation = operations[place]
            if operation.kind == CALCULATE:
                now_s += operation.amount * NANO
                continue
            end_s = now_s + NOMINAL_S
            if call.action == WAIT:
                for ended in call.places:
                    if operations[ended].kind == RECEIVE:
                        self._columns["end_s"][begun[ended]] = end_s
                name = ("MPI_Waitall" if call.ends_all else "MPI_Wait", "waiting")
                self._append(actor, name, (NO_PARTNER, 0, 0), now_s, end_s)
                now_s = end_s
                continue
            name = _NAMES[operation.kind, call.action]
            begun[place] = len(self._columns["rank"])
            about = (operation.peer, tags[operation.tag], operation.amount)
            self._append(actor, name, about, now_s, end_s)
            # A receive that begins takes no time, and the calls after it are later than it is.
            now_s = math.nextafter(now_s, math.inf) if name[0] == "MPI_Irecv" else end_s
        return now_s

    def _append(
        self,
        actor: tuple[int, int],
        name: tuple[str, str],
        about: tuple[int, int, int],
        start_s: float,
        end_s: float,
    ) -> None:
        row = (*actor, *name, 0, *about, start_s, end_s, 0.0, NO_SITE)
        for column, value in zip(self._columns.values(), row, strict=True):
            column.append(value)

    def frame(self) -> pl.DataFrame:
        """The timeline, in order of start within a thread."""
        table = pl.DataFrame(self._columns, schema=TABLES["timeline"])
        return table.sort("rank", "thread", "start_s", maintain_order=True)

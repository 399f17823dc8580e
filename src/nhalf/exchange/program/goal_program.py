"""A schedule in GOAL as a program: calls in their order with computing between them, not timed.

A processor (`cpu`) of a rank is a thread; operations of several that require each other become
one thread. GOAL knows no nodes: each rank has one to itself, until it is placed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
from nhalf.exchange.program.schedule_rows import ScheduleRows
from nhalf.facts.program.program import Program

NANO = 1e-9
NOTE = "a schedule in GOAL: calls are in their order, and their times are not measured"
JOINED = "operations of processors that depend on each other are one after the other (ranks: {})"
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
    rows, ends_s, joined = ScheduleRows(), list[float](), 0
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
            end_s = _add(rows, (rank, thread), operations, calls, tags)
            ends_s[rank] = max(ends_s[rank], end_s)
    if not len(rows):
        raise InputError(f"{path} holds no message", "name a schedule with sends")
    return rows.program(path, ends_s, [NOTE, *([JOINED.format(joined)] if joined else [])])


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


def _add(
    rows: ScheduleRows,
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
        elif call.action == WAIT:
            received = [begun[p] for p in call.places if operations[p].kind == RECEIVE]
            now_s = rows.wait(actor, received, call.ends_all, now_s)
        else:
            begun[place] = len(rows)
            about = (operation.peer, tags[operation.tag], operation.amount)
            now_s = rows.append(actor, _NAMES[operation.kind, call.action], about, now_s)
    return now_s

"""A schedule in GOAL as a program: calls in their order with computing between them, not timed.

A processor (`cpu`) of a rank is a thread; operations of several that require each other become
one thread. GOAL knows no nodes: each rank has one to itself, until it is placed.

A rank's operations in GOAL as the calls of a thread, one after the other.

Receives are begun as early as they may be, then sends, then calculations; what requires a message
waits for it. So what may overlap does. A message that the very next operation requires is a
blocking call, every other one is begun, and waited for where it is required, or at the end.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.exchange.program.goal_file import (
    ANY,
    CALCULATE,
    RECEIVE,
    GoalOperation,
    read_goal,
)
from nhalf.exchange.program.written import ScheduleRows
from nhalf.facts.program.program import Program

BEGIN, BLOCK, WAIT = "begin", "block", "wait"
_FIRST = {RECEIVE: 0, "send": 1, CALCULATE: 2}


@dataclass(frozen=True, slots=True)
class GoalCall:
    """Begin an operation, do it until it is over, or wait for some that were begun: by place.

    `ends_all` says that a wait is for all that were begun.
    """

    action: str
    places: tuple[int, ...]
    ends_all: bool = False


class Circle(Exception):
    """Operations require each other."""


def calls_of(operations: Sequence[GoalOperation], places: Sequence[int]) -> list[GoalCall]:
    """The calls of a thread that does the operations at `places`; raises Circle.

    What is required of other threads is left out.
    """
    return list(_Thread(operations, places).calls())


class _Thread:
    """Operations by what they still require: `_open` counts, `_later` are those that depend."""

    def __init__(self, operations: Sequence[GoalOperation], places: Sequence[int]) -> None:
        self._operations = operations
        own = set(places)
        self._after = {place: own.intersection(operations[place].after) for place in places}
        self._later: dict[int, list[int]] = {place: [] for place in places}
        self._open: dict[int, int] = {}
        for place in places:
            required = self._after[place] | own.intersection(operations[place].begun)
            self._open[place] = len(required)
            for earlier in required:
                self._later[earlier].append(place)
        self._under_way: dict[int, None] = {}
        """What was begun and not waited for, in this order."""
        self._at_once: list[tuple[int, int]] = []
        self._waiting: list[int] = []
        for place in places:
            if not self._open[place]:
                self._put(place)

    def calls(self) -> Iterator[GoalCall]:
        """All calls in their order."""
        place = self._next()
        undone = len(self._open)
        while place is not None:
            yield from self._wait(
                [begun for begun in self._under_way if begun in self._after[place]]
            )
            undone -= 1
            is_message = self._operations[place].kind != CALCULATE
            if is_message:
                self._under_way[place] = None
            for later in self._later[place]:
                self._open[later] -= 1
                if not self._open[later]:
                    self._put(later)
            following = self._next()
            is_required = following is not None and place in self._after[following]
            if is_message and is_required:
                del self._under_way[place]
            yield GoalCall(BLOCK if is_required or not is_message else BEGIN, (place,))
            place = following
        if undone:
            raise Circle
        yield from self._wait(list(self._under_way))

    def _wait(self, places: Sequence[int]) -> Iterator[GoalCall]:
        """Wait for some: for all at once, else for the receives, and for each send."""
        if places and len(places) == len(self._under_way):
            yield GoalCall(WAIT, tuple(places), ends_all=True)
        else:
            kinds = [self._operations[place].kind for place in places]
            received = [p for p, kind in zip(places, kinds, strict=True) if kind == RECEIVE]
            if received:
                yield GoalCall(WAIT, tuple(received))
            for place, kind in zip(places, kinds, strict=True):
                if kind != RECEIVE:
                    yield GoalCall(WAIT, (place,))
        for place in places:
            del self._under_way[place]

    def _put(self, place: int) -> None:
        """An operation has all that it requires, but for waits."""
        if any(required in self._under_way for required in self._after[place]):
            heapq.heappush(self._waiting, place)
        else:
            heapq.heappush(self._at_once, (_FIRST[self._operations[place].kind], place))

    def _next(self) -> int | None:
        """What needs no wait, else the first of what does."""
        if self._at_once:
            return heapq.heappop(self._at_once)[1]
        return heapq.heappop(self._waiting) if self._waiting else None


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
    # Tags of a timeline are smaller than those of GOAL.
    goal_tags = {operation.tag for operations in ranks for operation in operations}
    tags = {tag: number for number, tag in enumerate(sorted(goal_tags))}
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
            message = f"{path}: rank {rank} has a message with rank {operation.peer} of {ranks}"
            raise InputError(message, "write it again")


def _threads(operations: Sequence[GoalOperation]) -> list[list[int]] | None:
    """The operations of each processor; None if those of several require each other."""
    by_cpu: dict[int, list[int]] = {}
    for place, operation in enumerate(operations):
        by_cpu.setdefault(operation.cpu, []).append(place)
        for required in (*operation.after, *operation.begun):
            if operations[required].cpu != operation.cpu:
                return None
    return [by_cpu[cpu] for cpu in sorted(by_cpu)]


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

# SPDX-License-Identifier: Apache-2.0
"""What the waits of a thread complete, and polls that are one wait.

A trace says in which wait a receive ended. Of sends and non-blocking collective operations it does
not: MPI_Waitall is taken to complete all that are under way, and a wait that completes no receive
the oldest one. A program that tests in a loop until something is there waits: how often it tests,
and the time between, belong to that wait and not to the program's computing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from nhalf.facts.program.operations import is_non_blocking

TESTS = ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome")
POLLS = (*TESTS, "MPI_Iprobe", "MPI_Improbe")
POLL_GAP_S = 0.5e-6
"""Polls further apart have a program's own work between them."""
POLLS_MIN = 4
"""Fewer in a row may be those of several requests."""
COMPLETES_ALL = ("MPI_Waitall", "MPI_Testall")
_BLOCKING_RECEIVES = ("MPI_Recv", "MPI_Mrecv")
_BEGUN_RECEIVES = ("MPI_Irecv", "MPI_Imrecv", "MPI_Isendrecv", "MPI_Isendrecv_replace")
_BEGUN_SENDS = ("MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Isendrecv", "MPI_Isendrecv_replace")
_EARLY_S = 1e-9
"""A wait and what it completes end at one time stamp, but for rounding."""


class Call(msgspec.Struct, gc=False):
    """A call of a timeline: its columns, and how many polls it stands for, if it is a loop."""

    rank: int
    thread: int
    call: str
    kind: str
    partner: int
    source: int
    target: int
    communicator: int
    tag: int
    number: int
    size_bytes: int
    start_s: float
    end_s: float
    polls: int = 0


COLUMNS = Call.__struct_fields__[:-1]
Completed = dict[int, list[Call]]
"""The rows that each wait completes, by the wait's identity."""


@functools.cache
def is_begun_before(call: str) -> bool:
    """Whether a receive only begins in the call that it is named after."""
    return call in _BEGUN_RECEIVES or call.endswith("_init")


def completed_receives(rows: Iterable[Call]) -> Completed:
    """The receives that each wait of a thread completes."""
    completed: Completed = {}
    received = [row for row in rows if row.kind == "received" and is_begun_before(row.call)]
    received.sort(key=lambda row: row.end_s)
    waits = sorted((row for row in rows if row.kind == "waiting"), key=lambda row: row.end_s)
    index = 0
    for row in received:
        while index < len(waits) and waits[index].end_s < row.end_s - _EARLY_S:
            index += 1
        if index == len(waits):
            break
        completed.setdefault(id(waits[index]), []).append(row)
    return completed


def without_polls(rows: Sequence[Call], completed: Completed) -> list[Call]:
    """The rows with each loop of polls as one wait, or as part of the receive that follows it.

    What its polls completed is added to `completed` under the new row's identity.
    """
    merged: list[Call] = []
    polls: list[Call] = []
    for row in rows:
        follows = bool(polls) and row.start_s - polls[-1].end_s <= POLL_GAP_S
        if follows and row.call in POLLS and id(polls[-1]) not in completed:
            polls.append(row)
            continue
        if follows and len(polls) >= POLLS_MIN and row.call in _BLOCKING_RECEIVES:
            merged.append(replace(row, start_s=polls[0].start_s))
            polls = []
            continue
        merged += _as_one(polls, completed)
        polls = [row] if row.call in POLLS else []
        if not polls:
            merged.append(row)
    return merged + _as_one(polls, completed)


def _as_one(polls: list[Call], completed: Completed) -> list[Call]:
    if len(polls) < POLLS_MIN:
        return polls
    loop = replace(polls[-1], start_s=polls[0].start_s, polls=len(polls))
    if id(polls[-1]) in completed:
        completed[id(loop)] = completed[id(polls[-1])]
    return [loop]


class UnderWay:
    """Sends and operations of a thread that were begun and not completed yet, the oldest first."""

    def __init__(self) -> None:
        self._rows: list[Call] = []

    def begin(self, row: Call) -> None:
        """Record a send or an operation that a later wait completes."""
        call = row.call
        is_send = row.kind == "sent" and (call in _BEGUN_SENDS or call.endswith("_init"))
        if is_send or (row.kind == "collective" and is_non_blocking(call)):
            self._rows.append(row)

    def end(self, wait: Call, completed: Completed) -> list[Call]:
        """Remove and return what a wait completes; a single test mostly completes nothing."""
        is_loop = wait.polls > 0 and wait.call in TESTS
        if wait.call not in COMPLETES_ALL and id(wait) in completed:
            return []
        if not (wait.call.startswith("MPI_Wait") or is_loop):
            return []
        count = len(self._rows) if wait.call in COMPLETES_ALL else 1
        completed_rows, self._rows = self._rows[:count], self._rows[count:]
        return completed_rows

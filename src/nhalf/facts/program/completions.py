# SPDX-License-Identifier: Apache-2.0
"""What the waits of a thread complete, and polls that are one wait.

A trace says in which wait a receive ended. Of sends and non-blocking collective operations it does
not: MPI_Waitall is taken to complete all that are under way, and a wait that completes no receive
the oldest one. A program that tests in a loop until something is there waits: how often it tests,
and the time between, belong to that wait and not to the program's computing.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

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


@functools.cache
def is_begun_before(call: str) -> bool:
    """Whether a receive only begins in the call that it is named after."""
    return call in _BEGUN_RECEIVES or call.endswith("_init")


@functools.cache
def is_completed_later(call: str, kind: str) -> bool:
    """Whether a call begins a send or an operation that a later wait completes."""
    if kind == "sent":
        return call in _BEGUN_SENDS or call.endswith("_init")
    return kind == "collective" and is_non_blocking(call)


@dataclass(frozen=True)
class Calls:
    """The calls of a thread in order, a list for each column; a call is known by its place."""

    call: list[str]
    kind: list[str]
    start_s: list[float]
    end_s: list[float]

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Calls:
        """The columns of a timeline that are needed here."""
        return cls(*(rows[name].to_list() for name in ("call", "kind", "start_s", "end_s")))

    def places(self, kind: str) -> list[int]:
        """Where the calls of a kind stand."""
        return [place for place, of in enumerate(self.kind) if of == kind]


Completed = dict[int, list[int]]
"""The receives that each wait completes."""


def completed_receives(calls: Calls) -> Completed:
    """The receives that each wait of a thread completes."""
    completed: Completed = {}
    names, end_s = calls.call, calls.end_s
    received = [place for place in calls.places("received") if is_begun_before(names[place])]
    if not received:
        return completed
    received.sort(key=end_s.__getitem__)
    waits = sorted(calls.places("waiting"), key=end_s.__getitem__)
    index = 0
    for place in received:
        while index < len(waits) and end_s[waits[index]] < end_s[place] - _EARLY_S:
            index += 1
        if index == len(waits):
            break
        completed.setdefault(waits[index], []).append(place)
    return completed


@dataclass(frozen=True)
class Loops:
    """Loops of polls: the last poll stands for all of a loop, or the receive that follows it.

    `begin_s` is when such a call begins then, by its place; `merged` are the polls that go.
    """

    begin_s: dict[int, float]
    merged: set[int]


def loops_of_polls(calls: Calls, completed: Completed) -> Loops:
    """Find loops of polls; a poll that completes a receive ends its loop."""
    loops = Loops({}, set())
    names, start_s, end_s = calls.call, calls.start_s, calls.end_s
    if not any(map(POLLS.__contains__, set(names))):
        return loops
    polls: list[int] = []
    for place, call in enumerate(names):
        is_poll = call in POLLS
        if not (polls or is_poll):
            continue
        follows = bool(polls) and start_s[place] - end_s[polls[-1]] <= POLL_GAP_S
        if follows and is_poll and polls[-1] not in completed:
            polls.append(place)
            continue
        if len(polls) >= POLLS_MIN:
            before_receive = follows and call in _BLOCKING_RECEIVES
            last = place if before_receive else polls.pop()
            _merge(loops, polls, last, start_s)
        polls = [place] if is_poll else []
    if len(polls) >= POLLS_MIN:
        _merge(loops, polls, polls.pop(), start_s)
    return loops


def _merge(loops: Loops, polls: Sequence[int], last: int, start_s: Sequence[float]) -> None:
    """Let a call stand for the polls before it, too."""
    loops.begin_s[last] = start_s[polls[0]]
    loops.merged.update(polls)


class UnderWay:
    """Sends and operations of a thread that were begun and not completed yet, the oldest first."""

    def __init__(self, calls: Calls, completed: Completed, loops: Loops) -> None:
        self._calls = calls
        self._completed = completed
        self._loops = loops
        self._places: list[int] = []

    def ended(self) -> dict[int, list[int]]:
        """What each wait completes besides receives."""
        ended: dict[int, list[int]] = {}
        names = set(zip(self._calls.call, self._calls.kind, strict=True))
        if not any(is_completed_later(*name) for name in names):
            return ended
        is_merged = self._loops.merged.__contains__
        for place, (call, kind) in enumerate(zip(self._calls.call, self._calls.kind, strict=True)):
            if kind == "waiting":
                if self._places and not is_merged(place):
                    ended[place] = self._end(place, call)
            elif is_completed_later(call, kind):
                self._places.append(place)
        return ended

    def _end(self, place: int, call: str) -> list[int]:
        """Remove and return what a wait completes; a single test mostly completes nothing."""
        is_loop = place in self._loops.begin_s and call in TESTS
        if call not in COMPLETES_ALL and place in self._completed:
            return []
        if not (call.startswith("MPI_Wait") or is_loop):
            return []
        count = len(self._places) if call in COMPLETES_ALL else 1
        completed, self._places = self._places[:count], self._places[count:]
        return completed

"""Operations behind calls: collective ones in any variant, what waits complete, polls that wait.

A trace says in which wait a receive ended. Of sends and non-blocking collective operations it does
not: MPI_Waitall is taken to complete all that are under way, and a wait that completes no receive
the oldest one. A program that tests in a loop until something is there waits: how often it tests,
and the time between, belong to that wait and not to the program's computing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.operations import BY_NAME, TABLE

FROM_ROOT = tuple(o.name for o in TABLE if o.flow == "from_root")
"""Only the root is waited for."""
SCATTERS = tuple(name for name in FROM_ROOT if BY_NAME[name].has_blocks)
TO_ROOT = tuple(o.name for o in TABLE if o.flow == "to_root")
"""Only the root waits."""

FOR_ALL = tuple(
    o.name for o in TABLE if o.flow == "among_all" and not (o.has_blocks and o.is_varying)
)
"""Every rank waits for every other one, whatever the algorithm; those with a count or a type for
each pair of ranks (alltoallv, allgatherv) may have nothing for some, and scans go one way."""


IN_PLACE = ", in place"
"""After a call whose result comes where the data was: libraries have other algorithms for it."""
ROOT = ", root "
"""After a call, before the place of its root among its ranks, where that is not the first one."""
SHARES = ", shares "
"""After a call with a count for each rank, before the shares of its ranks, as far as a trace tells
them; they repeat themselves, so that 1 says that all are equal.
"""
BESIDE = ", beside "
"""After a call that is begun, before the sizes of all of its kind that one wait completes."""


@functools.cache
def operation(call: str) -> str:
    """'MPI_Ibcast', 'MPI_Bcast_init' and 'MPI_Bcast' are 'bcast'."""
    name = call.removeprefix("MPI_").partition(",")[0].removesuffix("_init")
    return name[1:] if _has_mark(name) else name.lower()


@functools.cache
def place_of_root(call: str) -> int:
    """The place of a call's root among its ranks."""
    return int(call.partition(ROOT)[2].partition(",")[0] or 0)


@functools.cache
def shares_of(call: str) -> str:
    """The shares of a call's ranks; '' if nothing tells them."""
    return call.partition(SHARES)[2]


@functools.cache
def with_any_root(call: str) -> str:
    """A call without the place of its root, the shares of its ranks, and what goes on beside it."""
    return re.sub(rf"{ROOT}\d+", "", call.partition(SHARES)[0].partition(BESIDE)[0])


@functools.cache
def sizes_beside(call: str) -> tuple[int, ...]:
    """The sizes of all that the wait for a call completes, in bytes; none if that is one."""
    return tuple(map(int, filter(None, call.partition(BESIDE)[2].split(":"))))


@functools.cache
def is_non_blocking(call: str) -> bool:
    """Whether a collective operation is completed by another call."""
    return is_persistent(call) or _has_mark(call.removeprefix("MPI_"))


def is_persistent(call: str) -> bool:
    """Whether a call sets up what others start."""
    return call.partition(",")[0].endswith("_init")


def _has_mark(name: str) -> bool:
    """The I of a nonblocking call is followed by a lower-case letter."""
    is_word = name.startswith("Intercomm")
    return name[:1] == "I" and name[1:2].islower() and not is_word


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
BLOCKING_SENDS = ("MPI_Send", "MPI_Rsend", "MPI_Ssend")
"""What waits for its receive from some size on: not a send that is also a receive, one into a
buffer, nor one that another call completes."""
_EARLY_S = 1e-9
Places = NDArray[np.integer[Any]]
"""A wait and what it completes end at one time stamp, but for rounding."""


@functools.cache
def is_begun_before(call: str) -> bool:
    """Whether a receive only begins in the call that it is named after."""
    return call in _BEGUN_RECEIVES or call.endswith("_init")


@dataclass(frozen=True)
class CallForm:
    """A call by its name, with its kind in the timeline and the kind of step that it is."""

    call: str
    of_kind: str
    kind: str

    @property
    def is_poll(self) -> bool:
        """Whether it may be one of a loop of polls."""
        return self.call in POLLS

    @property
    def blocks(self) -> bool:
        """Whether a large send returns only when its data is on the way."""
        return self.call in BLOCKING_SENDS

    @property
    def is_completed_later(self) -> bool:
        """Whether it begins a send or an operation that a later wait completes."""
        if self.of_kind == "sent":
            return self.call in _BEGUN_SENDS or self.call.endswith("_init")
        return self.of_kind == "collective" and is_non_blocking(self.call)

    @property
    def is_begun_receive(self) -> bool:
        """Whether it only begins a receive."""
        return self.of_kind == "received" and is_begun_before(self.call)


@dataclass(frozen=True)
class Calls:
    """The calls of a thread in order; a call is known by its place, `form` is its index in `forms`.

    Many calls have few forms, so that what depends on the name is decided once for each.
    """

    forms: Sequence[CallForm]
    form: Places
    start_s: Floats
    end_s: Floats

    def places(self, is_wanted: Callable[[CallForm], bool]) -> Places:
        """Where the calls of some forms stand."""
        return np.flatnonzero(self.of_form(is_wanted)[self.form])

    def of_form(self, is_true: Callable[[CallForm], bool]) -> NDArray[np.bool_]:
        """What is true of each form."""
        return np.array([is_true(form) for form in self.forms], bool)

    def at(self, place: int) -> CallForm:
        """The form of a call."""
        form: CallForm = self.forms[self.form[place]]
        return form


@dataclass(frozen=True, eq=False)
class Completed:
    """Pairs in the order of waits: the place of a wait, and that of a call that it completes."""

    waits: Places
    begun: Places

    @classmethod
    def of(cls, waits: Places, begun: Places) -> Completed:
        """Pairs in any order of waits."""
        order = np.argsort(waits, kind="stable")
        return cls(*(places[order].astype(np.int32) for places in (waits, begun)))

    def by_wait(self) -> dict[int, list[int]]:
        """The calls that each wait completes."""
        pairs = zip(self.waits.tolist(), self.begun.tolist(), strict=True)
        return {
            wait: [begun for _, begun in own] for wait, own in groupby(pairs, key=itemgetter(0))
        }

    def staying(self, stays: NDArray[np.bool_]) -> Completed:
        """The pairs of the calls that stay, by their places among these."""
        if stays.all():
            return self
        place, is_there = np.cumsum(stays) - 1, stays[self.waits]
        return Completed(place[self.waits[is_there]], place[self.begun[is_there]])


NOTHING = Completed(np.zeros(0, np.int64), np.zeros(0, np.int64))


def completed_receives(calls: Calls) -> Completed:
    """The receives that each wait of a thread completes."""
    received = _by_end(calls, lambda form: form.is_begun_receive)
    waits = _by_end(calls, lambda form: form.of_kind == "waiting")
    if not (len(received) and len(waits)):
        return NOTHING
    ends_s, waits_s = calls.end_s[received], calls.end_s[waits]
    first: Places = np.searchsorted(waits_s, ends_s - _EARLY_S)
    inside = np.minimum(first, len(waits) - 1)
    # In virtual time a wait may end at the very moment at which a receive begins and ends.
    if np.any((waits[inside] < received) & (waits_s[inside] <= ends_s)):
        first = _after_their_begins(received, waits, ends_s.tolist(), waits_s.tolist())
    received, first = received[first < len(waits)], first[first < len(waits)]
    return Completed.of(waits[first], received)


def _by_end(calls: Calls, is_wanted: Callable[[CallForm], bool]) -> Places:
    """Where the calls of some forms stand, in the order of their ends."""
    places = calls.places(is_wanted)
    return np.asarray(places[np.argsort(calls.end_s[places], kind="stable")])


def _after_their_begins(
    received: Places, waits: Places, ends_s: Sequence[float], waits_s: Sequence[float]
) -> Places:
    """Which wait completes each receive, where one that stands before it may end with it."""
    index = 0
    first = np.full(len(received), len(waits))
    for at, place in enumerate(received):
        while index < len(waits) and (
            waits_s[index] < ends_s[at] - _EARLY_S
            or (waits[index] < place and waits_s[index] <= ends_s[at])
        ):
            index += 1
        first[at] = index
    return first


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
    polled = set(calls.places(lambda form: form.is_poll).tolist())
    if not polled:
        return loops
    completing = set(completed.waits.tolist())
    start_s, end_s = calls.start_s.tolist(), calls.end_s.tolist()
    polls: list[int] = []
    for place in sorted(polled | {place + 1 for place in polled if place + 1 < len(start_s)}):
        is_poll = place in polled
        follows = bool(polls) and start_s[place] - end_s[polls[-1]] <= POLL_GAP_S
        if follows and is_poll and polls[-1] not in completing:
            polls.append(place)
            continue
        if len(polls) >= POLLS_MIN:
            before_receive = follows and calls.at(place).call in _BLOCKING_RECEIVES
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


def completed_otherwise(calls: Calls, received: Completed, loops: Loops) -> Completed:
    """The sends and operations that each wait of a thread completes, the oldest ones first; a
    single test mostly completes nothing.
    """
    begun = calls.places(lambda form: form.is_completed_later)
    is_wait = calls.of_form(lambda form: form.of_kind == "waiting")[calls.form]
    is_wait[list(loops.merged)] = False
    waits = np.flatnonzero(is_wait)
    if not (len(begun) and len(waits)):
        return NOTHING
    forms = calls.form[waits]
    takes_all = calls.of_form(lambda form: form.call in COMPLETES_ALL)[forms]
    ends_loop = calls.of_form(lambda form: form.call in TESTS)[forms]
    ends_loop &= np.isin(waits, list(loops.begin_s))
    may_take = ends_loop | calls.of_form(lambda form: form.call.startswith("MPI_Wait"))[forms]
    may_take &= takes_all | ~np.isin(waits, received.waits)
    most = np.where(may_take, np.where(takes_all, len(begun), 1), 0)
    # What is taken until a wait is at most what was begun, and what was taken before and by it.
    before, whole = np.searchsorted(begun, waits), np.cumsum(most)
    until = whole + np.minimum(np.minimum.accumulate(before - whole), 0)
    return Completed(np.repeat(waits, np.diff(until, prepend=0)), begun[: until[-1]])

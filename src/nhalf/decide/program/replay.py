"""Replay of a timeline: each rank makes its calls, which cost the times of a machine.

native/replay/ says how, and does it, as a library in this process: a timeline has gigabytes, which
a program would have to be sent for each machine. It gets columns where they lie, and stays within
them whatever they say. Ctrl-C takes effect after a replay: a second for ten million calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nhalf.base import native_files
from nhalf.base.arrays import Floats
from nhalf.decide.program.contention import Contention
from nhalf.decide.program.costs import Costs, work_s
from nhalf.decide.program.undisturbed import undisturbed
from nhalf.facts.program.operations import CallForm, is_non_blocking
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import (
    BOTH_WAYS,
    COLLECTIVE,
    POST,
    RECEIVE,
    SEND,
    WAIT,
    Actor,
)
from nhalf.facts.program.script import Completions, Script

LIBRARY = "libnhalf_replay.so"
_KINDS = (SEND, RECEIVE, POST, WAIT, COLLECTIVE)
_BLOCKS, _BEGINS, _BOTH_WAYS, _PROGRESSES = 1, 2, 4, 8
"""Kinds and traits of forms of steps, in the numbers of columns.hpp."""
Variant = tuple[Costs, float]
"""Costs, and how many times as long computing takes."""


@dataclass(slots=True)
class Spent:
    """The parts of the time of one actor, in seconds."""

    end_s: float = 0.0
    computing_s: float = 0.0
    messages_s: float = 0.0
    collectives_s: float = 0.0
    waiting_s: float = 0.0
    least_s: float = 0.0
    """Without the order of calls: the end if messages overlap computing and nobody waits."""


@dataclass(frozen=True, eq=False)
class Replay:
    """What a replay found: the times of every actor, in order, and when each of its calls began and
    ended, if that was asked for.

    `forced` are sends that had to go before their receive was posted, since all ranks waited.
    """

    script: Script
    spent: list[Spent]
    forced: int
    _begins_s: Floats
    _ends_s: Floats

    @property
    def last(self) -> int:
        """The place of the actor that ends last."""
        return max(range(len(self.spent)), key=lambda place: self.spent[place].end_s)

    @property
    def actor(self) -> Actor:
        """The actor that ends last."""
        return self.script.actors[self.last]

    @property
    def end_s(self) -> float:
        """When the last actor ends; 0 without any."""
        return max((actor.end_s for actor in self.spent), default=0.0)

    def ends_s(self, place: int) -> Floats:
        """When each call of an actor ended, and then the actor; NaN of a call that was skipped."""
        return np.append(self._ends_s[self._own(place)], self.spent[place].end_s)

    def spans_s(self, place: int) -> tuple[Floats, Floats]:
        """When each call of an actor began, and `ends_s`."""
        return self._begins_s[self._own(place)], self.ends_s(place)

    def _own(self, place: int) -> slice:
        return slice(*self.script.first[place : place + 2].tolist())


def replays(program: Program, variants: Sequence[Variant]) -> list[Replay]:
    """A replay of a program for each variant, without what others took of its ranks' processors."""
    script = undisturbed(program)
    return [replay(script, costs, computing) for costs, computing in variants]


def replay(
    script: Script,
    costs: Costs,
    computing: float = 1.0,
    contention: Contention | None = None,
    byte_s: float = 0.0,
    *,
    follows: bool = False,
) -> Replay:
    """The replay of a script, with the contention of each message and operation, where `byte_s` is
    what a byte of a send that streams keeps its sender for more. One that `follows` keeps when each
    call began and ended.
    """
    columns = _Columns()
    spent = np.zeros((len(script.actors), 5))
    spans_s = np.full((2, len(script.form) if follows else 0), np.nan)
    answer = _Answer(_Column(spent.ctypes.data, len(spent)), columns.add(spans_s[0], float),
                     columns.add(spans_s[1], float))  # fmt: skip
    run = native_files.library(LIBRARY).nhalf_replay
    run.restype = ctypes.c_char_p
    misfit: bytes | None = run(
        columns.struct(_script(columns, script, costs)),
        ctypes.byref(_costs(columns, script, costs, computing)),
        columns.struct(_contention(columns, script, costs, contention, byte_s)),
        ctypes.byref(answer),
    )
    if misfit == b"memory":
        raise MemoryError
    if misfit is not None:
        raise ValueError(f"the columns of a script do not fit each other: {misfit.decode()}")
    times = [Spent(*row) for row in spent.tolist()]
    return Replay(script, times, answer.forced, spans_s[0], spans_s[1])


class _Column(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_int64))


class _Costs(ctypes.Structure):
    _fields_ = (
        *(
            (name, _Column)
            for name in ("way", "crossing", "sending", "receiving", "work", "hidden", "wait")
        ),
        ("rendezvous_bytes", ctypes.c_int64),
        ("computing", ctypes.c_double),
    )


class _Answer(ctypes.Structure):
    _fields_ = (
        *((name, _Column) for name in ("spent", "begins_s", "ends_s")),
        ("forced", ctypes.c_int64),
    )


class _Columns:
    """Columns of the library, which live as long as this."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[np.generic]] = []

    def add(self, values: ArrayLike, kind: type) -> _Column:
        """A column of a type, copied only if it has another one."""
        array: NDArray[np.generic] = np.ascontiguousarray(values, kind)
        self._arrays.append(array)
        return _Column(array.ctypes.data, array.size)

    def by_actor(self, script: Script, values: Sequence[Floats]) -> _Column:
        """Columns of seconds, one for each actor and as long as its steps."""
        own = [self.add(seconds, float) for seconds in values]
        if [column.size for column in own] != np.diff(script.first).tolist():
            raise ValueError("the columns of a script do not fit each other: times of steps")
        return self.add([column.data for column in own], np.uintp)

    @staticmethod
    def struct(columns: Sequence[_Column]) -> ctypes.Array[_Column]:
        """Columns one after the other, as in the structures of columns.hpp."""
        return (_Column * len(columns))(*columns)


def _script(columns: _Columns, script: Script, costs: Costs) -> list[_Column]:
    """The columns of a timeline, in the order of columns.hpp."""
    add, actors, forms, parts = columns.add, script.actors, script.forms, script.parts
    ended = script.ended if _has_ended(script, costs) else Completions.of([])
    return [
        add([actor.rank for actor in actors], np.int32),
        add([actor.begin_s for actor in actors], float),
        add([actor.after_s for actor in actors], float),
        columns.by_actor(script, [actor.before_s for actor in actors]),
        columns.by_actor(script, [actor.measured_s for actor in actors]),
        add(script.first, np.int64),
        add([_KINDS.index(form.kind) for form in forms], np.uint8),
        add([_traits(form) for form in forms], np.uint8),
        add(script.form, np.int32),
        add(script.subject, np.int32),
        *(add(column, np.int32) for column in (script.awaited.step, script.awaited.completed)),
        *(add(column, np.int32) for column in (ended.step, ended.completed)),
        add(script.route, np.int32),
        add(script.always_waits, np.uint8),
        *(add([route[place] for route in script.routes], np.int32) for place in (0, 1)),
        add([size_bytes for _, _, size_bytes in script.routes], np.int64),
        *(add(column, np.int32) for column in (parts.operation, parts.work)),
        *(add(column, np.uint8) for column in (parts.role, parts.is_root)),
    ]


def _costs(columns: _Columns, script: Script, costs: Costs, computing: float) -> _Costs:
    """The columns of a machine."""
    routes, always_waits = script.routes, bool(script.always_waits.any())
    busy_s = np.array([costs.busy_s(*route) for route in routes]).reshape(-1, 2)
    crossing_s = [
        costs.crossing_s(*route) if always_waits or route[2] >= costs.rendezvous_bytes else 0.0
        for route in routes
    ]
    seconds = (
        [costs.message_s(*route) for route in routes],
        crossing_s,
        busy_s[:, 0],
        busy_s[:, 1],
        [work_s(costs, work) for work in script.parts.works],
        [costs.hidden_s(*work) for work in script.parts.works],
        _shortest_waits_s(script, costs),
    )
    members = (columns.add(column_s, float) for column_s in seconds)
    return _Costs(*members, costs.rendezvous_bytes, computing)


def _contention(
    columns: _Columns, script: Script, costs: Costs, contention: Contention | None, byte_s: float
) -> list[_Column]:
    """The columns of contention; without it they are empty."""
    if contention is None:
        return [columns.add([], float)] * 6
    add = columns.add
    return [
        add(contention.sends_s + contention.streams_bytes * byte_s, float),
        add(contention.receives_s, float),
        add(contention.transits_s, float),
        add(contention.before, np.int32),
        add([costs.port_s(*route) for route in script.routes], float),
        add(np.nan_to_num(contention.operations_s), float),
    ]


def _traits(form: CallForm) -> int:
    """What else is known of a form; a call that only begins an operation progresses nothing."""
    begins = form.kind == COLLECTIVE and is_non_blocking(form.call)
    progresses = form.kind in (RECEIVE, WAIT) or form.blocks
    progresses |= form.kind == COLLECTIVE and not begins
    return (
        _BLOCKS * form.blocks
        | _BEGINS * begins
        | _BOTH_WAYS * (form.call in BOTH_WAYS)
        | _PROGRESSES * progresses
    )


def _has_ended(script: Script, costs: Costs) -> bool:
    """Whether waits complete sends that wait for their receives, or operations."""
    if any(form.kind == COLLECTIVE and form.is_completed_later for form in script.forms):
        return True
    largest_bytes = max((size_bytes for _, _, size_bytes in script.routes), default=-1)
    return largest_bytes >= costs.rendezvous_bytes or bool(script.always_waits.any())


def _shortest_waits_s(script: Script, costs: Costs) -> list[float]:
    """By form: the shortest time of a wait's call; 0 of other forms, and if calls take none."""
    if not costs.calls_take_time:
        return [0.0] * len(script.forms)
    least_s = next((actor.least_s for actor in script.actors if actor.forms), {})
    return [least_s.get(form.call, 0.0) if form.kind == WAIT else 0.0 for form in script.forms]

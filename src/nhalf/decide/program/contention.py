"""Contention: what each message and operation of a trace took beyond its cost.

Costs are those of a message alone. In the program messages slow each other down, ranks lose their
core, and a library polls others: the replay of a slower network keeps what each message and
operation of the trace lost that way, so that a replay without a change is the trace.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.decide.program.costs import Costs, work_s
from nhalf.facts.program.operations import CallForm, is_non_blocking
from nhalf.facts.program.schedule import BOTH_WAYS, COLLECTIVE, POST, RECEIVE, SEND, WAIT
from nhalf.facts.program.script import Completions, Script
from nhalf.machines.network import Columns, NativeColumn, ask

_KINDS = (SEND, RECEIVE, POST, WAIT, COLLECTIVE)
_BLOCKS, _BEGINS, _BOTH_WAYS, _PROGRESSES = 1, 2, 4, 8
"""Kinds and traits of forms of steps, in the numbers of columns.hpp."""


class CostColumns(ctypes.Structure):
    """The columns of a machine, as columns.hpp has them."""

    _fields_ = (
        *(
            (name, NativeColumn)
            for name in ("way", "crossing", "sending", "receiving", "work", "hidden", "wait")
        ),
        ("rendezvous_bytes", ctypes.c_int64),
        ("computing", ctypes.c_double),
    )


def _by_actor(columns: Columns, script: Script, values: Sequence[Floats]) -> NativeColumn:
    """Columns of seconds, one for each actor and as long as its steps."""
    own = [columns.add(seconds, float) for seconds in values]
    if [column.size for column in own] != np.diff(script.first).tolist():
        raise ValueError("the columns of a script do not fit each other: times of steps")
    return columns.add([column.data for column in own], np.uintp)


def script_columns(columns: Columns, script: Script, costs: Costs) -> list[NativeColumn]:
    """The columns of a timeline, in the order of columns.hpp."""
    add, actors, forms, parts = columns.add, script.actors, script.forms, script.parts
    ended = script.ended if _has_ended(script, costs) else Completions.of([])
    return [
        add([actor.rank for actor in actors], np.int32),
        add([actor.begin_s for actor in actors], float),
        add([actor.after_s for actor in actors], float),
        _by_actor(columns, script, [actor.before_s for actor in actors]),
        _by_actor(columns, script, [actor.measured_s for actor in actors]),
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


def cost_columns(
    columns: Columns, script: Script, costs: Costs, computing: float = 1.0
) -> CostColumns:
    """The columns of a machine."""
    messages = costs.of_routes(script.routes)
    works = zip(script.parts.works, script.parts.seats, strict=True)
    operations_s = np.array([work_s(costs, *own) for own in works]).reshape(-1, 2)
    seconds = (*messages[:-1], *operations_s.T, _shortest_waits_s(script, costs))
    members = (columns.add(column_s, float) for column_s in seconds)
    return CostColumns(*members, costs.rendezvous_bytes, computing)


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


STREAMED = 0.5
"""A blocking send that takes this share of what its bytes take ends when they have left."""


@dataclass(frozen=True)
class Contention:
    """Seconds beyond the costs: by message on its way, in its send and its receive; by part in an
    operation, NaN if it is unknown.

    `before` is the message that came into the same rank before, `streams_bytes` the size of each
    message whose send ends when its bytes have left, else 0.
    """

    transits_s: Floats
    sends_s: Floats
    receives_s: Floats
    before: NDArray[np.int32]
    streams_bytes: NDArray[np.int64]
    operations_s: Floats


def contention(script: Script, costs: Costs) -> Contention:
    """What the messages and operations of a script took beyond the costs."""
    begins_s, ends_s = script.times_s
    beyond = _observed(script, costs, begins_s, ends_s)
    sizes = np.array([size_bytes for _, _, size_bytes in script.routes], np.int64)
    empty = [(source, target, 0) for source, target, _ in script.routes]
    bytes_s = costs.of_routes(script.routes).way_s - costs.of_routes(empty).way_s
    bytes_s, sizes = bytes_s[script.route], sizes[script.route]
    streams = (bytes_s > 0) & (beyond.sends_s >= STREAMED * bytes_s)
    operations_s = _operations_s(script, costs, begins_s, ends_s)
    return replace(beyond, streams_bytes=np.where(streams, sizes, 0), operations_s=operations_s)


def _observed(script: Script, costs: Costs, begins_s: Floats, ends_s: Floats) -> Contention:
    """Messages by when each step began and ended (native/replay/observation.hpp)."""
    columns, messages = Columns(), len(script.route)
    sends_s, receives_s, transits_s = np.zeros((3, messages))
    before = np.full(messages, -1, np.int32)
    moments_s = [costs.of_routes(script.routes).port_s, begins_s, ends_s]
    beyond = [columns.add(seconds, float) for seconds in (sends_s, receives_s, transits_s)]
    misfit = ask(
        "nhalf_observe",
        columns.struct(script_columns(columns, script, costs)),
        ctypes.byref(cost_columns(columns, script, costs)),
        columns.struct([columns.add(seconds, float) for seconds in moments_s]),
        columns.struct([*beyond, columns.add(before, np.int32)]),
    )
    if misfit:
        raise ValueError(f"the columns of a script do not fit each other: {misfit}")
    streams_bytes, operations_s = np.zeros(messages, np.int64), np.zeros(len(script.parts.step))
    return Contention(transits_s, sends_s, receives_s, before, streams_bytes, operations_s)


def _operations_s(script: Script, costs: Costs, begins_s: Floats, ends_s: Floats) -> Floats:
    """By part: its end after the last arrival that counts, less its cost; NaN of operations that
    another call ends.
    """
    parts = script.parts
    if not len(parts.step):
        return np.zeros(0)
    begins_s, ends_s = begins_s[parts.step], ends_s[parts.step]
    is_begun = np.array([is_non_blocking(form.call) for form in script.forms], bool)[parts.form]
    latest_s, root_s = (np.full(parts.operations, -np.inf) for _ in range(2))
    np.maximum.at(latest_s, parts.operation, begins_s)
    root_s[parts.operation[parts.is_root]] = begins_s[parts.is_root]
    last_s = np.choose(
        parts.role,
        [latest_s[parts.operation], root_s[parts.operation], np.full(len(begins_s), -np.inf)],
    )
    cost_s = np.array([work_s(costs, work)[0] for work in parts.works])[parts.work]
    some_begun = np.bincount(parts.operation[is_begun], minlength=parts.operations) > 0
    more_s = ends_s - np.maximum(begins_s, last_s) - cost_s
    return np.where(some_begun[parts.operation], np.nan, more_s)

"""A script and costs as the columns that native/replay takes."""

import ctypes
from collections.abc import Sequence

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.decide.program.costs import Costs, work_s
from nhalf.facts.program.operations import CallForm, is_non_blocking
from nhalf.facts.program.schedule import BOTH_WAYS, COLLECTIVE, POST, RECEIVE, SEND, WAIT
from nhalf.facts.program.script import Completions, Script
from nhalf.machines.network import Columns, NativeColumn

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

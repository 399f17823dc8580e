# SPDX-License-Identifier: Apache-2.0
"""What each rank does one call after another, from a timeline: to be replayed or written down.

Time outside MPI stands before each call. A message is known by its ends, communicator, tag and
its number among such: MPI keeps their order. What was begun before is completed by the wait that
completions.py finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.completions import (
    COLUMNS,
    Call,
    Completed,
    UnderWay,
    completed_receives,
    is_begun_before,
    without_polls,
)
from nhalf.facts.program.program import Program

SEND, RECEIVE, POST, WAIT, COLLECTIVE = "send", "receive", "post", "wait", "collective"
KINDS = {"sent": SEND, "received": RECEIVE, "collective": COLLECTIVE}
"""The kinds of steps by those of calls; all others wait."""
_ORDER = {"sent": 0, "received": 1, "collective": 2, "one-sided": 3, "waiting": 4}
SHORT_S = 2e-6
"""A wait that takes longer has waited."""
ALWAYS_WAITS = ("MPI_Ssend", "MPI_Issend", "MPI_Ssend_init")
_BLOCKING_SENDS = ("MPI_Send", "MPI_Rsend", "MPI_Ssend")
"""What waits for its receive from some size on: not a send that is also a receive, one into a
buffer, nor one that another call completes."""
_BOTH_WAYS = ("MPI_Sendrecv", "MPI_Sendrecv_replace")

Message = tuple[int, int, int, int, int]
"""Source, target, communicator, tag, and number among the messages with these four."""


class Step(msgspec.Struct, frozen=True, gc=False):
    """One call: `before_s` outside MPI, then `measured_s` inside.

    `message` is that of a send or receive, `completes` those that a wait receives, `sends` and
    `operations` what else it completes; `number` counts the collective operations of a
    communicator. `least_s` is what a call that moves nothing by itself (a wait, a receive that only
    begins) took when it was shortest.
    """

    kind: str
    call: str
    before_s: float
    measured_s: float
    size_bytes: int = 0
    message: Message | None = None
    completes: tuple[Message, ...] = ()
    communicator: int = 0
    partner: int = -2
    number: int = 0
    least_s: float = 0.0
    sends: tuple[Message, ...] = ()
    operations: tuple[Step, ...] = ()

    @property
    def blocks(self) -> bool:
        """Whether a large send returns only when its data is on the way."""
        return self.call in _BLOCKING_SENDS


@dataclass
class Actor:
    """A thread of a rank: its steps, when it begins, and what it does after the last call."""

    rank: int
    thread: int
    begin_s: float
    after_s: float = 0.0
    steps: list[Step] = field(default_factory=list)


@fact
def schedule(program: Program) -> list[Actor]:
    """The steps of every thread of every rank, in the order of ranks."""
    calls = numbered(program)
    least_s = _shortest(calls)
    actors = []
    records = {record.rank: record for record in program.trace.ranks}
    first_s = min((record.begin_s for record in program.trace.ranks), default=0.0)
    for (rank, thread), rows in calls.select(COLUMNS).group_by(
        ["rank", "thread"], maintain_order=True
    ):
        record = records.get(int(str(rank)))
        begin_s = (record.begin_s if record else first_s) - first_s
        actor = Actor(int(str(rank)), int(str(thread)), begin_s)
        last_s = _steps(actor, calls_of(rows), begin_s + first_s, least_s)
        if record is not None and thread == 0:
            actor.after_s = max(0.0, record.end_s - last_s)
        actors.append(actor)
    silent = set(records) - {actor.rank for actor in actors}
    for rank in silent:
        record = records[rank]
        actors.append(Actor(rank, 0, record.begin_s - first_s, record.end_s - record.begin_s))
    return sorted(actors, key=lambda actor: (actor.rank, actor.thread))


@fact
def numbered(program: Program) -> pl.DataFrame:
    """The calls in order, with `number` among messages or collective operations of one kind."""
    ends = pl.when(pl.col("kind") == "received")
    source = ends.then("partner").otherwise("rank").alias("source")
    target = ends.then("rank").otherwise("partner").alias("target")
    order = pl.col("kind").replace_strict(_ORDER, default=9, return_dtype=pl.Int32)
    ordered = program.timeline.with_columns(source, target, order=order).sort(
        "rank", "start_s", "thread", "order"
    )
    keys = ["kind", "source", "target", "communicator", "tag"]
    is_collective = pl.col("kind") == "collective"
    message = pl.int_range(pl.len()).over(keys)
    operation = pl.int_range(pl.len()).over("kind", "rank", "communicator")
    number = pl.when(is_collective).then(operation).otherwise(message)
    return ordered.with_columns(number=number).sort("rank", "thread", "start_s", "order")


def calls_of(rows: pl.DataFrame) -> list[Call]:
    """The rows of a table with COLUMNS, in a tenth of the time that dictionaries take."""
    return list(map(Call, *(rows[name].to_list() for name in COLUMNS)))


def _shortest(timeline: pl.DataFrame) -> dict[str, float]:
    """The shortest call of each kind of wait, which found that there was nothing to wait for."""
    waits = timeline.filter(pl.col("kind") == "waiting")
    shortest = waits.group_by("call").agg((pl.col("end_s") - pl.col("start_s")).min())
    return {call: time_s for call, time_s in shortest.iter_rows() if 0 <= time_s <= SHORT_S}


def _steps(actor: Actor, rows: list[Call], begin_s: float, least_s: Mapping[str, float]) -> float:
    """Adds the steps of one thread; returns when the last call ended."""
    completed = completed_receives(rows)
    under_way, step_by_row = UnderWay(), dict[int, Step]()
    last_s, sent = begin_s, list[Call]()
    for row in without_polls(rows, completed):
        before_s = max(0.0, row.start_s - last_s)
        begun = row.kind == "received" and is_begun_before(row.call)
        end_s = row.start_s if begun else row.end_s
        completed_rows = under_way.end(row, completed) if row.kind == "waiting" else []
        if row.kind == "received" and row.call in _BOTH_WAYS:
            completed_rows = sent
        ended = _ended(completed_rows, step_by_row) if completed_rows else NOTHING
        step = _step(row, (before_s, max(0.0, end_s - row.start_s)), completed, least_s, ended)
        under_way.begin(row)
        if _is_collective(row):
            step_by_row[id(row)] = step
        sent = [row] if row.kind == "sent" and row.call in _BOTH_WAYS else []
        actor.steps.append(step)
        last_s = max(last_s, end_s)
    return last_s


def _message(row: Call) -> Message:
    return (row.source, row.target, row.communicator, row.tag, row.number)


def _ended(
    rows: Sequence[Call], step_by_row: Mapping[int, Step]
) -> tuple[tuple[Message, ...], tuple[Step, ...]]:
    """The sends and the operations among what a call completes."""
    sends = [_message(row) for row in rows if _has_message(row)]
    return tuple(sends), tuple([step_by_row[id(row)] for row in rows if _is_collective(row)])


NOTHING: tuple[tuple[Message, ...], tuple[Step, ...]] = ((), ())


def _is_collective(row: Call) -> bool:
    return bool(row.kind == "collective")


def _has_message(row: Call) -> bool:
    return row.kind in ("sent", "received") and row.partner >= 0


def _step(
    row: Call,
    times_s: tuple[float, float],
    completed: Completed,
    least_s: Mapping[str, float],
    ended: tuple[tuple[Message, ...], tuple[Step, ...]],
) -> Step:
    """The step of a row; `times_s` are before the call and in it, `ended` what else it completes:
    sends and operations.
    """
    kind = KINDS.get(row.kind, WAIT)
    if kind == RECEIVE and is_begun_before(row.call):
        kind = POST
    receives = completed.get(id(row)) if kind == WAIT else None
    return Step(
        kind,
        row.call,
        *times_s,
        row.size_bytes,
        _message(row) if _has_message(row) else None,
        tuple([_message(row) for row in receives if _has_message(row)]) if receives else (),
        row.communicator,
        row.partner,
        row.number,
        least_s.get(row.call, 0.0) if kind == WAIT else 0.0,
        *ended,
    )


def paired_messages(actors: Sequence[Actor]) -> set[Message]:
    """Messages of which both ends were traced: the others would never end."""
    steps = [step for actor in actors for step in actor.steps if step.message is not None]
    sent = {step.message for step in steps if step.kind == SEND}
    received = {step.message for step in steps if step.kind in (RECEIVE, POST)}
    return {message for message in sent & received if message is not None}


def members_of(actors: Sequence[Actor]) -> dict[int, list[int]]:
    """The ranks of each communicator on which there are collective operations."""
    ranks_by_communicator: dict[int, set[int]] = {}
    for actor in actors:
        for step in actor.steps:
            if step.kind == COLLECTIVE:
                ranks_by_communicator.setdefault(step.communicator, set()).add(actor.rank)
    return {communicator: sorted(ranks) for communicator, ranks in ranks_by_communicator.items()}

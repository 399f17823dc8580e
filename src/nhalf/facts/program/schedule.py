# SPDX-License-Identifier: Apache-2.0
"""What each rank does one call after another, from a timeline: to be replayed or written down.

Time outside MPI stands before each call. A message is known by its ends, communicator, tag and
its number among such: MPI keeps their order. What was begun before is completed by the wait that
completions.py finds.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import replace

from nhalf.facts.fact import fact
from nhalf.facts.program.completions import (
    Calls,
    Loops,
    UnderWay,
    completed_receives,
    is_begun_before,
    loops_of_polls,
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
    for (rank, thread), rows in calls.group_by(["rank", "thread"], maintain_order=True):
        record = records.get(int(str(rank)))
        begin_s = (record.begin_s if record else first_s) - first_s
        actor = Actor(int(str(rank)), int(str(thread)), begin_s)
        last_s = _add_steps(actor, rows, begin_s + first_s, least_s)
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


def _shortest(timeline: pl.DataFrame) -> dict[str, float]:
    """The shortest call of each kind of wait, which found that there was nothing to wait for."""
    waits = timeline.filter(pl.col("kind") == "waiting")
    shortest = waits.group_by("call").agg((pl.col("end_s") - pl.col("start_s")).min())
    return {call: time_s for call, time_s in shortest.iter_rows() if 0 <= time_s <= SHORT_S}


def _add_steps(
    actor: Actor, rows: pl.DataFrame, begin_s: float, least_s: Mapping[str, float]
) -> float:
    """Adds the steps of one thread; returns when the last call ended."""
    calls = Calls.of(rows)
    completed = completed_receives(calls)
    loops = loops_of_polls(calls, completed)
    ended = UnderWay(calls, completed, loops).ended()
    kinds = list(map(_kind, calls.kind, calls.call))
    before_s, measured_s, last_s = _times_s(calls, kinds, loops, begin_s)
    least = [
        least_s.get(call, 0.0) if kind == WAIT else 0.0
        for kind, call in zip(kinds, calls.call, strict=True)
    ]
    sizes, *ends = (
        rows[name].to_list() for name in ("size_bytes", "communicator", "partner", "number")
    )
    own, receives, sends = _messages(rows, calls, completed, ended)
    columns: list[list[Any]] = [kinds, calls.call, before_s, measured_s, sizes, own, receives]
    steps: list[Step] = list(map(Step, *columns, *ends, least, sends))
    for wait, places in ended.items():
        operations = tuple([steps[place] for place in places if kinds[place] == COLLECTIVE])
        if operations:
            steps[wait] = replace(steps[wait], operations=operations)
    merged = loops.merged
    actor.steps += [step for place, step in enumerate(steps) if place not in merged]
    return last_s


@functools.cache
def _kind(kind: str, call: str) -> str:
    """The kind of step of a call."""
    step = KINDS.get(kind, WAIT)
    return POST if step == RECEIVE and is_begun_before(call) else step


def _times_s(
    calls: Calls, kinds: Sequence[str], loops: Loops, begin_s: float
) -> tuple[list[float], list[float], float]:
    """The time before each call and in it, and when the last one ended; 0 for merged polls."""
    start_s, end_s = np.array(calls.start_s), np.array(calls.end_s)
    start_s[list(loops.begin_s)] = list(loops.begin_s.values())
    end_s = np.where(np.array(kinds) == POST, start_s, end_s)
    before_s, measured_s = np.zeros((2, len(start_s)))
    stays = np.ones(len(start_s), bool)
    stays[list(loops.merged)] = False
    latest_s = np.maximum.accumulate(np.concatenate([[begin_s], end_s[stays]]))
    before_s[stays] = np.maximum(0.0, start_s[stays] - latest_s[:-1])
    measured_s[stays] = np.maximum(0.0, end_s[stays] - start_s[stays])
    return before_s.tolist(), measured_s.tolist(), float(latest_s[-1])


def _messages(
    rows: pl.DataFrame,
    calls: Calls,
    completed: Mapping[int, Sequence[int]],
    ended: Mapping[int, Sequence[int]],
) -> tuple[list[Message | None], list[tuple[Message, ...]], list[tuple[Message, ...]]]:
    """By call: its own message, the receives that it completes, and the sends that it does."""
    keys = ("source", "target", "communicator", "tag", "number")
    is_message = pl.col("kind").is_in(["sent", "received"]) & (pl.col("partner") >= 0)
    has_message = rows.select(is_message).to_series().to_list()
    messages: list[Message] = list(zip(*(rows[name].to_list() for name in keys), strict=True))
    own = [message if has else None for message, has in zip(messages, has_message, strict=True)]
    nothing: tuple[Message, ...] = ()
    receives, sends = [nothing] * len(own), [nothing] * len(own)
    for wait, places in completed.items():
        receives[wait] = tuple([messages[place] for place in places if has_message[place]])
    for wait, places in ended.items():
        sends[wait] = tuple([messages[place] for place in places if has_message[place]])
    for place in _both_ways(calls):
        sends[place] = (messages[place - 1],) if has_message[place - 1] else nothing
    return own, receives, sends


def _both_ways(calls: Calls) -> list[int]:
    """The receives that follow the send of one call."""
    if not set(_BOTH_WAYS).intersection(calls.call):
        return []
    ways = [
        kind if call in _BOTH_WAYS else ""
        for kind, call in zip(calls.kind, calls.call, strict=True)
    ]
    pairs = enumerate(pairwise(ways), 1)
    return [place for place, pair in pairs if pair == ("sent", "received")]


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

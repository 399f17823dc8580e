"""What each rank does one call after another, from a timeline: to be replayed or written down.

Time outside MPI stands before each call. A message is known by its ends, communicator, tag and
its number among such: MPI keeps their order. What was begun before is completed by the wait that
operations.py finds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program import operations as operation_facts
from nhalf.facts.program.distinct import Whole, distinct_rows, place_of_each
from nhalf.facts.program.pairing import Pairing, paired
from nhalf.facts.program.program import Program
from nhalf.measure.traced import tables

SEND, RECEIVE, POST, WAIT, COLLECTIVE = "send", "receive", "post", "wait", "collective"
KINDS = {"sent": SEND, "received": RECEIVE, "collective": COLLECTIVE}
"""The kinds of steps by those of calls; all others wait."""
_ORDER = {"sent": 0, "received": 1, "collective": 2, "one-sided": 3, "waiting": 4}
SHORT_S = 2e-6
"""A wait that takes longer has waited."""
ALWAYS_WAITS = ("MPI_Ssend", "MPI_Issend", "MPI_Ssend_init")
BOTH_WAYS = ("MPI_Sendrecv", "MPI_Sendrecv_replace")

_HAS_MESSAGE = pl.col("kind").is_in(["sent", "received"]) & (pl.col("partner") >= 0)
MESSAGE_KEYS = ("source", "target", "communicator", "tag", "number")
_OF_SENDS = ("communicator", "tag", "number", "size_bytes")
_RECEIVES = pl.when(pl.col("kind") == "received")
_ENDS = {
    "source": _RECEIVES.then("partner").otherwise("rank"),
    "target": _RECEIVES.then("rank").otherwise("partner"),
}

Message = tuple[int, int, int, int, int]
"""Source, target, communicator, tag, and number among the messages with these four."""


class ScheduledCall(msgspec.Struct, frozen=True, gc=False):
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
    operations: tuple[ScheduledCall, ...] = ()

    @property
    def blocks(self) -> bool:
        """Whether a large send returns only when its data is on the way."""
        return self.call in operation_facts.BLOCKING_SENDS


@dataclass(eq=False)
class Actor:
    """A thread of a rank: its steps, when it begins, and what it does after the last call.

    Its steps are columns, by their places: a replay takes a few of them only. `form` is the index
    of a step in `forms`. `message` is the number of its own message among those of which both ends
    were traced, -1 if it has none. `completes` has the receives that waits complete; `find_ended`
    finds the sends and operations. `rows` has the columns of the timeline.
    """

    rank: int
    thread: int
    begin_s: float
    after_s: float = 0.0
    forms: Sequence[operation_facts.CallForm] = ()
    form: operation_facts.Places = field(default_factory=lambda: np.zeros(0, np.int64))
    before_s: Floats = field(default_factory=lambda: np.zeros(0))
    measured_s: Floats = field(default_factory=lambda: np.zeros(0))
    message: operation_facts.Places = field(default_factory=lambda: np.zeros(0, np.int64))
    completes: operation_facts.Completed = operation_facts.NOTHING
    find_ended: Callable[[], operation_facts.Completed] = lambda: operation_facts.NOTHING
    least_s: Mapping[str, float] = field(default_factory=dict)
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)

    @cached_property
    def ended(self) -> operation_facts.Completed:
        """The sends and operations that waits complete."""
        return self.find_ended()

    @cached_property
    def _ended_by_wait(self) -> dict[int, list[int]]:
        return self.ended.by_wait()

    @property
    def times_s(self) -> tuple[Floats, Floats]:
        """When each call began and ended; of loops of polls, when the first one began."""
        if not len(self.form):
            return np.zeros(0), np.zeros(0)
        ends_s = self.rows["end_s"].to_numpy().astype(float)
        return ends_s - self.measured_s, ends_s

    def form_at(self, place: int) -> operation_facts.CallForm:
        """The form of a step."""
        form: operation_facts.CallForm = self.forms[self.form[place]]
        return form

    def column(self, name: str) -> NDArray[np.int64]:
        """A column of whole numbers of the timeline, by steps."""
        return self.rows[name].to_numpy() if len(self.form) else np.zeros(0, np.int64)

    def places_of(self, kind: str) -> operation_facts.Places:
        """The places of the steps of a kind."""
        chosen = np.array([form.kind == kind for form in self.forms], bool)
        return np.flatnonzero(chosen[self.form]) if len(self.form) else np.zeros(0, np.int64)

    def sends_of(self, place: int) -> list[int]:
        """The places of the sends that a step completes."""
        if place in self._ended_by_wait:
            return [sent for sent in self._ended_by_wait[place] if self.form_at(sent).kind == SEND]
        form, before = self.form_at(place), self.form_at(place - 1)
        if place == 0 or (before.kind, form.kind) != (SEND, RECEIVE):
            return []
        return [place - 1] if form.call in BOTH_WAYS and before.call in BOTH_WAYS else []

    def operations_of(self, place: int) -> list[int]:
        """The places of the operations that a step completes."""
        begun = self._ended_by_wait.get(place, ())
        return [started for started in begun if self.form_at(started).kind == COLLECTIVE]

    def waits_s(self, place: int) -> float:
        """The shortest time of a wait's call; 0 of other steps."""
        form = self.form_at(place)
        return self.least_s.get(form.call, 0.0) if form.kind == WAIT else 0.0

    @cached_property
    def steps(self) -> list[ScheduledCall]:
        """All steps as objects, for what needs every column."""
        if not len(self.form):
            return []
        by_row = self.rows.with_columns(**_ENDS).select(_HAS_MESSAGE, *MESSAGE_KEYS)
        own: list[Message | None] = [
            (source, target, communicator, tag, number) if has else None
            for has, source, target, communicator, tag, number in by_row.iter_rows()
        ]
        received = self.completes.by_wait()
        names = ("communicator", "number", "partner", "size_bytes")
        whole = (self.rows[name].to_list() for name in names)
        columns = zip(self.before_s.tolist(), self.measured_s.tolist(), *whole, strict=True)
        steps: list[ScheduledCall] = []
        for place, (before_s, measured_s, communicator, number, partner, size) in enumerate(
            columns
        ):
            form = self.form_at(place)
            completes = [own[receive] for receive in received.get(place, ())]
            sends = [own[sent] for sent in self.sends_of(place)]
            step = ScheduledCall(
                form.kind,
                form.call,
                before_s,
                measured_s,
                size,
                own[place],
                tuple([message for message in completes if message is not None]),
                communicator,
                partner,
                number,
                self.waits_s(place),
                tuple([message for message in sends if message is not None]),
                tuple([steps[begun] for begun in self.operations_of(place)]),
            )
            steps.append(step)
        return steps


@fact
def schedule(program: Program) -> list[Actor]:
    """The steps of every thread of every rank, in the order of ranks."""
    calls = numbered(program)
    took_s = pl.col("end_s") - pl.col("start_s")
    waits = calls.lazy().filter(pl.col("kind") == "waiting").group_by("call").agg(took_s.min())
    least_s = {
        call: time_s for call, time_s in waits.collect().iter_rows() if 0 <= time_s <= SHORT_S
    }
    forms, form = call_forms(program)
    message = pairing(program).message
    actors = []
    records = {record.rank: record for record in program.trace.ranks}
    first_s = min((record.begin_s for record in program.trace.ranks), default=0.0)
    for begin, end in threads(program):
        rows = calls[begin:end]
        rank, thread = rows.row(0)[:2]
        record = records.get(rank)
        begin_s = (record.begin_s if record else first_s) - first_s
        actor = Actor(rank, thread, begin_s, forms=forms, least_s=least_s)
        last_s = _add_steps(actor, rows, form[begin:end], message[begin:end], begin_s + first_s)
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
    """The calls by rank, thread and start, with `number` among messages with the same ends,
    communicator and tag, or among collective operations of a rank on a communicator.
    """
    return _ordered(program)[0].with_columns(number=pairing(program).number)


@fact
def messages(program: Program) -> pl.DataFrame:
    """The messages of which both ends were traced: the others would never end.

    They are in the order of MESSAGE_KEYS; `row` and `row_received` are their places among the
    numbered calls.
    """
    calls, pairs = numbered(program), pairing(program)
    names = {"source": "rank", "target": "partner"} | {name: name for name in _OF_SENDS}
    of_sends = {name: calls[own].to_numpy()[pairs.sent] for name, own in names.items()}
    return pl.DataFrame(of_sends | {"row": pairs.sent, "row_received": pairs.received})


@fact
def pairing(program: Program) -> Pairing:
    """What belongs together, by the rows of the numbered calls."""
    return _ordered(program)[1]


@fact
def _ordered(program: Program) -> tuple[pl.DataFrame, Pairing]:
    """The calls in order, without a copy if they are, and what belongs together."""
    calls = program.timeline
    pairs = paired(calls, _order(calls))
    if pairs is None:
        calls = calls.with_columns(order=_order(calls))
        calls = calls.sort("rank", "thread", "start_s", "order").drop("order")
        pairs = paired(calls, _order(calls))
        assert pairs is not None
    return calls, pairs


def _order(calls: pl.DataFrame) -> NDArray[np.uint8]:
    """The order of calls that begin together, by their kinds."""
    numbers = np.array([_ORDER[kind] for kind in tables.KINDS], np.uint8)
    kinds = calls["kind"].cast(tables.NAMES["kind"]).to_physical().to_numpy()
    chosen: NDArray[np.uint8] = numbers[kinds]
    return chosen


@fact
def threads(program: Program) -> list[tuple[int, int]]:
    """Where the numbered calls of each thread of each rank begin and end."""
    calls = numbered(program)
    rank, thread = calls["rank"].to_numpy(), calls["thread"].to_numpy()
    begins = np.flatnonzero((rank[1:] != rank[:-1]) | (thread[1:] != thread[:-1])) + 1
    return list(itertools.pairwise([0, *begins.tolist(), len(calls)] if len(calls) else []))


@fact
def call_forms(program: Program) -> tuple[list[operation_facts.CallForm], Whole]:
    """The forms of the numbered calls, and the place of each call's among them."""
    calls = numbered(program)
    names = [calls[name].cast(kind) for name, kind in tables.NAMES.items()]
    form = distinct_rows(*(name.to_physical().to_numpy() for name in names))
    rows = calls.select("call", "kind")[place_of_each(form)]
    return [_form(call, kind) for call, kind in rows.iter_rows()], form


def _form(call: str, kind: str) -> operation_facts.CallForm:
    form = operation_facts.CallForm(call, kind, KINDS.get(kind, WAIT))
    return replace(form, kind=POST) if form.is_begun_receive else form


def _add_steps(
    actor: Actor, rows: pl.DataFrame, form: Whole, message: Whole, begin_s: float
) -> float:
    """Adds the steps of one thread; returns when the last call ended."""
    times_s = (rows[name].cast(pl.Float64).to_numpy() for name in ("start_s", "end_s"))
    calls = operation_facts.Calls(actor.forms, form, *times_s)
    completed = operation_facts.completed_receives(calls)
    loops = operation_facts.loops_of_polls(calls, completed)
    stays = np.ones(len(calls.form), bool)
    stays[list(loops.merged)] = False
    before_s, measured_s, last_s = _times_s(calls, loops, stays, begin_s)
    if loops.merged:
        rows, form, message = rows.filter(stays), form[stays], message[stays]
    actor.rows, actor.form, actor.message = rows, form, message
    actor.before_s, actor.measured_s = before_s, measured_s
    actor.completes = completed.staying(stays)
    actor.find_ended = lambda: operation_facts.completed_otherwise(calls, completed, loops).staying(
        stays
    )
    return last_s


def _times_s(
    calls: operation_facts.Calls,
    loops: operation_facts.Loops,
    stays: NDArray[np.bool_],
    begin_s: float,
) -> tuple[Floats, Floats, float]:
    """The time before each call that stays and in it, and when the last one ended."""
    start_s = calls.start_s
    if loops.begin_s:
        start_s = start_s.copy()
        start_s[list(loops.begin_s)] = list(loops.begin_s.values())
    only_begins = np.array([form.kind == POST for form in calls.forms], bool)[calls.form]
    end_s = np.where(only_begins, start_s, calls.end_s)
    if not stays.all():
        start_s, end_s = start_s[stays], end_s[stays]
    latest_s = np.maximum.accumulate(np.concatenate([[begin_s], end_s]))
    before_s = np.maximum(0.0, start_s - latest_s[:-1])
    return before_s, np.maximum(0.0, end_s - start_s), float(latest_s[-1])


@fact
def paired_messages(program: Program) -> set[Message]:
    """The messages as the steps know them of which both ends were traced."""
    return set(messages(program).select(MESSAGE_KEYS).iter_rows())


def members_of(actors: Sequence[Actor]) -> dict[int, list[int]]:
    """The ranks of each communicator on which there are collective operations."""
    ranks_by_communicator: dict[int, set[int]] = {}
    for actor in actors:
        for step in actor.steps:
            if step.kind == COLLECTIVE:
                ranks_by_communicator.setdefault(step.communicator, set()).add(actor.rank)
    return {communicator: sorted(ranks) for communicator, ranks in ranks_by_communicator.items()}

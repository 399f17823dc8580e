# SPDX-License-Identifier: Apache-2.0
"""The events of a script at which a rank may have to wait for others, as a graph without times.

Between them a rank does what takes its own time on any machine. An event needs the one before it
and those of others: those before the sends of its messages, or before the arrivals at its
operation. Its level is one more than the highest that it needs, so that all of a level can be
computed at once, for many machines (level_replay.py).

This holds while no send waits for its receive, no operation goes on behind other calls, and the
trace has all that ranks wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from nhalf.facts.program.operations import FROM_ROOT, TO_ROOT, is_non_blocking, operation
from nhalf.facts.program.schedule import COLLECTIVE, RECEIVE, SEND
from nhalf.facts.program.script import Numbers, Script

Places = NDArray[np.int64]
NOTHING = -1
"""A message or step that does not exist."""


@dataclass(frozen=True)
class ActorSteps:
    """The steps of all actors, one after another: those of actor a are from `first[a]` on."""

    first: Places
    form: Places
    message: Places

    @classmethod
    def of(cls, script: Script) -> ActorSteps:
        """The steps of a script."""
        lengths = [len(actor.form) for actor in script.actors]
        return cls(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            _joined([actor.form_of for actor in script.actors]),
            _joined([actor.message_of for actor in script.actors]),
        )

    def with_message(self, script: Script, kind: str) -> Places:
        """The steps of a kind that have a message."""
        chosen = np.array([form.kind == kind for form in script.forms], bool)
        return np.flatnonzero(chosen[self.form] & (self.message >= 0))

    def actor_of(self, steps: Places) -> Places:
        """The actor of each step."""
        return np.asarray(np.searchsorted(self.first, steps, side="right") - 1)


Work = tuple[str, Numbers, int]
"""What ranks do in an operation once nobody is waited for: its call, its ranks and the size of
their input. Of a rank that only sends its part to a root the call is '', and the ranks are both.
"""


@dataclass(frozen=True)
class Batch:
    """Events of one level that need equally many others, from `begin` to `end`.

    What they need starts at `needs`, `count` for each; `takes` is whether these are messages.
    """

    begin: int
    end: int
    needs: int
    count: int
    takes: bool


@dataclass(frozen=True)
class EventGraph:
    """A graph of events, in the order of `batches`.

    The first ones are the begins of actors, then one that nobody waits for. By event, `before` is
    that before it in its rank and `step` is what it ends, NOTHING of arrivals of all. What one
    needs is another event, `needs`, then its rank's work until `needs_step` begins, NOTHING if
    there is none, and the message `needs_message`; `needed_by` is the first one. `last` is the last
    event of each actor, `sends` the step that sends each message. The steps `operations` do
    `operation_work`, places in `works`.
    """

    steps: ActorSteps
    sends: Places
    works: Sequence[Work]
    operations: Places
    operation_work: Places
    batches: Sequence[Batch]
    before: Places
    step: Places
    needs: Places
    needs_step: Places
    needs_message: Places
    needed_by: Places
    last: Places


def levels_min(script: Script) -> int:
    """How many levels the events of a script have at least: those of the busiest actor."""
    return max(
        len(actor.places_of(RECEIVE)) + len(actor.places_of(COLLECTIVE)) + len(awaited)
        for actor, awaited in zip(script.actors, script.awaited, strict=True)
    )


def event_graph(script: Script) -> EventGraph | None:
    """The events of a script; None if they cannot be ordered without times."""
    calls = [form.call for form in script.forms if form.kind == COLLECTIVE]
    if not script.forms or any(is_non_blocking(call) for call in calls):
        return None
    steps = ActorSteps.of(script)
    sends = np.full(len(script.route), NOTHING)
    senders = steps.with_message(script, SEND)
    sends[steps.message[senders]] = senders
    meetings = _Meetings(script, steps)
    waiting, messages = _waiting(script, steps)
    if np.any(sends[messages] < 0):
        return None
    graph = _Graph(steps, np.concatenate([waiting, meetings.of_root[0], meetings.of_all[0]]))
    graph.need(graph.ending(waiting), sends[messages], messages)
    graph.need(graph.ending(meetings.of_root[0]), meetings.of_root[1])
    graph.gather(meetings.arrivals, meetings.of_all)
    return graph.ordered(sends, meetings)


def _waiting(script: Script, steps: ActorSteps) -> tuple[Places, Places]:
    """The steps that wait for messages, once for each, and these."""
    receives = steps.with_message(script, RECEIVE)
    waits, awaited = [receives], [steps.message[receives]]
    for first, by_place in zip(steps.first.tolist(), script.awaited, strict=False):
        counts = [len(numbers) for numbers in by_place.values()]
        waits.append(np.repeat(np.array(list(by_place), np.int64) + first, counts))
        awaited.append(np.fromiter(chain.from_iterable(by_place.values()), np.int64))
    return np.concatenate(waits), np.concatenate(awaited)


class _Meetings:
    """The collective operations of a script: who waits for whom, and what they do then.

    `of_root` are the steps that wait for a root, and its own; `of_all` those that wait for all
    ranks, and in which operation; `arrivals` the steps of all ranks of these, and the same. `parts`
    are all steps, and their work.
    """

    def __init__(self, script: Script, steps: ActorSteps) -> None:
        place_of = {key: place for place, key in enumerate(script.gatherings)}
        at_root: dict[int, int] = {}
        works: dict[Work, int] = {}
        of_root: list[tuple[int, int]] = []
        of_all: list[tuple[int, int]] = []
        arrivals: list[tuple[int, int]] = []
        parts: list[tuple[int, int]] = []
        for actor, first in zip(script.actors, steps.first.tolist(), strict=False):
            for place in actor.places_of(COLLECTIVE):
                key, root = actor.operation[place], actor.partner[place]
                call, gathering = actor.form_at(place).call, script.gatherings[key]
                name, step = operation(call), first + place
                work: Work = (call, gathering.members, gathering.blocks_bytes)
                arrivals.append((step, place_of[key]))
                if actor.rank == root:
                    at_root[place_of[key]] = step
                if name in FROM_ROOT and root in gathering.members:
                    of_root.append((step, place_of[key]))
                elif name in TO_ROOT and root in gathering.members and actor.rank != root:
                    work = ("", (actor.rank, root), actor.size_bytes[place])
                else:
                    of_all.append((step, place_of[key]))
                parts.append((step, works.setdefault(work, len(works))))
        waits = [(step, at_root[place]) for step, place in of_root if at_root[place] != step]
        gathered = {place for _, place in of_all}
        self.of_root, self.of_all, self.parts = _columns(waits), _columns(of_all), _columns(parts)
        self.arrivals = _columns([pair for pair in arrivals if pair[1] in gathered])
        self.works = list(works)


class _Graph:
    """Events in the order of actors and steps, then the arrivals of all at each operation."""

    def __init__(self, steps: ActorSteps, waiting: Places) -> None:
        self._steps = steps
        self._actors = len(steps.first) - 1
        is_end = np.zeros(len(steps.form), bool)
        is_end[waiting] = True
        self._ends = np.concatenate([[NOTHING], np.flatnonzero(is_end)])
        """The steps that end at events, after that of the event that nobody waits for."""
        self._gathered = self._actors + len(self._ends)
        self._count = self._gathered
        self._needs: list[Places] = []

    def ending(self, steps: Places) -> Places:
        """The events at which steps end that wait."""
        return np.asarray(self._actors + np.searchsorted(self._ends, steps))

    def _before(self, steps: Places, actors: Places) -> Places:
        """The last event of each actor before a step."""
        place = np.searchsorted(self._ends, steps) - 1
        is_own = self._ends[place] >= self._steps.first[actors]
        return np.where(is_own, self._actors + place, actors)

    def need(self, events: Places, steps: Places, messages: Places | None = None) -> None:
        """Events need that others come to steps, and messages that leave there."""
        messages = np.full(len(steps), NOTHING) if messages is None else messages
        before = self._before(steps, self._steps.actor_of(steps))
        self._needs.append(np.stack([events, before, steps, messages]))

    def gather(self, arrivals: Places, of_all: Places) -> None:
        """Steps of each operation need that all come to theirs."""
        operations, place = np.unique(arrivals[1], return_inverse=True)
        self._count = self._gathered + len(operations)
        self.need(self._gathered + place, arrivals[0])
        nothing = np.full(len(of_all[0]), NOTHING)
        gathered = self._gathered + np.searchsorted(operations, of_all[1])
        self._needs.append(np.stack([self.ending(of_all[0]), gathered, nothing, nothing]))

    def ordered(self, sends: Places, meetings: _Meetings) -> EventGraph | None:
        """The graph in the order of levels; None if it has a circle."""
        owner, needs, needs_step, needs_message = np.concatenate(self._needs, axis=1)
        counts = np.bincount(owner, minlength=self._count)
        step = np.full(self._count, NOTHING)
        step[self._actors : self._gathered] = self._ends
        before = np.full(self._count, self._actors)
        own = slice(self._actors + 1, self._gathered)
        before[own] = self._before(step[own], self._steps.actor_of(step[own]))
        level = self._levels(before, needs[np.argsort(owner, kind="stable")], counts)
        if level is None:
            return None
        takes = np.zeros(self._count, bool)
        takes[owner[needs_message >= 0]] = True
        order = np.lexsort((takes, counts, level))
        place = np.empty(self._count, np.int64)
        place[order] = np.arange(self._count)
        by_owner = np.argsort(place[owner], kind="stable")
        first = self._steps.first
        operations, operation_work = meetings.parts
        return EventGraph(
            steps=self._steps,
            sends=sends,
            works=meetings.works,
            operations=operations,
            operation_work=operation_work,
            batches=list(_batches(level[order], counts[order], takes[order], self._actors + 1)),
            before=place[before[order]],
            step=step[order],
            needs=place[needs[by_owner]],
            needs_step=needs_step[by_owner],
            needs_message=needs_message[by_owner],
            needed_by=place[owner[by_owner]],
            last=place[self._before(first[1:], np.arange(self._actors))],
        )

    def _levels(self, before: Places, needs: Places, counts: Places) -> Places | None:
        """The level of each event, 0 for the begins; None if some wait for each other."""
        level = [0] * (self._actors + 1) + [NOTHING] * (self._count - self._actors - 1)
        bounds, before_each, needed = _bounds(counts), before.tolist(), needs.tolist()

        def reach(event: int) -> int:
            """The level of an event if those of all that it needs are known, else NOTHING."""
            most: int = level[before_each[event]]
            for earlier in needed[bounds[event] : bounds[event + 1]]:
                height = level[earlier]
                if height < 0 and earlier >= self._gathered:
                    height = reach(earlier)
                if height < 0:
                    return NOTHING
                if height > most:  # noqa: PLR1730 - max takes twice as long
                    most = height
            level[event] = most + 1
            return most + 1

        starts = self._actors + np.searchsorted(self._ends, self._steps.first)
        waiting = [(begin, end) for begin, end in pairwise(starts.tolist()) if begin < end]
        while waiting:
            stuck = []
            for begin, end in waiting:
                event = begin
                while event < end and reach(event) >= 0:
                    event += 1
                if event < end:
                    stuck.append((event, end))
            if stuck == waiting:
                return None
            waiting = stuck
        return np.array(level)


def _batches(level: Places, counts: Places, takes: Places, first: int) -> Iterator[Batch]:
    """The batches of events in order, without the begins."""
    kinds = np.stack([level, counts, takes])[:, first:]
    edges = np.flatnonzero(np.any(kinds[:, 1:] != kinds[:, :-1], axis=0)) + 1
    bounds = _bounds(counts)
    for begin, end in pairwise([first, *(edges + first).tolist(), len(level)]):
        if begin < end:
            yield Batch(begin, end, bounds[begin], int(counts[begin]), bool(takes[begin]))


def _bounds(counts: Places) -> list[int]:
    """Where what each event needs begins, and the end."""
    bounds: list[int] = [0, *np.cumsum(counts).tolist()]
    return bounds


def _joined(columns: Sequence[Places]) -> Places:
    return np.concatenate([np.zeros(0, np.int64), *columns])


def _columns(rows: Sequence[tuple[int, int]]) -> Places:
    return np.array(rows, np.int64).reshape(-1, 2).T

"""A script followed message by message on the network of a machine, as the virtual network has it.

Messages of different calls share there what they pass. An operation goes as the messages of its
algorithm where that is known by name, as of a library that was asked; else it takes its cost once
those have come whom a rank waits for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.operations import NATIVE
from nhalf.decide.program.costs import MachineCosts, pattern_of, work_s
from nhalf.facts.program.operations import is_non_blocking, operation
from nhalf.facts.program.schedule import BOTH_WAYS, COLLECTIVE, RECEIVE, SEND, WAIT, Actor
from nhalf.facts.program.script import Script, Work
from nhalf.machines.algorithms import algorithms
from nhalf.machines.composed import follow
from nhalf.machines.message import Messages

MESSAGES_MAX = 400_000
"""More are not followed, which takes seconds."""
_PER_S = 1e12


@dataclass(frozen=True, eq=False)
class FollowedScript:
    """The actor that ends last: when each of its calls began and ended, and itself."""

    last: int
    begins_s: Floats
    ends_s: Floats
    end_s: float


def followed(script: Script, costs: MachineCosts, messages: Messages) -> FollowedScript | None:
    """What becomes of a script, whose ranks have a thread each; None if it is not followed: it has
    too many messages, or operations that do not block.
    """
    is_begun = any(form.kind == COLLECTIVE and is_non_blocking(form.call) for form in script.forms)
    if is_begun or len(script.route) > MESSAGES_MAX:
        return None
    operations = _Operations(script, costs)
    lines = list[str]()
    for number, actor in enumerate(script.actors):
        steps = _steps(script, number, actor, operations)
        lines += ["rank", _compute(actor.begin_s), *steps, _compute(actor.after_s)]
    answer = follow(messages, costs.nodes, lines)
    if answer is None:
        return None
    last, ends_s = answer
    return FollowedScript(last, np.array(ends_s[1:-1:2]), np.array(ends_s[2:-1:2]), ends_s[-1])


def _compute(time_s: float) -> str:
    return f"compute {round(_PER_S * max(0.0, time_s))}"


def _steps(script: Script, number: int, actor: Actor, operations: _Operations) -> Iterator[str]:
    """What comes before each step, and the step (native/composer/program.hpp)."""
    first = int(script.first[number])
    awaited, ended = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for place, message in zip(*(own.tolist() for own in script.awaited_by(number)), strict=True):
        awaited[place].append(message)
    for place, begun in zip(actor.ended.waits.tolist(), actor.ended.begun.tolist(), strict=True):
        ended[place].append(begun)
    sends: dict[int, int] = {}
    for place, before_s in enumerate(actor.before_s.tolist()):
        yield _compute(before_s)
        form, subject = actor.form_at(place), int(script.subject[first + place])
        if form.kind == SEND and subject >= 0:
            sends[place] = len(sends)
            _, target, size_bytes = script.routes[script.route[subject]]
            blocks = form.blocks and form.call not in BOTH_WAYS
            yield f"{'send' if blocks else 'begin'} {target} {subject + 1} {size_bytes}"
        elif form.kind == COLLECTIVE:
            yield operations.line(subject)
        elif form.kind in (RECEIVE, WAIT):
            messages = awaited[place] if form.kind == WAIT else [subject] * (subject >= 0)
            begun = ended[place]
            if form.kind == RECEIVE and form.call in BOTH_WAYS:
                begun = [place - 1]
            ends = (f" {script.routes[script.route[own]][0]} {own + 1}" for own in messages)
            waits = (f" {sends[own]}" for own in begun if own in sends)
            yield f"wait{''.join(waits)} -{''.join(ends)}"
        else:
            yield _compute(0.0)


class _Operations:
    """The lines of operations: an algorithm where its name is known, or a cost."""

    def __init__(self, script: Script, costs: MachineCosts) -> None:
        parts = script.parts
        self._parts = parts
        self._times_s = [
            work_s(costs, *own)[0] for own in zip(parts.works, parts.seats, strict=True)
        ]
        self._count = Counter(parts.operation.tolist())
        self._algorithms = {
            (used.operation, used.ranks, used.size_bytes): used.algorithm
            for used in sorted(costs.used, key=attrgetter("algorithm"))
        }
        self._performed: dict[int, str] = {}
        roots = dict[int, int]()
        for at in np.flatnonzero(parts.is_root).tolist():
            actor = int(np.searchsorted(script.first, parts.step[at], side="right")) - 1
            roots[int(parts.operation[at])] = script.actors[actor].rank
        for number, at in zip(parts.operation.tolist(), range(len(parts.work)), strict=True):
            work = parts.works[parts.work[at]]
            if work[0] and number not in self._performed:
                self._performed[number] = self._line(work, roots.get(number, work[1][0]))

    def _line(self, work: Work, root: int) -> str:
        """How an operation is performed; '' if its algorithm is not known."""
        call, ranks, size_bytes = work
        name = operation(call)
        algorithm = self._algorithms.get((name, len(ranks), size_bytes), NATIVE)
        pattern, part_bytes = pattern_of(name, len(ranks), size_bytes)
        if algorithm not in {own.name for own in algorithms().get(pattern, ())}:
            return ""
        members: Sequence[int] = ranks
        numbers = (part_bytes, members.index(root), *members)
        return f"perform {pattern} {algorithm} {' '.join(map(str, numbers))}"

    def line(self, part: int) -> str:
        """What a rank does for its part."""
        parts = self._parts
        number = int(parts.operation[part])
        if line := self._performed.get(number):
            return line
        who = f"{int(parts.role[part])} {int(parts.is_root[part])}"
        time_s = self._times_s[int(parts.work[part])]
        return f"meet {number} {self._count[number]} {who} {round(_PER_S * time_s)}"

# SPDX-License-Identifier: Apache-2.0
"""A timeline as a schedule in GOAL: computing, sends and receives with what each has to wait for.

LogGOPSim knows messages only, so collective operations are written as messages: from and to a root
as binomial trees, scatters, gathers and all-to-alls as one message for each pair, all others as
dissemination. Times outside of MPI are computations, in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nhalf.facts.program.operations import operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import (
    COLLECTIVE,
    POST,
    RECEIVE,
    SEND,
    Actor,
    Message,
    Step,
    schedule,
)

NANO = 1e9


@dataclass
class _Lines:
    """The operations of one rank; `after` are the labels that the next one waits for."""

    cpu: int = 0
    lines: list[str] = field(default_factory=list)
    number: int = 0
    after: list[str] = field(default_factory=list)

    def add(self, text: str) -> str:
        """Another operation; returns its label."""
        self.number += 1
        label = f"t{self.cpu}l{self.number}" if self.cpu else f"l{self.number}"
        on = f" cpu {self.cpu}" if self.cpu else ""
        self.lines.append(f"{label}: {text}{on}")
        self.lines += [f"{label} requires {earlier}" for earlier in self.after]
        return label

    def then(self, text: str) -> None:
        """An operation that the next one waits for."""
        self.after = [self.add(text)]


class _Tags:
    """A number for each communicator and tag, and for each collective operation."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], int] = {}

    def of(self, *key: object) -> int:
        return self._known.setdefault(key, len(self._known))


def goal_schedule(program: Program) -> str:
    """The text of the whole schedule."""
    actors = schedule(program)
    paired = _paired(actors)
    members = _members(program, actors)
    tags = _Tags()
    ranks: dict[int, list[_Lines]] = {rank: [] for rank in range(program.ranks)}
    for actor in actors:
        lines = _Lines(actor.thread)
        posted: dict[Message, str] = {}
        for step in actor.steps:
            _compute(lines, step.before_s)
            if step.kind == COLLECTIVE:
                tag = tags.of("collective", step.communicator, step.number)
                _collective(lines, step, actor.rank, members[step.communicator], tag)
            else:
                _message(lines, step, posted, paired, tags)
        _compute(lines, actor.after_s)
        ranks[actor.rank].append(lines)
    command = " ".join(program.trace.command).replace("\n", " ")
    head = f"// {command}, written by nhalf export\nnum_ranks {program.ranks}\n"
    return head + "".join(_rank(rank, parts) for rank, parts in ranks.items())


def _rank(rank: int, threads: Sequence[_Lines]) -> str:
    """The block of a rank."""
    body = "".join(f"{line}\n" for thread in threads for line in thread.lines)
    return f"\nrank {rank} {{\n{body}}}\n"


def _paired(actors: Sequence[Actor]) -> set[Message]:
    """Messages of which both ends were traced: the others would never end."""
    steps = [step for actor in actors for step in actor.steps if step.message is not None]
    sent = {step.message for step in steps if step.kind == SEND}
    taken = {step.message for step in steps if step.kind in (RECEIVE, POST)}
    return {message for message in sent & taken if message is not None}


def _members(program: Program, actors: Sequence[Actor]) -> dict[int, list[int]]:
    """The ranks of each communicator on which there are collective operations."""
    found: dict[int, set[int]] = {}
    for actor in actors:
        for step in actor.steps:
            if step.kind == COLLECTIVE:
                found.setdefault(step.communicator, set()).add(actor.rank)
    return {communicator: sorted(ranks) for communicator, ranks in found.items()}


def _compute(lines: _Lines, time_s: float) -> None:
    nanoseconds = round(time_s * NANO)
    if nanoseconds > 0:
        lines.then(f"calc {nanoseconds}")


def _message(
    lines: _Lines, step: Step, posted: dict[Message, str], paired: set[Message], tags: _Tags
) -> None:
    message = step.message
    if message is not None and message in paired:
        source, target, communicator, tag, _ = message
        size_bytes, number = max(1, step.size_bytes), tags.of("message", communicator, tag)
        if step.kind == SEND:
            lines.then(f"send {size_bytes}b to {target} tag {number}")
            return
        text = f"recv {size_bytes}b from {source} tag {number}"
        if step.kind == RECEIVE:
            lines.then(text)
        else:
            posted[message] = lines.add(text)
    lines.after += [posted.pop(each) for each in step.completes if each in posted]


def _collective(lines: _Lines, step: Step, rank: int, ranks: Sequence[int], tag: int) -> None:
    name, size_bytes = operation(step.call), max(1, step.size_bytes)
    root = ranks.index(step.partner) if step.partner in ranks else 0
    here = ranks.index(rank)
    count = len(ranks)
    if name in ("bcast", "reduce"):
        parent, children = binomial((here - root) % count, count)
        up = [] if parent is None else [ranks[(parent + root) % count]]
        down = [ranks[(child + root) % count] for child in children]
        first, last = (up, down) if name == "bcast" else (down[::-1], up)
    elif name.startswith(("gather", "scatter")):
        others = [ranks[root]] if here != root else [one for one in ranks if one != rank]
        receives = (here == root) == name.startswith("gather")
        first, last = (others, []) if receives else ([], others)
    else:
        rounds = _pairwise(here, count) if name.startswith("alltoall") else _doubling(here, count)
        block_bytes = max(1, size_bytes // count) if name.startswith("alltoall") else size_bytes
        for to, source in rounds:
            before = lines.after
            sent = lines.add(f"send {block_bytes}b to {ranks[to]} tag {tag}")
            lines.after = before
            taken = lines.add(f"recv {block_bytes}b from {ranks[source]} tag {tag}")
            lines.after = [sent, taken]
        return
    for source_rank in first:
        lines.then(f"recv {size_bytes}b from {source_rank} tag {tag}")
    for target_rank in last:
        lines.then(f"send {size_bytes}b to {target_rank} tag {tag}")


def binomial(place: int, count: int) -> tuple[int | None, list[int]]:
    """The parent of a place in the binomial tree of place 0, and its children, farthest first."""
    step = 1
    while step < count and not place & step:
        step *= 2
    children = []
    parent = place - step if place else None
    while step > 1:
        step //= 2
        if place + step < count:
            children.append(place + step)
    return parent, children


def _doubling(here: int, count: int) -> Iterator[tuple[int, int]]:
    step = 1
    while step < count:
        yield (here + step) % count, (here - step) % count
        step *= 2


def _pairwise(here: int, count: int) -> Iterator[tuple[int, int]]:
    return (((here + step) % count, (here - step) % count) for step in range(1, count))

"""A timeline as a schedule in GOAL: computing, sends and receives with their dependencies.

A blocking call is required to be over by what follows it; of one that is begun this is required of
what follows its wait, and only that it has begun before (`irequires`) of the operations until then.

LogGOPSim knows messages only, so collective operations are written as messages: from and to a root
as binomial trees, scatters, gathers and all-to-alls as one message for each pair, all others as
dissemination. Times outside MPI are computations, in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nhalf.exchange.program.collective_rounds import rounds_of
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import (
    COLLECTIVE,
    RECEIVE,
    SEND,
    Message,
    ScheduledCall,
    members_of,
    paired_messages,
    schedule,
)

NANO = 1e9


@dataclass
class _Lines:
    """The operations of one rank; `after` are the labels that the next operation waits for.

    `begun` are those that have to begin before it.
    """

    cpu: int = 0
    lines: list[str] = field(default_factory=list)
    number: int = 0
    after: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)

    def add(self, text: str) -> str:
        """Add an operation; returns its label."""
        self.number += 1
        label = f"t{self.cpu}l{self.number}" if self.cpu else f"l{self.number}"
        on = f" cpu {self.cpu}" if self.cpu else ""
        self.lines.append(f"{label}: {text}{on}")
        self.lines += [f"{label} requires {earlier}" for earlier in self.after]
        begun = [earlier for earlier in self.begun if earlier not in self.after]
        self.lines += [f"{label} irequires {earlier}" for earlier in begun]
        return label

    def begin(self, text: str) -> str:
        """Add an operation that begins before the next one; returns its label."""
        label = self.add(text)
        self.begun = [label]
        return label

    def then(self, text: str) -> None:
        """Add an operation that the next one waits for."""
        self.after, self.begun = [self.add(text)], []


class _Tags:
    """A number for each communicator and tag, and for each collective operation."""

    def __init__(self) -> None:
        self._tags: dict[tuple[object, ...], int] = {}

    def of(self, *key: object) -> int:
        return self._tags.setdefault(key, len(self._tags))


def goal_schedule(program: Program) -> str:
    """The text of the whole schedule."""
    actors = schedule(program)
    paired = paired_messages(program)
    members = members_of(actors)
    tags = _Tags()
    ranks: dict[int, list[_Lines]] = {rank: [] for rank in range(program.ranks)}
    for actor in actors:
        lines = _Lines(actor.thread)
        posted: dict[Message, str] = {}
        _compute(lines, actor.begin_s)
        for step in actor.steps:
            _compute(lines, step.before_s + step.least_s)
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


def _compute(lines: _Lines, time_s: float) -> None:
    nanoseconds = round(time_s * NANO)
    if nanoseconds > 0:
        lines.then(f"calc {nanoseconds}")


def _message(
    lines: _Lines,
    step: ScheduledCall,
    posted: dict[Message, str],
    paired: set[Message],
    tags: _Tags,
) -> None:
    message = step.message
    if message is not None and message in paired:
        source, target, communicator, tag, _ = message
        size_bytes, number = max(1, step.size_bytes), tags.of("message", communicator, tag)
        if step.kind == SEND:
            _send(lines, step, f"send {size_bytes}b to {target} tag {number}", posted)
            return
        text = f"recv {size_bytes}b from {source} tag {number}"
        if step.kind == RECEIVE:
            lines.then(text)
        else:
            posted[message] = lines.begin(text)
    completed = (*step.completes, *step.sends)
    lines.after += [posted.pop(begun) for begun in completed if begun in posted]


def _send(lines: _Lines, step: ScheduledCall, text: str, posted: dict[Message, str]) -> None:
    """A send that is over before the next call, or one that a later call completes."""
    if step.message is not None and not step.blocks:
        posted[step.message] = lines.begin(text)
    else:
        lines.then(text)


def _collective(
    lines: _Lines, step: ScheduledCall, rank: int, ranks: Sequence[int], tag: int
) -> None:
    for exchange in rounds_of(step, rank, ranks):
        size_bytes, labels, before = max(1, exchange.size_bytes), [], lines.after
        if exchange.to is not None:
            labels.append(lines.add(f"send {size_bytes}b to {exchange.to} tag {tag}"))
        lines.after = before
        if exchange.source is not None:
            labels.append(lines.add(f"recv {size_bytes}b from {exchange.source} tag {tag}"))
        lines.after, lines.begun = labels, []

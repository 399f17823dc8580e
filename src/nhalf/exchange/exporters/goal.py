"""GOAL: the schedule of a pattern for LogGOPSim, as text for its converter txt2bin.

A schedule has no times: it lists the messages of each rank and their dependencies. The times come
from the parameters (`loggopsim-params`); a run, or a machine, gives only the number of ranks and
the size (T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim:
simulating large-scale applications in the LogGOPS model", HPDC 2010).

A message of 0 bytes is written as one of 1: LogGOPSim takes G (n - 1) without a sign.

A timeline becomes computing, sends and receives with their dependencies.
A blocking call is required to be over by what follows it; of one that is begun this is required of
what follows its wait, and only that it has begun before (`irequires`) of the operations until then.

LogGOPSim knows messages only, so collective operations are written as messages: from and to a root
as binomial trees, scatters, gathers and all-to-alls as one message for each pair, all others as
dissemination (D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization",
International Journal of Parallel Programming 17 (1988) 1). Times outside MPI are computations, in
nanoseconds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import format_size
from nhalf.exchange.exporters import Exporter, ExportOptions, Subject
from nhalf.exchange.program.replay_actions import Round, check_timeline, rounds_of
from nhalf.facts.facts import Facts
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
                for exchange in rounds_of(step, actor.rank, members[step.communicator]):
                    _exchange(lines, exchange, tag)
            else:
                _message(lines, step, posted, paired, tags)
        _compute(lines, actor.after_s)
        ranks[actor.rank].append(lines)
    return _schedule(" ".join(program.trace.command).replace("\n", " "), ranks)


def _schedule(about: str, ranks: Mapping[int, Sequence[_Lines]]) -> str:
    """The text of the operations of all ranks, each by thread."""
    parts = [f"// {about}, written by nhalf export\nnum_ranks {len(ranks)}\n"]
    for rank, threads in ranks.items():
        body = "".join(f"{line}\n" for thread in threads for line in thread.lines)
        parts.append(f"\nrank {rank} {{\n{body}}}\n")
    return "".join(parts)


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


def _exchange(lines: _Lines, exchange: Round, tag: int) -> None:
    """A send, a receive, or both at once."""
    size_bytes, labels, before = max(1, exchange.size_bytes), [], lines.after
    if exchange.to is not None:
        labels.append(lines.add(f"send {size_bytes}b to {exchange.to} tag {tag}"))
    lines.after = before
    if exchange.source is not None:
        labels.append(lines.add(f"recv {size_bytes}b from {exchange.source} tag {tag}"))
    lines.after, lines.begun = labels, []


RANKS_MAX = 2**16
PINGPONG, BARRIER = "pingpong", "barrier"
Rounds = Iterable[Round]


def _ping_pong(rank: int, ranks: Sequence[int], size_bytes: int) -> Rounds:
    """A round trip between ranks 0 and 1; the other ranks do nothing."""
    if rank < 2:
        send, receive = Round(1 - rank, None, size_bytes), Round(None, 1 - rank, size_bytes)
        yield from (receive, send) if rank else (send, receive)


def _ring(rank: int, ranks: Sequence[int], size_bytes: int) -> Rounds:
    """A send to the next rank and a receive from the previous one at once."""
    yield Round((rank + 1) % len(ranks), (rank - 1) % len(ranks), size_bytes)


def _operation(call: str) -> Callable[[int, Sequence[int], int], Rounds]:
    """A collective operation from rank 0, as in traces of programs."""
    return lambda rank, ranks, size_bytes: rounds_of(
        ScheduledCall(COLLECTIVE, call, 0.0, 0.0, size_bytes), rank, ranks
    )


SCHEDULES: dict[str, Callable[[int, Sequence[int], int], Rounds]] = {
    PINGPONG: _ping_pong,
    "ring": _ring,
    "bcast": _operation("MPI_Bcast"),
    BARRIER: _operation("MPI_Barrier"),
}
"""What a rank sends and receives, one after the other."""


class Goal(Exporter):
    """One pattern (ping-pong, ring, binomial broadcast or dissemination barrier), or a trace."""

    description = "the schedule of a pattern or a trace in GOAL, for LogGOPSim's txt2bin"
    takes = frozenset({"pattern", "ranks", "size_bytes"})

    def text(self, subject: Subject) -> str:
        """The schedule of a pattern for ranks and a size, by default those of the run.

        The default pattern is the ping-pong. A run gives its largest number of ranks and its
        largest size, of the pattern if it was measured. A barrier has no size.
        """
        if isinstance(subject, Program):
            return _of_program(subject, self.options)
        name = self.options.pattern or PINGPONG
        if name not in SCHEDULES:
            raise unknown("schedule", name, SCHEDULES)
        is_run = isinstance(subject, Facts)
        known_ranks, known_bytes = _largest(subject, name) if isinstance(subject, Facts) else (0, 0)
        count = self.options.ranks or known_ranks
        size_bytes = known_bytes if self.options.size_bytes is None else self.options.size_bytes
        is_sized = name == BARRIER or self.options.size_bytes is not None or is_run
        if not is_sized:
            raise InputError("which size?", "name it with --bytes, or name a run")
        if not 2 <= count <= RANKS_MAX:
            words = (
                f"no schedule exists for a rank count of {count}" if count else "how many ranks?"
            )
            raise InputError(words, f"name 2 to {RANKS_MAX} with --ranks, or a run of several")
        sent_bytes = 1 if name == BARRIER else max(1, size_bytes)
        lines = [_Lines() for _ in range(count)]
        for rank in range(count):
            for exchange in SCHEDULES[name](rank, range(count), sent_bytes):
                _exchange(lines[rank], exchange, 0)
        about = f"{name} of {count} ranks, {format_size(sent_bytes)} each message"
        return _schedule(about, {rank: [own] for rank, own in enumerate(lines)})


def _of_program(program: Program, options: ExportOptions) -> str:
    """The calls of a timeline; raises InputError if there is none, or a pattern is requested."""
    check_timeline(program, "a schedule needs the order of the calls")
    if options.pattern or options.ranks or options.size_bytes is not None:
        raise InputError("a trace has its own messages", "leave out --pattern, --ranks and --bytes")
    return goal_schedule(program)


def _largest(facts: Facts, pattern: str) -> tuple[int, int]:
    """The largest number of ranks and size in bytes, of a pattern or, without points, of all."""
    points = facts.measurements.select("pattern", "ranks", "bytes").unique().collect()
    of_pattern = points.filter(pl.col("pattern") == pattern)
    chosen = points if of_pattern.is_empty() else of_pattern
    ranks, size_bytes = chosen.select(pl.col("ranks", "bytes").max()).row(0)
    return int(ranks), int(size_bytes)

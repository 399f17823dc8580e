# SPDX-License-Identifier: Apache-2.0
"""GOAL: the schedule of a pattern for LogGOPSim, as text for its converter txt2bin.

A measurement has times, a schedule has none: it says which rank sends what to whom, and what has
to be done before. The times come from the parameters (`loggopsim-params`); so a run, or a machine,
gives the number of ranks and the size here (T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim:
simulating large-scale applications in the LogGOPS model", HPDC 2010).

A message of 0 bytes is written as one of 1: LogGOPSim takes G (n - 1) without a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import format_size
from nhalf.exchange.exporters import Asked, Exporter, Subject
from nhalf.exchange.program.goal_schedule import goal_schedule
from nhalf.facts.facts import Facts
from nhalf.facts.program.program import Program

RANKS_MAX = 2**16
PINGPONG, BARRIER = "pingpong", "barrier"


@dataclass
class Rank:
    """The operations of one rank; each has the label of its place, l1, l2, ..."""

    size_bytes: int
    lines: list[str] = field(default_factory=list)
    operations: int = 0

    def send(self, to: int, after: Sequence[int] = ()) -> int:
        """A message that leaves when others are done; returns its label."""
        return self._add(f"send {self.size_bytes}b to {to} tag 0", after)

    def receive(self, source: int, after: Sequence[int] = ()) -> int:
        """A message that is received when others are done; returns its label."""
        return self._add(f"recv {self.size_bytes}b from {source} tag 0", after)

    def _add(self, operation: str, after: Sequence[int]) -> int:
        self.operations += 1
        self.lines.append(f"l{self.operations}: {operation}")
        self.lines += [f"l{self.operations} requires l{label}" for label in after]
        return self.operations


Ranks = list[Rank]


def ping_pong(ranks: Ranks) -> None:
    """There and back between ranks 0 and 1; the others do nothing."""
    ranks[0].receive(1, [ranks[0].send(1)])
    ranks[1].send(0, [ranks[1].receive(0)])


def ring(ranks: Ranks) -> None:
    """Every rank sends to the next one and receives from the one before, at once."""
    count = len(ranks)
    for number, rank in enumerate(ranks):
        rank.send((number + 1) % count)
        rank.receive((number - 1) % count)


def binomial_broadcast(ranks: Ranks) -> None:
    """From rank 0: who has the message sends it on, the farthest first.

    Rank r receives from r without its lowest bit, and sends to r plus every lower power of two.
    """
    for number, rank in enumerate(ranks):
        before: list[int] = []
        step = 1
        while step < len(ranks) and not number & step:
            step *= 2
        if number:
            before = [rank.receive(number - step)]
        while step > 1:
            step //= 2
            if number + step < len(ranks):
                before = [rank.send(number + step, before)]


def dissemination_barrier(ranks: Ranks) -> None:
    """In round k every rank tells the one 2^k further on, as soon as round k - 1 is over.

    D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", International
    Journal of Parallel Programming 17 (1988) 1.
    """
    count = len(ranks)
    for number, rank in enumerate(ranks):
        before: list[int] = []
        step = 1
        while step < count:
            sent = rank.send((number + step) % count, before)
            before = [sent, rank.receive((number - step) % count, before)]
            step *= 2


SCHEDULES: dict[str, Callable[[Ranks], None]] = {
    PINGPONG: ping_pong,
    "ring": ring,
    "bcast": binomial_broadcast,
    BARRIER: dissemination_barrier,
}


class Goal(Exporter):
    """One pattern (ping-pong, ring, binomial broadcast or dissemination barrier), or a trace."""

    what: ClassVar[str] = "the schedule of a pattern or a trace in GOAL, for LogGOPSim's txt2bin"
    takes: ClassVar[frozenset[str]] = frozenset({"pattern", "ranks", "size_bytes"})

    def text(self, subject: Subject) -> str:
        """The schedule of a pattern for ranks and a size, those of the run where none are asked.

        Without a pattern it is the ping-pong. Of a run the largest number of ranks and the
        largest size count, of the pattern if it was measured. A barrier has no size.
        """
        if isinstance(subject, Program):
            return _of_program(subject, self.asked)
        name = self.asked.pattern or PINGPONG
        if name not in SCHEDULES:
            raise unknown("schedule", name, SCHEDULES)
        is_run = isinstance(subject, Facts)
        known_ranks, known_bytes = _largest(subject, name) if isinstance(subject, Facts) else (0, 0)
        count = self.asked.ranks or known_ranks
        size_bytes = known_bytes if self.asked.size_bytes is None else self.asked.size_bytes
        is_sized = name == BARRIER or self.asked.size_bytes is not None or is_run
        if not is_sized:
            raise InputError("which size?", "name it with --bytes, or name a run")
        if not 2 <= count <= RANKS_MAX:
            words = f"{count} ranks have no schedule" if count else "how many ranks?"
            raise InputError(words, f"name 2 to {RANKS_MAX} with --ranks, or a run of several")
        sent_bytes = 1 if name == BARRIER else max(1, size_bytes)
        ranks = [Rank(sent_bytes) for _ in range(count)]
        SCHEDULES[name](ranks)
        about = f"{name} of {count} ranks, {format_size(sent_bytes)} each message"
        return _written(about, ranks)


def _of_program(program: Program, asked: Asked) -> str:
    """The calls of a timeline. Raises InputError if there is none, or a pattern is asked for."""
    if program.timeline.is_empty():
        raise InputError(
            f"{program.path} has counts only, and a schedule needs the order of the calls",
            "trace the program with --detail timeline",
        )
    if asked.pattern or asked.ranks or asked.size_bytes is not None:
        raise InputError("a trace has its own messages", "leave out --pattern, --ranks and --bytes")
    return goal_schedule(program)


def _largest(facts: Facts, pattern: str) -> tuple[int, int]:
    """Ranks and size in bytes, of a pattern or, where it was not measured, of all."""
    points = facts.measurements.select("pattern", "ranks", "bytes").unique().collect()
    same = points.filter(pl.col("pattern") == pattern)
    chosen = points if same.is_empty() else same
    ranks, size_bytes = chosen.select(pl.col("ranks", "bytes").max()).row(0)
    return int(ranks), int(size_bytes)


def _written(about: str, ranks: Ranks) -> str:
    parts = [f"// {about}, written by nhalf export\nnum_ranks {len(ranks)}\n"]
    for number, rank in enumerate(ranks):
        body = "".join(f"{line}\n" for line in rank.lines)
        parts.append(f"\nrank {number} {{\n{body}}}\n")
    return "".join(parts)

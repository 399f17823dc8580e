# SPDX-License-Identifier: Apache-2.0
"""Ranks that have fewer processors than there are of them, so that some wait for their turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program

Processors = frozenset[int]


@dataclass(frozen=True)
class SharedProcessors:
    """Ranks of a host, and the processors, fewer than they are, that all of them run on."""

    host: str
    processors: tuple[int, ...]
    ranks: tuple[int, ...]

    @property
    def ranks_each(self) -> float:
        """How many ranks there are for a processor."""
        return len(self.ranks) / len(self.processors)


@fact
def shared_processors(program: Program) -> tuple[SharedProcessors, ...]:
    """The oversubscribed processors of each host, those with most ranks each first.

    Empty where it is not known which processors a rank may run on. Of sets that contain each other
    the smallest counts; threads of a rank count as one.
    """
    by_host: dict[str, dict[int, Processors]] = {}
    for record in program.trace.ranks:
        if record.processors:
            by_host.setdefault(record.host, {})[record.rank] = frozenset(record.processors)
    shared = [
        SharedProcessors(host, tuple(sorted(processors)), ranks)
        for host, allowed in by_host.items()
        for processors, ranks in _oversubscribed(allowed)
    ]
    return tuple(sorted(shared, key=lambda few: (-few.ranks_each, few.host, few.ranks)))


def _oversubscribed(allowed: dict[int, Processors]) -> Iterator[tuple[Processors, tuple[int, ...]]]:
    """Sets of processors to which more ranks are bound than they are."""
    reported: list[Processors] = []
    for processors in _candidates(allowed):
        bound = tuple(sorted(rank for rank, own in allowed.items() if own <= processors))
        if len(bound) > len(processors) and not any(less <= processors for less in reported):
            reported.append(processors)
            yield processors, bound


def _candidates(allowed: dict[int, Processors]) -> list[Processors]:
    """What ranks are bound to, and what is connected by ranks that may run on several; the
    smallest first.
    """
    connected: list[Processors] = []
    for own in set(allowed.values()):
        touching = [processors for processors in connected if processors & own]
        joined = own.union(*touching)
        connected = [processors for processors in connected if not processors & own] + [joined]
    return sorted(
        {*allowed.values(), *connected}, key=lambda processors: (len(processors), min(processors))
    )

"""Ranks with fewer processors than threads of theirs that need one: some wait for their turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program

Processors = frozenset[int]


@dataclass(frozen=True)
class SharedProcessors:
    """Ranks of a host, and the processors, fewer than their `threads`, that all of them run on."""

    host: str
    processors: tuple[int, ...]
    ranks: tuple[int, ...]
    threads: int

    @property
    def threads_each(self) -> float:
        """How many threads there are for a processor."""
        return self.threads / len(self.processors)

    @property
    def has_threads(self) -> bool:
        """Whether a rank has several of them."""
        return self.threads > len(self.ranks)


@fact
def shared_processors(program: Program) -> tuple[SharedProcessors, ...]:
    """The oversubscribed processors of each host, those with most threads each first.

    Empty where it is not known which processors a rank may run on. Of sets that contain each other
    the smallest counts. A thread counts if it calls MPI and does not sleep for most of the run;
    each rank counts as one at least.
    """
    threads = {record.rank: record.threads_running for record in program.trace.ranks}
    by_host: dict[str, dict[int, Processors]] = {}
    for record in program.trace.ranks:
        if record.processors:
            by_host.setdefault(record.host, {})[record.rank] = frozenset(record.processors)
    shared = [
        SharedProcessors(
            host, tuple(sorted(processors)), ranks, sum(threads[rank] for rank in ranks)
        )
        for host, allowed in by_host.items()
        for processors, ranks in _oversubscribed(allowed, threads)
    ]
    return tuple(sorted(shared, key=lambda few: (-few.threads_each, few.host, few.ranks)))


def _oversubscribed(
    allowed: dict[int, Processors], threads: dict[int, int]
) -> Iterator[tuple[Processors, tuple[int, ...]]]:
    """Sets of processors to which ranks with more threads are bound than they are."""
    reported: list[Processors] = []
    for processors in _candidates(allowed):
        bound = tuple(sorted(rank for rank, own in allowed.items() if own <= processors))
        bound_threads = sum(threads[rank] for rank in bound)
        if bound_threads > len(processors) and not any(less <= processors for less in reported):
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

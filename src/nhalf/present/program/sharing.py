"""Ranks that share processors, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from nhalf.facts.program.disturbance import SharedProcessors, shared_processors
from nhalf.facts.program.program import Program
from nhalf.present.wording import count

REMEDY = "Bind each rank to its own processor, or start fewer ranks on a node."


def sharing_lines(program: Program) -> Iterator[str]:
    """One line, if ranks share processors."""
    shared = shared_processors(program)
    if shared:
        yield sharing_text(shared)


def sharing_text(shared: Sequence[SharedProcessors]) -> str:
    """The host with most threads on a processor, and how many more such sets there are."""
    most, more = shared[0], len(shared) - 1
    places = f"processor{'' if len(most.processors) == 1 else 's'} {listed(most.processors)}"
    elsewhere = f"; so it is in {count(more, 'more place')}" if more else ""
    return (
        f"Oversubscribed: {_who(most)} ({listed(most.ranks)}) share "
        f"{count(len(most.processors), 'processor')} of {most.host} ({places}){elsewhere}."
    )


def shared_text(shared: Sequence[SharedProcessors]) -> str:
    """'8 ranks share 2 processors', where most do."""
    return f"{_who(shared[0])} share {count(len(shared[0].processors), 'processor')}"


def _who(shared: SharedProcessors) -> str:
    ranks = count(len(shared.ranks), "rank")
    return f"{count(shared.threads, 'thread')} of {ranks}" if shared.has_threads else ranks


def listed(numbers: Sequence[int]) -> str:
    """'0-3, 7': numbers in order, with runs of three and more joined."""
    parts: list[str] = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        joined = [number for _, number in run]
        is_long = len(joined) > 2
        parts += [f"{joined[0]}-{joined[-1]}"] if is_long else [str(number) for number in joined]
    return ", ".join(parts)

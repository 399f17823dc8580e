"""How much of the ranks' time others took, and which run shares refer to, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from nhalf.base.numbers import percent
from nhalf.base.units import format_time
from nhalf.decide.program.basis import QUIET, is_disturbed, shown_run, traced_run
from nhalf.facts.program.disturbance import (
    SharedProcessors,
    shared_processors,
    taken_by_others,
    taken_from_run_s,
)
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
        f"Oversubscribed: {_who_shared(most)} ({listed(most.ranks)}) share "
        f"{count(len(most.processors), 'processor')} of {most.host} ({places}){elsewhere}."
    )


def shared_text(shared: Sequence[SharedProcessors]) -> str:
    """'8 ranks share 2 processors', where most do."""
    return f"{_who_shared(shared[0])} share {count(len(shared[0].processors), 'processor')}"


def _who_shared(shared: SharedProcessors) -> str:
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


UNDISTURBED, TRACED = "undisturbed", "traced"
"""Which run shares refer to, in --json."""
LONGER = "Times and shares are of the run as traced, which others made longer."


def others_lines(program: Program) -> Iterator[str]:
    """What others took of which rank, and what that means for all shares; none on a quiet machine.

    It comes first wherever a program is shown.
    """
    traced, shown = traced_run(program), shown_run(program)
    shares = taken_by_others(traced).drop_nulls("share").sort("share", "rank", descending=True)
    if shares.is_empty() or shares["share"][0] < QUIET:
        return
    most, least = (percent(shares["share"][place]) for place in (0, -1))
    off = f"was off its core for {most} of the run ({_who(traced)})"
    if len(shares) > 1 and most == least:
        yield f"Every rank {off}."
    else:
        of_others = f", the other ranks for {least} or more" if len(shares) > 1 else ""
        yield f"Rank {shares['rank'][0]} {off}{of_others}."
    if shown.as_traced is not None:
        yield _without(shown)
    elif is_disturbed(program):
        yield LONGER


def others_json(program: Program) -> dict[str, Any]:
    """By rank what others took, how much earlier the run would have ended, and the run that all
    shares refer to with its time beside that of the run as traced.
    """
    traced, shown = traced_run(program), shown_run(program)
    return {
        "ranks": taken_by_others(traced).to_dicts(),
        "on_critical_path_s": taken_from_run_s(traced),
        "shares_of": TRACED if shown.as_traced is None else UNDISTURBED,
        "elapsed_s": shown.elapsed_s,
        "measured_s": traced.elapsed_s,
        "disturbed": is_disturbed(program),
    }


def _who(program: Program) -> str:
    shared = shared_processors(program)
    if not shared:
        return "other processes"
    return f"other {_unit(shared[0])}s and processes"


def _unit(shared: SharedProcessors) -> str:
    return "thread" if shared.has_threads else "rank"


def _without(shown: Program) -> str:
    traced, shared = traced_run(shown), shared_processors(shown)
    # A message between hosts may come while its receiver has no processor: then nothing is lost.
    least = "at least " if len(set(shown.hosts)) > 1 else ""
    return (
        f"With a processor for each {_unit(shared[0]) if shared else 'rank'} the run would take "
        f"{least}{format_time(shown.elapsed_s)} instead of {format_time(traced.elapsed_s)}; "
        "all times and shares are of that run."
    )

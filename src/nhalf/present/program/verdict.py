"""The verdict on a traced program: what others took, the main cause, how much of it is MPI."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from nhalf.base.numbers import grouped, percent, times
from nhalf.base.units import format_time
from nhalf.decide.program.basis import (
    HELD,
    QUIET,
    Efficiency,
    ShareInMpi,
    efficiency,
    is_disturbed,
    share_in_mpi,
    shown_run,
    traced_run,
)
from nhalf.facts.program import calls as call_facts
from nhalf.facts.program import disturbance
from nhalf.facts.program.disturbance import (
    SharedProcessors,
    shared_processors,
    taken_by_others,
    taken_from_run_s,
)
from nhalf.facts.program.program import Program, is_counted
from nhalf.present.findings import findings
from nhalf.present.wording import count

AT_ONCE_S = 0.1
CALLS_MAX = 10
"""A program with more calls of a rank did something."""


def failed_start(program: Program) -> str:
    """One sentence, if the program failed, or came to its end before it did anything; else ''."""
    exit_code = program.trace.exit_code
    after = f"{format_time(program.elapsed_s)} after MPI_Init"
    if exit_code:
        return (
            f"The program failed (exit code {exit_code}), {after}: its output says why, and what "
            "follows is of a run that did not do its work."
        )
    calls = program.calls.group_by("rank").agg(pl.col("count").sum())["count"]
    most = int(max(calls, default=0))
    if program.is_timed and program.elapsed_s < AT_ONCE_S and most < CALLS_MAX:
        return (
            f"The program ended at once, {after} with {count(most, 'call')} of MPI on a rank: does "
            "it have its input? Its output may say."
        )
    return ""


OFTEN = 10
"""What is made more often is made in a loop."""
_MADE = {
    call_facts.WINDOWS: "windows are made and freed",
    call_facts.COMMUNICATORS: "communicators are made",
    call_facts.PERSISTENT: "persistent requests are started or freed one by one",
    call_facts.TYPES: "datatypes are made or data is packed",
    call_facts.PROCESSES: "processes are started or connected",
}
_REMEDIES = {
    call_facts.WINDOWS: "make them once and reuse them",
    call_facts.COMMUNICATORS: "make them once and reuse them",
    call_facts.PERSISTENT: "make them once, and start them together (MPI_Startall)",
    call_facts.TYPES: "make types once and reuse them, and send from where the data is",
    call_facts.PROCESSES: "start them once and keep them",
}


def is_made_often(leading: call_facts.LeadingCalls) -> bool:
    """Whether the calls make in a loop what could be made once."""
    return leading.family in _MADE and leading.times >= OFTEN


def advice(leading: call_facts.LeadingCalls) -> str:
    """One sentence without a point at its end; '' where the calls are messages and operations."""
    name, times = leading.family, leading.times
    if is_made_often(leading):
        return f"{_MADE[name]} {grouped(times)} times: {_REMEDIES[name]}"
    if name in _MADE:
        return f"{leading.call} is set-up, called {_times(times)}: it weighs less in a longer run"
    if name == call_facts.POLLING:
        return (
            f"rank {leading.rank} polls {grouped(times)} times ({leading.call}): compute between "
            "polls, or wait (MPI_Wait, MPI_Probe)"
        )
    if name == call_facts.EPOCHS and leading.waiting_share > 0.5:
        return (
            f"ranks wait in {leading.call}, called {_times(times)}: put more accesses into one "
            "epoch, or lock once (MPI_Win_lock_all) and flush"
        )
    if name == call_facts.FILES:
        return (
            f"{leading.call} takes {percent(leading.share)} of the time in MPI: write larger "
            "blocks, collectively (MPI_File_write_all)"
        )
    return ""


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{grouped(number)} times")


LOSS_MIN = 0.02
"""Smaller losses are not worth a program's change."""
WAITS = 0.5
"""Calls that wait for this share of their time are those of ranks that wait for others."""
LATE_WORK = (
    "ranks wait for each other's results; send them earlier or in smaller parts, or let ranks work "
    "on something else meanwhile (a faster network does not help)"
)


def main_cause(program: Program, tree: Efficiency | None) -> str:
    """'Main cause: …', or where none is known, what to do first; '' if nothing is lost.

    `program` is the run that shares refer to, `tree` its efficiencies.
    """
    if shared := disturbance.shared_processors(program):
        processors = count(len(shared[0].processors), "processor")
        remedy_text = REMEDY[:1].lower() + REMEDY[1:]
        cause = f"Main cause: {_who_shared(shared[0])} share {processors}; {remedy_text}"
        return " ".join(filter(None, [cause, _besides(program)]))
    if is_disturbed(program) and disturbance.most_taken_share(program) >= HELD:
        return " ".join(filter(None, [_others(program), _besides(program)]))
    if tree is None:
        return _of_calls(program)
    losses: dict[Callable[[Program], str], float] = {_imbalance: 1 - tree.load_balance_share}
    if tree.serialisation_share is None or tree.transfer_share is None:
        losses[_of_calls] = 1 - tree.communication_share
    else:
        losses[lambda _: f"Main cause: {LATE_WORK}."] = 1 - tree.serialisation_share
        losses[_of_calls] = 1 - tree.transfer_share
    remedy, loss = max(losses.items(), key=lambda item: item[1])
    besides = _besides(program) if remedy is not _of_calls else ""
    return " ".join(filter(None, [remedy(program), besides])) if loss >= LOSS_MIN else ""


def _others(program: Program) -> str:
    is_told = program.timeline.is_empty() and not call_facts.has_threads(program)
    timeline = ", or trace with --detail timeline to see the run without them" if is_told else ""
    return f"Main cause: other processes have the ranks' processors; use idle ones{timeline}."


def _besides(program: Program) -> str:
    """What is made too often, which does not depend on who has the processors."""
    leading = call_facts.leading_calls(program)
    return "" if leading is None or not is_made_often(leading) else f"Besides, {advice(leading)}."


def _imbalance(program: Program) -> str:
    seconds = disturbance.undisturbed_computing_s(program)
    rank = max(seconds, key=lambda rank: seconds[rank])
    ratio = seconds[rank] * len(seconds) / sum(seconds.values())
    return f"Main cause: rank {rank} computes {times(ratio)} the average; rebalance the work."


def _of_calls(program: Program) -> str:
    """By the calls that lead, else the remedy of the first finding that has one."""
    leading = call_facts.leading_calls(program)
    if leading is not None and (text := advice(leading)):
        return f"Main cause: {text}."
    if leading is not None and leading.waiting_share > WAITS and program.timeline.is_empty():
        at = f" at {leading.place}" if leading.place else ""
        return (
            f"Main cause: ranks wait for others in {leading.call}{at} "
            f"({percent(leading.waiting_share)} of the time there); for whom, a trace with "
            "--detail timeline tells."
        )
    remedy = next((finding.remedy for finding in findings(program) if finding.remedy), "")
    return f"First: {remedy}" if remedy else ""


LITTLE = 0.05
"""Below this share of the run, faster messages do not pay."""
MOST = 0.5
CUT = "The timeline is cut off."


def program_verdict(program: Program) -> str:
    """A few sentences for whoever decides, what others took first; '' if the time in MPI is
    unknown.
    """
    verdict = verdict_alone(program)
    return " ".join([*others_lines(program), verdict]) if verdict else ""


def verdict_alone(program: Program) -> str:
    """The verdict without what others took, of the run that shares refer to."""
    shown = shown_run(program)
    failed = failed_start(shown)
    in_mpi = share_in_mpi(shown)
    if in_mpi is None:
        return failed
    tree = efficiency(shown)
    sentences = []
    if not shown.trace.complete:
        sentences.append(CUT if is_counted(shown) else "The trace is incomplete.")
    if failed:
        return " ".join([*sentences, failed])
    is_little = in_mpi.mean_share < LITTLE and not disturbance.shared_processors(shown)
    if is_little and not is_disturbed(shown):
        return " ".join([*sentences, _share(shown, in_mpi, tree), "Look at the computing first."])
    cause = main_cause(shown, tree)
    return " ".join(filter(None, [*sentences, cause, _share(shown, in_mpi, tree)]))


def _share(program: Program, in_mpi: ShareInMpi, tree: Efficiency | None) -> str:
    low, high = percent(in_mpi.least_share), percent(in_mpi.most_share)
    spread = "" if low == high else f" (by rank {low} to {high})"
    whole = "threads' time" if call_facts.has_threads(program) else "run"
    lead = "most of it in" if in_mpi.call_share >= MOST else "led by"
    is_longer = is_disturbed(program) or (
        disturbance.shared_processors(program) and not program.as_traced
    )
    saving = "" if is_longer else f": {_saving(in_mpi.mean_share, tree)}"
    return (
        f"{percent(in_mpi.mean_share)} of the {whole} is in MPI{spread}, {lead} {in_mpi.call}"
        f"{_place(program, in_mpi.call)}{saving}."
    )


def _place(program: Program, call: str) -> str:
    """Where the call takes most of its time, if that is known."""
    rows = call_facts.most_expensive(program).filter(pl.col("call") == call)
    if rows.is_empty() or not rows["place"][0]:
        return ""
    is_most = float(rows["time_s"][0]) >= MOST * float(rows["time_s"].sum())
    return f" at {rows['place'][0]}" if is_most else f" (most at {rows['place'][0]})"


def _saving(in_mpi_share: float, tree: Efficiency | None) -> str:
    """What faster communication can save: all time in MPI, or as much as a replay says."""
    if tree is None or tree.transfer_share is None:
        return f"faster communication can save {percent(in_mpi_share)} at most"
    saved = max(0.0, 1 - tree.transfer_share)
    return f"an infinitely fast network would save at most {percent(saved)}"


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
    return f"other {_unit(shared[0])}s and processes" if shared else "other processes"


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

"""The main cause of what a program loses, with what to do about it."""

from __future__ import annotations

from collections.abc import Callable

from nhalf.base.numbers import percent, times
from nhalf.decide.program.basis import HELD, is_disturbed
from nhalf.decide.program.efficiency import Efficiency
from nhalf.facts.program.calls import has_threads, leading_calls
from nhalf.facts.program.disturbance import (
    most_taken_share,
    shared_processors,
    undisturbed_computing_s,
)
from nhalf.facts.program.program import Program
from nhalf.present.findings import findings
from nhalf.present.program.advice import advice, is_made_often
from nhalf.present.program.sharing import REMEDY, shared_text

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
    if shared := shared_processors(program):
        cause = f"Main cause: {shared_text(shared)}; {_lower(REMEDY)}"
        return " ".join(filter(None, [cause, _besides(program)]))
    if is_disturbed(program) and most_taken_share(program) >= HELD:
        return " ".join(filter(None, [_others(program), _besides(program)]))
    if tree is None:
        return _of_calls(program)
    losses: dict[Callable[[Program], str], float] = {_imbalance: 1 - tree.load_balance_share}
    if tree.serialisation_share is None or tree.transfer_share is None:
        losses[_of_calls] = 1 - tree.communication_share
    else:
        losses[_late_work] = 1 - tree.serialisation_share
        losses[_of_calls] = 1 - tree.transfer_share
    remedy, loss = max(losses.items(), key=lambda item: item[1])
    besides = _besides(program) if remedy is not _of_calls else ""
    return " ".join(filter(None, [remedy(program), besides])) if loss >= LOSS_MIN else ""


def _others(program: Program) -> str:
    is_told = program.timeline.is_empty() and not has_threads(program)
    timeline = ", or trace with --detail timeline to see the run without them" if is_told else ""
    return f"Main cause: other processes have the ranks' processors; use idle ones{timeline}."


def _besides(program: Program) -> str:
    """What is made too often, which does not depend on who has the processors."""
    leading = leading_calls(program)
    if leading is None or not is_made_often(leading):
        return ""
    return f"Besides, {advice(leading)}."


def _imbalance(program: Program) -> str:
    seconds = undisturbed_computing_s(program)
    rank = max(seconds, key=lambda rank: seconds[rank])
    ratio = seconds[rank] * len(seconds) / sum(seconds.values())
    return f"Main cause: rank {rank} computes {times(ratio)} the average; rebalance the work."


def _late_work(_: Program) -> str:
    return f"Main cause: {LATE_WORK}."


def _of_calls(program: Program) -> str:
    """By the calls that lead, else the remedy of the first finding that has one."""
    leading = leading_calls(program)
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


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]

# SPDX-License-Identifier: Apache-2.0
"""What to do first about a program: by the efficiency that costs it most."""

from __future__ import annotations

from nhalf.base.numbers import times
from nhalf.decide.program.efficiency import Efficiency
from nhalf.facts.program.disturbance import undisturbed_computing_s
from nhalf.facts.program.program import Program
from nhalf.present.findings import findings

LOSS_MIN = 0.02
"""Smaller losses are not worth a program's change."""
LATE_WORK = (
    "Ranks wait for each other's results: send them earlier, in smaller parts, or let ranks work "
    "on something else meanwhile; a faster network does not help."
)


def first_step(program: Program, tree: Efficiency | None) -> str:
    """A remedy for the largest loss; '' if there is none."""
    if tree is None or tree.serialisation_share is None or tree.transfer_share is None:
        return _of_messages(program)
    losses = {
        _less_work: 1 - tree.load_balance_share,
        _earlier_results: 1 - tree.serialisation_share,
        _of_messages: 1 - tree.transfer_share,
    }
    remedy, loss = max(losses.items(), key=lambda item: item[1])
    return remedy(program) if loss >= LOSS_MIN else ""


def _less_work(program: Program) -> str:
    seconds = undisturbed_computing_s(program)
    rank = max(seconds, key=lambda rank: seconds[rank])
    ratio = seconds[rank] * len(seconds) / sum(seconds.values())
    return f"Rank {rank} computes {times(ratio)} the mean: give it less work."


def _earlier_results(_: Program) -> str:
    return LATE_WORK


def _of_messages(program: Program) -> str:
    """The remedy of the first finding that has one."""
    return next((finding.remedy for finding in findings(program) if finding.remedy), "")

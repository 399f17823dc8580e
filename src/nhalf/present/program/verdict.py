# SPDX-License-Identifier: Apache-2.0
"""The verdict on a traced program: how much of it is MPI, and what to look at first."""

from __future__ import annotations

from nhalf.base.numbers import percent
from nhalf.decide.program.efficiency import Efficiency, efficiency
from nhalf.decide.program.share_in_mpi import share_in_mpi
from nhalf.facts.program.program import Program
from nhalf.facts.program.shared_processors import shared_processors
from nhalf.facts.program.whole_timeline import is_counted
from nhalf.present.program.largest_loss import first_step
from nhalf.present.program.sharing import REMEDY

LITTLE = 0.05
"""Below this share of the run, faster messages do not pay."""
CUT = "The timeline is cut off."


def program_verdict(program: Program) -> str:
    """One to three sentences for whoever decides; '' if the time in MPI is unknown."""
    in_mpi = share_in_mpi(program)
    if in_mpi is None:
        return ""
    low, high = percent(in_mpi.least_share), percent(in_mpi.most_share)
    spread = "" if low == high else f" (by rank {low} to {high})"
    tree = efficiency(program)
    sentences = [
        f"{percent(in_mpi.mean_share)} of the run is in MPI{spread}, most of it in {in_mpi.call}: "
        f"{_saving(in_mpi.mean_share, tree)}."
    ]
    if shared_processors(program):
        sentences.append(f"First: {REMEDY}")
    elif in_mpi.mean_share < LITTLE:
        sentences.append("Look at the computing first.")
    else:
        remedy = first_step(program, tree)
        sentences += [f"First: {remedy}"] if remedy else []
    if not program.trace.complete:
        sentences.insert(0, CUT if is_counted(program) else "The trace is incomplete.")
    return " ".join(sentences)


def _saving(in_mpi_share: float, tree: Efficiency | None) -> str:
    """What faster communication can save: all time in MPI, or as much as a replay says."""
    if tree is None or tree.transfer_share is None:
        return f"faster communication can save {percent(in_mpi_share)} at most"
    saved = max(0.0, 1 - tree.transfer_share)
    return f"a network on which nothing takes time would save {percent(saved)}"

"""Which run all shares of a program refer to: without others where that is known, else as traced.

It is known with a timeline that nothing cut off, of calls whose order a replay follows. Where
others took a noticeable part of a rank's time and it is not known, shares are those of a run that
they made longer by an unknown amount: then no efficiency is known, nor what faster communication
would save.
"""

from __future__ import annotations

import polars as pl

from nhalf.decide.program.undisturbed_program import undisturbed_program
from nhalf.facts.fact import fact
from nhalf.facts.program.disturbance import most_taken_share
from nhalf.facts.program.program import Program

QUIET = 0.01
"""Others take this share of a rank's time on any quiet machine."""
NOTICEABLE = 0.05
"""From this share on, the run as traced does not tell efficiencies."""
HELD = 0.2
"""Others that have this share of a rank's time are the first cause of how long a run takes."""
LONGER = 0.02
"""A run that would be longer by more than this share without others is not known without them."""


FOLLOWED = 0.95
"""A replay that does not follow more than the rest of the time in MPI does not tell a run."""


@fact
def shown_run(program: Program) -> Program:
    """The run that all shares refer to; itself if others took nothing of it."""
    if most_taken_share(program) < QUIET or _followed_share(program) < FOLLOWED:
        return program
    alone = undisturbed_program(program)
    is_plausible = 0 < alone.elapsed_s <= (1 + LONGER) * program.elapsed_s
    return alone if is_plausible else program


def _followed_share(program: Program) -> float:
    """The share of the time in MPI of calls that replays follow: one-sided accesses, and what waits
    for these, are not.
    """
    in_mpi_s = float(program.calls["time_s"].sum())
    waits_for_accesses = (pl.col("kind") == "waiting") & pl.col("call").str.starts_with("MPI_Win_")
    is_lost = (pl.col("kind") == "one-sided") | waits_for_accesses
    lost_s = float(program.calls.filter(is_lost)["time_s"].sum())
    return 1 - lost_s / in_mpi_s if in_mpi_s > 0 else 1.0


@fact
def is_disturbed(program: Program) -> bool:
    """Whether others slowed the run that shares refer to by an unknown amount."""
    shown = shown_run(program)
    return shown.as_traced is None and most_taken_share(shown) >= NOTICEABLE


def traced_run(program: Program) -> Program:
    """The run that was traced, of which others may have had a part."""
    return program.as_traced or program

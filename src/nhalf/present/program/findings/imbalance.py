# SPDX-License-Identifier: Apache-2.0
"""A rank that computes longer than the others and makes them wait."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent, times
from nhalf.decide.program.basis import is_disturbed
from nhalf.decide.program.share_in_mpi import shares_in_mpi
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finder, Finding

RATIO_MIN = 1.1
SAVED_SHARE_MIN = 0.02


class Imbalance(Finder[Program]):
    """Time outside MPI counts as computing; not where others slowed it by nobody knows what."""

    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed:
            return
        shares = shares_in_mpi(program)["time_share"].drop_nulls()
        if shares.len() < 2 or is_disturbed(program):
            return
        computing = 1 - shares
        mean, most = float(computing.mean() or 0), float(computing.max())  # type: ignore[arg-type]
        if mean <= 0 or most < RATIO_MIN * mean or most - mean < SAVED_SHARE_MIN:
            return
        rank = computing.arg_max()
        yield Finding(
            f"Rank {rank} spends {times(most / mean)} the mean time of all ranks outside MPI: "
            f"with equal shares of the work the run could be up to {percent(most - mean)} shorter.",
            importance=68,
            kind="imbalance",
            value=most / mean,
            label="Load imbalance",
            figure=times(most / mean),
        )

# SPDX-License-Identifier: Apache-2.0
"""The share of the run spent in MPI, and the call that takes most of it."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.decide.program.share_in_mpi import share_in_mpi
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finder, Finding


class TimeInMpi(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed:
            return
        in_mpi = share_in_mpi(program)
        if in_mpi is None:
            return
        low, high = percent(in_mpi.least_share), percent(in_mpi.most_share)
        spread = "" if low == high else f" ({low} to {high})"
        yield Finding(
            f"Ranks spend {percent(in_mpi.mean_share)} of the run in MPI{spread}; "
            f"{in_mpi.call} takes {percent(in_mpi.call_share)} of that.",
            importance=70,
            kind="time-in-mpi",
            value=in_mpi.mean_share,
            label="Time in MPI",
            figure=percent(in_mpi.mean_share),
        )

# SPDX-License-Identifier: Apache-2.0
"""The share of the run spent in MPI, and the call that takes most of it."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.base.numbers import percent
from nhalf.facts.program.program import Program
from nhalf.facts.program.time_in_mpi import time_by_call, time_by_rank
from nhalf.present.findings import Finder, Finding


class TimeInMpi(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        shares = time_by_rank(program)["time_share"].drop_nulls()
        if shares.is_empty() or not shares.sum():
            return
        mean = float(shares.mean())  # type: ignore[arg-type]
        low, high = (percent(share) for share in (min(shares), max(shares)))
        calls = time_by_call(program).group_by("call").agg(pl.col("time_s").sum())
        most = calls.sort("time_s", "call", descending=[True, False]).row(0, named=True)
        of_mpi = most["time_s"] / calls["time_s"].sum()
        spread = "" if low == high else f" ({low} to {high})"
        yield Finding(
            f"Ranks spend {percent(mean)} of the run in MPI{spread}; "
            f"{most['call']} takes {percent(of_mpi)} of that.",
            importance=70,
            kind="time-in-mpi",
            value=mean,
            label="Time in MPI",
            figure=percent(mean),
        )

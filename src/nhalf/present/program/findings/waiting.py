# SPDX-License-Identifier: Apache-2.0
"""Ranks that wait for much of the run, and the cause."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.base.numbers import percent
from nhalf.decide.program.basis import is_disturbed
from nhalf.decide.program.share_in_mpi import shares_in_mpi
from nhalf.facts.program.program import Program
from nhalf.facts.program.waiting import waiting_by_cause
from nhalf.present.findings import Finder, Finding

SHARE_MIN = 0.05
EQUAL = 1.1
CAUSES = {
    "late sender": "for messages that are sent late",
    "late receiver": "for receivers that are late",
    "collective": "in collective operations for the last rank",
    "completion": "for messages to complete",
}


class Waiting(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed:
            return
        shares = shares_in_mpi(program).drop_nulls()
        if shares.is_empty():
            return
        most = shares.sort("waiting_share", "rank", descending=[True, False]).row(0, named=True)
        share = most["waiting_share"]
        if share < SHARE_MIN:
            return
        mean = float(shares["waiting_share"].mean())  # type: ignore[arg-type]
        causes = waiting_by_cause(program).filter(pl.col("rank") == most["rank"]).sort("waiting_s")
        cause = CAUSES[causes["cause"][-1]] if causes.height else ""
        least = shares.sort("waiting_share", "rank").row(0, named=True)
        remedy = ""
        if least["waiting_share"] < share / 2 and not is_disturbed(program):
            least_share = percent(least["waiting_share"])
            remedy = f"Rank {least['rank']} waits least ({least_share}): rebalance the work."
        who = f"Rank {most['rank']} waits" if share > EQUAL * mean else "Ranks wait"
        beside = f"; the mean of all ranks is {percent(mean)}" if share > EQUAL * mean else ""
        yield Finding(
            f"{who} for {percent(share)} of the run, mostly {cause}{beside}.",
            importance=75 if share > 0.2 else 55,
            kind="waiting",
            remedy=remedy,
            value=share,
            label="Waiting",
            figure=percent(share),
        )

# SPDX-License-Identifier: Apache-2.0
"""The collective operation that takes most of the run."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.base.units import format_size, format_time
from nhalf.facts.program.collectives import collective_calls
from nhalf.facts.program.program import Program
from nhalf.facts.program.threads import threads_by_rank
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count

SHARE_MIN = 0.05
TUNED = ("bcast", "barrier", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter")


class CostlyCollective(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        if collective_calls(program).is_empty() or program.elapsed_s <= 0:
            return
        row = collective_calls(program).row(0, named=True)
        threads = threads_by_rank(program)["threads"].sum() / program.ranks
        share = min(1.0, row["time_s"] / program.elapsed_s / threads)
        if share < SHARE_MIN:
            return
        size = f" of {format_size(row['size_bytes'])}" if row["size_bytes"] else ""
        waits = row["waiting_s"] / row["time_s"] if row["time_s"] else 0.0
        late = f", {percent(waits)} of it waiting" if waits > 0.1 else ""
        remedy = ""
        if row["operation"] in TUNED and waits < 0.5:
            arguments = f"--pattern {row['operation']} --ranks {row['ranks']}"
            remedy = f"Choose its algorithm: nhalf tune {arguments}."
        yield Finding(
            f"{row['call']}{size} takes {percent(share)} of the run: "
            f"{count(row['operations'], 'operation')} among {row['ranks']} ranks, "
            f"{format_time(row['time_s'] / max(1, row['operations']))} each{late}.",
            importance=65,
            kind="costly-collective",
            remedy=remedy,
            value=share,
            label="Collectives",
            figure=percent(share),
        )

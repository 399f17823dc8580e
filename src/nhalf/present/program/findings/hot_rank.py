# SPDX-License-Identifier: Apache-2.0
"""A rank that receives many times as many messages as the others."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent, times
from nhalf.facts.program.matrix import communication_matrix
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape.hubs import MASTER_WORKER
from nhalf.facts.program.shape.naming import communication_shape
from nhalf.present.findings import Finder, Finding

RATIO_MIN = 4.0
RANKS_MIN = 4


class HotRank(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        received = communication_matrix(program).messages.sum(axis=0)
        if program.ranks < RANKS_MIN or not received.sum():
            return
        rank = int(received.argmax())
        ratio = float(received[rank] / received.mean())
        if ratio < RATIO_MIN:
            return
        is_master = communication_shape(program).name == MASTER_WORKER
        yield Finding(
            f"Rank {rank} receives {percent(received[rank] / received.sum())} of all messages, "
            f"{times(ratio)} the mean.",
            importance=60,
            kind="hot-rank",
            remedy="Use several masters, or hand out larger pieces of work." if is_master else "",
            value=ratio,
            label="Hot rank",
        )

# SPDX-License-Identifier: Apache-2.0
"""What is said while ranks run in virtual time."""

from __future__ import annotations

from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.state import State
from nhalf.measure.probe.subject import plain_subject
from nhalf.measure.virtual.progress import VirtualProgress, least_s
from nhalf.measure.virtual.region import Member, Presence

MEMBERS = [
    Member(1, Presence.ACTIVE, 2_000_000, 3, 24),
    Member(2, Presence.ACTIVE, 5_500_000, 1200, 96),
]


def test_a_line_every_few_seconds() -> None:
    said: list[str] = []
    clock = [100.0]
    progress = VirtualProgress(said.append, lambda: clock[0])
    for seconds in (1.0, 4.0, 1.0, 5.0):
        clock[0] += seconds
        progress.look(MEMBERS)
    assert said == [
        "5.5 µs virtual, 5 s real, 1203 messages",
        "5.5 µs virtual, 11 s real, 1203 messages",
    ]


def _least_s(pattern: str, ranks: int, sizes: str) -> float:
    block = Block([pattern], [ranks], sizes, launches=1)
    plan = Plan(["model"], [], [block], 1, 0.0, 0.03, "", 1, 60.0)
    return least_s(Agenda(plan, [plain_subject("model")], State(placement="cores")))


def test_real_time_grows_with_ranks_and_bytes() -> None:
    few, many = (_least_s("allreduce", ranks, "8,16,32") for ranks in (4, 128))
    assert 30 < many / few < 100
    # Four exchanges of 63 x 64 messages of 1 MiB at 1 GB/s.
    assert 15 < _least_s("alltoall", 64, "1M") < 20

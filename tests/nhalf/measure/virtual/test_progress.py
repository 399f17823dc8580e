"""What is said while ranks run in virtual time."""

from __future__ import annotations

from nhalf.measure.virtual.progress import VirtualProgress
from nhalf.measure.virtual.region import Presence, RankRecord

MEMBERS = [
    RankRecord(1, Presence.ACTIVE, 2_000_000, 3, 24),
    RankRecord(2, Presence.ACTIVE, 5_500_000, 1200, 96),
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

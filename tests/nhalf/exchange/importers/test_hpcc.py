"""HPC Challenge: its summary, as ping-pongs of the slowest pair and rings."""

from __future__ import annotations

import pytest

from nhalf.exchange.logs.log import read_text

SUMMARY = """Begin of Summary section.
CommWorldProcs=8
MaxPingPongLatency_usec=4
RandomlyOrderedRingLatency_usec=6
MinPingPongBandwidth_GBytes=0.9
NaturallyOrderedRingBandwidth_GBytes=0.5
MinPingPongLatency_usec=1
AvgPingPongLatency_usec=2
End of Summary section.
"""


def test_the_summary_has_ping_pongs_and_rings() -> None:
    points = read_text(SUMMARY).points
    assert [(p.pattern, p.size_bytes, p.ranks, dict(p.axes)) for p in points] == [
        ("pingpong", 8, 2, {"pair": "slowest"}),
        ("hpcc-ring", 8, 8, {"order": "random"}),
        ("pingpong", 2_000_000, 2, {"pair": "slowest"}),
        ("hpcc-ring", 2_000_000, 8, {"order": "natural"}),
    ]
    assert [p.samples_s[0] for p in points] == pytest.approx([4e-6, 6e-6, 2e6 / 0.9e9, 4e-3])
    assert points[0].values == pytest.approx({"minimum_s": 1e-6, "average_s": 2e-6})


@pytest.mark.parametrize("cut", range(0, len(SUMMARY), 7))
def test_a_summary_that_was_cut_has_fewer_points(cut: int) -> None:
    times_s = {p.samples_s[0] for p in read_text(SUMMARY).points}
    assert {p.samples_s[0] for p in read_text(SUMMARY[:cut] + "\n", 8).points} <= times_s

"""What is left out where the time does not do."""

from __future__ import annotations

from collections import Counter

from nhalf.measure.plan.plan import Block
from tests.nhalf.measure.loop.fakes import Fake, Go, measured


def test_a_budget_that_does_not_do_leaves_sizes_out(fake: Fake, go: Go) -> None:
    """Every point takes 50 ms: two launches of 101 sizes are 10 s and more."""
    _, events = go(fake(each="time.sleep(0.05)"), bytes="0:100:1", launches=2, budget_s=3.0)
    found = measured(events)
    sizes = {n for _, _, n in found}
    assert {0, 100} <= sizes
    assert len(sizes) < 101
    assert sum(found.values()) * 0.05 < 5.0


def test_a_whole_block_that_turns_out_too_slow_is_left_out(fake: Fake, go: Go) -> None:
    """Its 300 points of 50 ms are 15 s: it is given up on the way, the others are measured."""
    whole = Block(["ibcast"], [2], "0:299:1", axes={"work": "0"}, whole=True)
    slow = 'asked["pattern"] == "ibcast" and time.sleep(0.05)'
    blocks = [whole, Block(["pingpong"], [2], "0,8,64")]
    _, events = go(fake(each=slow), blocks=blocks, launches=2, budget_s=4.0)
    found = Counter(e["pattern"] for e in events if e["event"] == "point")
    assert found["pingpong"] == 6
    assert found["ibcast"] < 150

"""Each gap between two rungs has its cause and a remedy."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.loops.climb import Climb

CAUSES: dict[str, dict[str, Any]] = {
    "values are kept in memory": {"emitted_cycles": 2.0, "is_optimised": False},
    "registers spill": {"emitted_cycles": 2.0, "spills_per_iteration": 1.0},
    "not vectorised": {"emitted_cycles": 2.0, "is_vector": False},
    "redundant loads": {"emitted_cycles": 2.0, "loads_ratio": 1.5},
    "multiply-adds are not fused": {"emitted_cycles": 2.0, "is_fused": False},
    "vectors narrower": {"emitted_cycles": 2.0},
    "each iteration waits for the one before": {"scheduled_cycles": 2.0},
    "each iteration waits for a value that goes through memory": {
        "scheduled_cycles": 2.0,
        "is_optimised": False,
    },
    "misses": {"measured_cycles": 2.0, "is_in_cache": False},
    "neither units nor chains": {"measured_cycles": 2.0},
}


@pytest.mark.parametrize("cause", CAUSES)
def test_each_gap_has_its_cause(cause: str) -> None:
    rungs = ("emitted_cycles", "scheduled_cycles", "measured_cycles")
    # All rungs below the one that is too high are as high.
    high = next(name for name in rungs if name in CAUSES[cause])
    cycles = {name: 1.0 + (rungs.index(name) >= rungs.index(high)) for name in rungs}
    (gap,) = Climb(essential_cycles=1.0, **{**cycles, **CAUSES[cause]}).gaps()
    assert gap.cause.startswith(cause)
    assert gap.remedy
    assert gap.ratio == pytest.approx(2.0)


def test_small_and_unknown_gaps_are_not_explained() -> None:
    assert Climb(essential_cycles=1.0, emitted_cycles=1.1, scheduled_cycles=1.3).gaps() == []
    assert Climb(measured_cycles=9.0).gaps() == []
    assert Climb(measured_cycles=9.0).share is None
    assert Climb(essential_cycles=3.0, measured_cycles=4.0).share == 0.75


def test_a_store_keeps_every_rung() -> None:
    climb = Climb(essential_cycles=1.5, is_vector=False, spills_per_iteration=2.0)
    assert Climb.of_values({**climb.as_values(), "cycle_s": 1e-9}) == climb
    assert Climb.of_values({}) == Climb()

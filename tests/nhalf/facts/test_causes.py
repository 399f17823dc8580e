"""Near the end of a cache a change is one of protocol or of the cache; other buffers tell which."""

from __future__ import annotations

import pytest

from nhalf.facts.causes import with_causes
from nhalf.machines.curve import breakpoints_between
from nhalf.machines.machine import FittedModel, Segment

KIB, MIB = 1 << 10, 1 << 20
ENVIRONMENTS = {"run": {"caches": {"L2_bytes": 2 * MIB, "L3_bytes": 64 * MIB}}}


def model(
    at: int, pattern: str = "pingpong", bend: bool = False, faster: bool = False
) -> FittedModel:
    """A curve that changes between half of a size and the size."""
    slow = Segment(from_bytes=at, to_bytes=16 * MIB, t0_s=1e-6 if bend else 1e-3, r_inf_Bps=5e9)
    fast = Segment(from_bytes=0, to_bytes=at // 2, t0_s=1e-6, r_inf_Bps=1e10)
    if faster:
        slow, fast = (
            Segment(from_bytes=at, to_bytes=16 * MIB, t0_s=1e-6, r_inf_Bps=1e10),
            Segment(from_bytes=0, to_bytes=at // 2, t0_s=1e-3, r_inf_Bps=5e9),
        )
    segments = (fast, slow)
    return FittedModel(
        run="run",
        transport="mpi",
        mpi="mpich",
        pattern=pattern,
        ranks=2,
        segments=segments,
        breakpoints=breakpoints_between(segments),
    )


def cause(*models: FittedModel) -> str:
    return with_causes(models, ENVIRONMENTS)[0].breakpoints[0].cause


@pytest.mark.parametrize("bend", [False, True])
def test_near_the_end_of_a_cache_both_are_named(bend: bool) -> None:
    assert cause(model(2 * MIB, bend=bend)) == "protocol or L2 cache"


def test_elsewhere_and_where_time_is_saved_nothing_is_said() -> None:
    assert cause(model(64 * KIB)) == ""
    assert cause(model(2 * MIB, faster=True)) == ""
    (alone,) = with_causes([model(2 * MIB)], {})
    assert alone.breakpoints[0].cause == ""


def test_several_buffers_in_turn_tell_which() -> None:
    """What stays at its size is the protocol; the end of a cache moves with the memory in use."""
    stays = model(2 * MIB, "pingpong-diffbuf")
    moves = model(256 * KIB, "pingpong-diffbuf")
    assert cause(model(2 * MIB), stays) == "protocol"
    assert cause(model(2 * MIB), moves) == "L2 cache"

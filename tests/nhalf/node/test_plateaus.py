"""Where a level of a latency curve ends, though the next one may not be flat."""

from __future__ import annotations

import pytest

from nhalf.node.plateaus import LoadTime, Plateau, rise

LEVEL = Plateau(40, 320, 14.0, 4e-9)
SIZES = (320, 448, 640, 896, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 8192)
# A private cache of 1024, of which neighbours leave little of the shared one behind it.
SHARED = (15, 18, 20, 27, 29, 38, 43, 49, 51, 53, 56, 60, 112)
GROWN = (15, 18, 20, 27, 29, 38, 43, 49, 90, 120, 200, 300, 500)
HARDLY = (14.5, 15, 16, 17, 18, 18, 18, 18, 18, 18, 18, 18, 18)


def steps(cycles: tuple[float, ...]) -> list[LoadTime]:
    return [LoadTime(size, each, each * 3e-10) for size, each in zip(SIZES, cycles, strict=True)]


def test_a_level_ends_halfway_to_what_larger_arrays_take() -> None:
    found = rise(steps(SHARED), LEVEL)
    assert found is not None
    assert (found.size_bytes, found.miss_cycles) == (1280, pytest.approx(60 - 14))


@pytest.mark.parametrize("cycles", [GROWN, HARDLY, (14.0,) * len(SIZES)])
def test_what_is_not_plain_is_no_end(cycles: tuple[float, ...]) -> None:
    assert rise(steps(cycles), LEVEL) is None


def test_a_curve_that_stops_early_has_no_end() -> None:
    assert rise(steps(SHARED)[:7], LEVEL) is None
    assert rise([], LEVEL) is None

from typing import Any, cast

import pytest

from nhalf.node.levels import SHARED, SHARED_SETS, Hierarchy, hierarchy
from nhalf.node.measuring import CoreProbe, ask
from nhalf.node.reading import Reading
from tests.nhalf.node.synthetic_core import CYCLE_S, SyntheticCore

SAPPHIRE: dict[str, Any] = {}
EPYC: dict[str, Any] = {
    "sizes": (32 << 10, 1 << 20, 32 << 20),
    "ways": (8, 8),
    "cycles": (4.0, 14.0, 48.0, 380.0),
}
POWER: dict[str, Any] = {
    "sizes": (32 << 10, 512 << 10, 10 << 20),
    "ways": (8, 8),
    "line_bytes": 128,
}


def measured(launches: int = 3, **changes: Any) -> Hierarchy:
    found: list[Reading] = []
    for launch in range(launches):
        core = SyntheticCore(launch=launch, seed=launch + 1, **changes)
        ask(cast("CoreProbe", core))
        found += core.readings
    return hierarchy(found)


@pytest.mark.parametrize("machine", [SAPPHIRE, EPYC, POWER], ids=["sapphire", "epyc", "power"])
def test_private_levels_are_what_they_are(machine: dict[str, Any]) -> None:
    truth = SyntheticCore(**machine)
    first, second, *_ = measured(**machine).levels
    for level, size, ways in zip((first, second), truth.sizes, truth.ways, strict=False):
        assert (level.size_bytes, level.ways, level.line_bytes) == (size, ways, truth.line_bytes)
        assert level.size_ci is not None
        low, high = level.size_ci
        assert low <= size <= high
    assert first.hit_s == pytest.approx(truth.cycles[0] * CYCLE_S, rel=0.02)
    assert second.hit_s == pytest.approx(truth.cycles[1] * CYCLE_S, rel=0.02)
    assert first.miss_s == pytest.approx((truth.cycles[1] - truth.cycles[0]) * CYCLE_S, rel=0.05)


def test_noise_does_not_matter() -> None:
    first, second, *_ = measured(noise=0.02).levels
    assert (first.size_bytes, first.ways) == (48 << 10, 12)
    assert (second.size_bytes, second.ways) == (2 << 20, 16)


@pytest.mark.parametrize("seed", range(5))
def test_a_busy_neighbour_makes_it_say_so_and_never_wrong(seed: int) -> None:
    found: list[Reading] = []
    for launch in range(3):
        core = SyntheticCore(launch=launch, seed=31 * seed + launch, disturbed_share=0.35)
        ask(cast("CoreProbe", core))
        found += core.readings
    for level, size in zip(hierarchy(found).levels, (48 << 10, 2 << 20), strict=False):
        assert level.size_bytes in (None, size)
        assert level.size_ci is not None
        assert level.size_ci[0] <= size <= level.size_ci[1]


def test_pages_that_no_power_of_two_explains_leave_the_sizes_that_begin_to_miss() -> None:
    swept, counted = (2 << 20, 2560 << 10), (510 << 12, 513 << 12)
    for pages, size_bytes, size_ci in (
        ([544.0] * 3, None, swept),
        ([510.0, 458.0, 513.0], 2 << 20, counted),
    ):
        found: list[Reading] = []
        for launch, count in enumerate(pages):
            core = SyntheticCore(launch=launch, seed=launch + 1, conflicting_pages=count)
            ask(cast("CoreProbe", core))
            found += core.readings
        levels = hierarchy(found)
        level = levels.levels[1]
        assert (level.size_bytes, level.size_ci) == (size_bytes, size_ci)
        assert any("level 2" in reason for reason in levels.unresolved) == (size_bytes is None)


def test_the_shared_level_is_seen_where_it_becomes_too_small() -> None:
    levels = measured()
    assert [level.level for level in levels.levels] == [1, 2, 3]
    shared = levels.levels[2]
    assert (shared.size_bytes, shared.line_bytes, shared.ways) == (None, None, None)
    assert shared.size_ci == (32 << 20, 96 << 20)
    assert shared.hit_s == pytest.approx(70 * CYCLE_S, rel=0.02)
    assert shared.miss_s == pytest.approx(180 * CYCLE_S, rel=0.2)
    assert levels.unresolved == (SHARED_SETS,)


def test_memory_right_behind_level_2_is_no_shared_level() -> None:
    levels = measured(sizes=(48 << 10, 2 << 20), cycles=(5.0, 16.0, 250.0))
    assert [level.level for level in levels.levels] == [1, 2]
    assert levels.unresolved == (SHARED,)


@pytest.mark.parametrize("size_bytes", [512 << 10, 1 << 20, 2 << 20])
def test_a_cache_whose_sets_are_chosen_by_the_whole_address_has_a_size(size_bytes: int) -> None:
    machine = {**EPYC, "sizes": (32 << 10, size_bytes, 32 << 20)}
    second = measured(**machine, conflicting_pages=size_bytes / 512 * 0.8).levels[1]
    assert (second.size_bytes, second.ways, second.line_bytes) == (size_bytes, 8, 64)
    assert second.size_ci is not None
    assert second.size_ci[0] <= size_bytes <= second.size_ci[1]


def test_nothing_is_said_of_a_curve_without_steps() -> None:
    found = measured(cycles=(5.0, 5.0, 5.0, 5.0))
    assert found.levels == ()
    assert "no level" in found.unresolved[0]

# SPDX-License-Identifier: Apache-2.0
from typing import Any, cast

import pytest

from nhalf.node.asking import Core
from nhalf.node.levels import Hierarchy, hierarchy
from nhalf.node.measuring import ask
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
        ask(cast("Core", core))
        found += core.readings
    return hierarchy(found)


@pytest.mark.parametrize("machine", [SAPPHIRE, EPYC, POWER], ids=["sapphire", "epyc", "power"])
def test_private_levels_are_what_they_are(machine: dict[str, Any]) -> None:
    truth = SyntheticCore(**machine)
    first, second = measured(**machine).levels
    for level, size, ways in zip((first, second), truth.sizes, truth.ways, strict=False):
        assert (level.size_bytes, level.ways, level.line_bytes) == (size, ways, truth.line_bytes)
        assert level.size_ci is not None
        low, high = level.size_ci
        assert low <= size <= high
    assert first.hit_s == pytest.approx(truth.cycles[0] * CYCLE_S, rel=0.02)
    assert second.hit_s == pytest.approx(truth.cycles[1] * CYCLE_S, rel=0.02)
    assert first.miss_s == pytest.approx((truth.cycles[1] - truth.cycles[0]) * CYCLE_S, rel=0.05)


def test_noise_does_not_matter() -> None:
    first, second = measured(noise=0.02).levels
    assert (first.size_bytes, first.ways) == (48 << 10, 12)
    assert (second.size_bytes, second.ways) == (2 << 20, 16)


@pytest.mark.parametrize("seed", range(5))
def test_a_busy_neighbour_makes_it_say_so_and_never_wrong(seed: int) -> None:
    found: list[Reading] = []
    for launch in range(3):
        core = SyntheticCore(launch=launch, seed=31 * seed + launch, disturbed_share=0.35)
        ask(cast("Core", core))
        found += core.readings
    for level, size in zip(hierarchy(found).levels, (48 << 10, 2 << 20), strict=False):
        assert level.size_bytes in (None, size)


def test_pages_that_no_power_of_two_explains_are_no_cache() -> None:
    for pages, size_bytes in (([544.0] * 3, None), ([510.0, 458.0, 513.0], 2 << 20)):
        found: list[Reading] = []
        for launch, count in enumerate(pages):
            core = SyntheticCore(launch=launch, seed=launch + 1, conflicting_pages=count)
            ask(cast("Core", core))
            found += core.readings
        level = hierarchy(found).levels[1]
        assert level.size_bytes == size_bytes
        assert level.size_ci is None or level.size_ci == (510.0 * 4096, 513.0 * 4096)


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

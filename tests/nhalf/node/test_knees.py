"""Where a level ends on curves whose truth is known: three ways in which a cache overflows."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from nhalf.node.measuring import sizes
from nhalf.node.plateaus import LoadTime, Plateau, knee, terraces, undisturbed

CYCLES = (4.0, 12.0, 46.0, 300.0)
CAPACITIES = (32 << 10, 512 << 10, 16 << 20)
WAYS = 8


def oldest_evicted(ratio: float) -> float:
    """Misses of arrays `ratio` times the cache in one piece: beyond it the oldest lines go."""
    return min(1.0, max(0.0, (ratio - 1) * (WAYS + 1) / ratio))


def any_evicted(ratio: float) -> float:
    """Misses where any line goes: h of all lines stay, exp((h - 1) ratio) = h."""
    if ratio <= 1:
        return 0.0
    hits = 0.0
    for _ in range(200):
        hits = math.exp((hits - 1) * ratio)
    return 1 - hits


def small_pages(ratio: float) -> float:
    """Misses where pages lie anywhere: sets have more lines than ways below the cache's size."""
    mean = ratio * WAYS
    few = sum(math.exp(-mean) * mean**k / math.factorial(k) for k in range(WAYS))
    return 1 - few


POLICIES = [oldest_evicted, any_evicted, small_pages]


def curve_of(
    misses: Callable[[float], float], noise: float = 0.0, seed: int = 1, far: int = 256 << 20
) -> list[LoadTime]:
    """A curve of three caches and memory; noise only adds time."""
    chance = random.Random(seed)
    steps = []
    for size in [*sizes(4096, 8 << 20, 4), *sizes(8 << 20, far, 2)[1:]]:
        shares = [misses(size / capacity) for capacity in CAPACITIES]
        cycles = CYCLES[0]
        for share, near, behind in zip(shares, CYCLES, CYCLES[1:], strict=False):
            cycles += share * (behind - near)
        cycles *= 1 + abs(chance.gauss(0, noise))
        steps.append(LoadTime(size, cycles, cycles * 4e-10))
    return steps


def knees(steps: Sequence[LoadTime]) -> list[tuple[int, int]]:
    steps = undisturbed(steps)
    flat = terraces(steps)
    ends = [knee(steps, near, far) for near, far in pairwise(flat)]
    return [(end.fits_bytes, end.misses_bytes) for end in ends if end]


@pytest.mark.parametrize("misses", POLICIES)
@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_every_level_ends_between_arrays_that_hit_and_arrays_that_miss(
    misses: Callable[[float], float], noise: float, seed: int
) -> None:
    found = knees(curve_of(misses, noise, seed))
    assert len(found) == len(CAPACITIES)
    for (low, high), capacity in zip(found, CAPACITIES, strict=True):
        assert low <= capacity <= high
        assert high <= 4 * low


def test_a_level_in_one_piece_ends_where_it_is_full() -> None:
    assert knees(curve_of(oldest_evicted)) == [
        (32 << 10, 40 << 10), (512 << 10, 640 << 10), (16 << 20, 24 << 20),
    ]  # fmt: skip


def test_others_on_the_core_may_have_taken_half_of_a_level() -> None:
    calm = curve_of(oldest_evicted)
    busy = [replace(step, was_calm=step.size_bytes < 512 << 10) for step in calm]
    assert [high for _, high in knees(calm)] == [40 << 10, 640 << 10, 24 << 20]
    assert [high for _, high in knees(busy)] == [40 << 10, 1280 << 10, 48 << 20]


def test_one_size_that_is_too_fast_changes_no_other() -> None:
    steps = curve_of(oldest_evicted)
    fast = [
        replace(step, cycles_median=10.9) if step.size_bytes == 192 << 10 else step
        for step in steps
    ]
    assert undisturbed(fast) == undisturbed(steps)


def test_slower_loads_within_a_level_are_no_level() -> None:
    steps = [
        replace(
            step, cycles_median=step.cycles_median + 4 * (64 << 10 < step.size_bytes < 512 << 10)
        )
        for step in curve_of(oldest_evicted)
    ]
    assert len(terraces(undisturbed(steps))) == 4


def test_disturbed_sizes_are_those_slower_than_larger_ones() -> None:
    steps = curve_of(oldest_evicted)
    disturbed = [
        LoadTime(step.size_bytes, 9 * step.cycles_median, step.latency_s) if k % 3 == 1 else step
        for k, step in enumerate(steps)
    ]
    kept = [undisturbed(steps)[k] for k in range(len(steps)) if k % 3 != 1]
    assert [step for k, step in enumerate(undisturbed(disturbed)) if k % 3 != 1] == kept
    for (low, high), capacity in zip(knees(disturbed), CAPACITIES, strict=False):
        assert low <= capacity <= high


def test_a_shelf_shorter_than_an_octave_is_a_level() -> None:
    cycles = {64: 16.0, 80: 16, 96: 16, 112: 16, 128: 16, 160: 17, 192: 18, 224: 19, 256: 20,
              320: 60, 384: 100, 448: 105, 512: 104, 640: 109, 768: 200, 896: 300, 1024: 380,
              1280: 381, 1536: 384, 2048: 384, 3072: 385, 4096: 385}  # fmt: skip
    near = [LoadTime(size << 10, 5.0, 2e-9) for size in (4, 5, 6, 7, 8, 10, 12, 14, 16)]
    steps = [*near, *(LoadTime(size << 10, value, 1e-9 * value) for size, value in cycles.items())]
    flat = terraces(undisturbed(steps))
    assert [(level.first_bytes >> 10, level.last_bytes >> 10) for level in flat[2:3]] == [
        (384, 640)
    ]
    assert flat[2].cycles_median == pytest.approx(105)
    assert knees(steps)[1:] == [(256 << 10, 384 << 10), (640 << 10, 896 << 10)]


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [LoadTime(4096, 5.0, 2e-9)],
        [LoadTime(4096 << k, 5.0, 2e-9) for k in range(12)],
        [LoadTime(size, 5.0, 2e-9) for size in sizes(4096, 8 << 20, 4)],
        [LoadTime(size, 0.0, 0.0) for size in sizes(4096, 8 << 20, 4)],
        [LoadTime(size, math.nan, math.nan) for size in sizes(4096, 8 << 20, 4)],
        [LoadTime(size, 1e9 / size, 1e-9) for size in sizes(4096, 8 << 20, 4)],
    ],
    ids=["empty", "one", "octaves", "equal", "zero", "nan", "falling"],
)
def test_curves_without_a_step_have_no_knee(steps: list[LoadTime]) -> None:
    assert knees(steps) == []


def test_a_level_whose_next_is_not_slower_has_no_end() -> None:
    own = Plateau(4096, 8192, 5.0, 2e-9)
    steps = [LoadTime(size, 5.0, 2e-9) for size in sizes(4096, 1 << 20, 4)]
    assert knee(steps, own, own) is None
    assert knee(steps, own, None) is None


def test_ends_far_apart_have_no_cost_of_a_miss() -> None:
    own, far = Plateau(4096, 65536, 12.0, 4e-9), Plateau(8 << 20, 64 << 20, 300.0, 1e-7)
    gradual = [
        LoadTime(size, 12 + 288 * min(1.0, max(0.0, math.log2(size / 65536) / 7)), 4e-9)
        for size in sizes(4096, 64 << 20, 4)
    ]
    end = knee(gradual, own, far)
    assert end is not None
    assert (end.fits_bytes, end.miss_cycles) == (96 << 10, None)
    assert end.misses_bytes > 4 * end.fits_bytes

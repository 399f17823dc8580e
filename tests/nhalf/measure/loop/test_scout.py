"""The sizes that are found where a curve changes.

Changes of a curve are bracketed where they are, and smooth curves are left alone.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nhalf.measure.loop.scout import WIDTH, Curve, changes, refine
from nhalf.measure.plan.plan import parse_sizes
from tests.nhalf.measure.loop.fakes import Fake, Go, measured, starts

NAMES = ("jumping", "smooth")


def test_refined_sizes_are_kept_for_resuming(fake: Fake, go: Go, tmp_path: Path) -> None:
    jumping = fake(each="n = n + 10**4 if n > 100 else n")
    _, events = go(jumping, bytes="0:1K", launches=1)
    (sizes,) = [e["sizes"] for e in events if e["event"] == "sizes"]
    low = max(n for n in sizes if n <= 100)
    high = min(n for n in sizes if n > 100)
    assert high <= low * 1.05
    assert sorted(n for _, _, n in measured(events)) == sizes
    before = starts(tmp_path)
    go(jumping, bytes="0:1K", launches=1)
    assert starts(tmp_path) == before


def test_libraries_share_the_sizes_that_any_of_them_found(fake: Fake, go: Go) -> None:
    jumping = fake("jumping", each="n = n + 10**4 if n > 100 else n")
    _, events = go(jumping, fake("smooth"), bytes="0:1K", launches=1)
    sizes = {name: {n for key, _, n in measured(events) if key == name} for name in NAMES}
    assert sizes["jumping"] == sizes["smooth"]
    assert len(sizes["smooth"]) > len([0, *(2**k for k in range(11))])


COARSE = parse_sizes("0:4M").size_bytes
SEEDS = 40
Time = Callable[[int], float]


def smooth(t0_s: float, rate_Bps: float) -> Time:
    return lambda n: t0_s + n / rate_Bps


def jump(at: int, factor: float) -> Time:
    """The line 1 us + n / (5 GB/s); above `at` it is `factor` times slower at once."""
    line = smooth(1e-6, 5e9)
    return lambda n: line(n) + (line(at) * (factor - 1) if n > at else 0)


def bend(at: int, factor: float) -> Time:
    """A line whose further bytes above `at` take `factor` times as long each."""
    return lambda n: 1e-6 + (n + max(0, n - at) * (factor - 1)) / 5e9


def noisy(time: Time, sigma: float, seed: int) -> Time:
    draw = random.Random(seed)
    return lambda n: time(n) * draw.lognormvariate(0, sigma)


def curve_of(time: Time) -> Curve:
    return {n: time(n) for n in COARSE}


def bracket_of(sizes: set[int], at: int) -> tuple[int, int]:
    """The neighbouring sizes around a change that lies just above `at`."""
    ordered = sorted(sizes)
    return next((a, b) for a, b in itertools.pairwise(ordered) if a <= at < b)


def bracketed(time: Time, at: int) -> bool:
    low, high = bracket_of({*COARSE, *refine(curve_of(time), time)}, at)
    return high - low <= 1 or high <= low * WIDTH


def place(seed: int) -> int:
    """Anywhere between 32 B and 1 MiB, evenly over the logarithm."""
    return round(2 ** random.Random(seed).uniform(5, 20))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_jump_anywhere_is_bracketed(seed: int) -> None:
    factor = random.Random(-seed).uniform(1.3, 3.0)
    assert bracketed(jump(place(seed), factor), place(seed))


@pytest.mark.parametrize("at", [15, 16, 17, 4095, 4096, 4097, 65536])
def test_a_jump_beside_a_power_of_two_is_bracketed(at: int) -> None:
    assert bracketed(jump(at, 1.5), at)


def test_a_jump_down_is_bracketed() -> None:
    line = smooth(1e-6, 5e9)
    assert bracketed(lambda n: line(n) * (0.6 if n > 5000 else 1), 5000)


def test_several_jumps_are_all_bracketed() -> None:
    places = (300, 9000, 200_000)
    line = smooth(1e-6, 5e9)

    def time(n: int) -> float:
        return line(n) * 1.5 ** sum(n > at for at in places)

    sizes = {*COARSE, *refine(curve_of(time), time)}
    for at in places:
        low, high = bracket_of(sizes, at)
        assert high <= low * WIDTH


def test_a_jump_in_noise_is_bracketed_nearly_always() -> None:
    found = [
        bracketed(noisy(jump(place(seed), 1.5), 0.03, seed), place(seed)) for seed in range(SEEDS)
    ]
    assert sum(found) >= 0.9 * SEEDS


@pytest.mark.parametrize("factor", [2.0, 4.0, 10.0])
def test_a_bend_is_mostly_bracketed(factor: float) -> None:
    """Where bytes matter beside the latency; a bend has no place as sharp as a jump."""
    places = [round(2 ** random.Random(seed).uniform(12.5, 20)) for seed in range(SEEDS)]
    assert sum(bracketed(bend(at, factor), at) for at in places) >= 0.75 * SEEDS
    for at in places:
        assert (
            min(abs(n / at - 1) for n in refine(curve_of(bend(at, factor)), bend(at, factor))) < 0.3
        )


@given(
    some.floats(1e-8, 1e-3), some.floats(1e6, 1e13), some.sampled_from([(0, 24), (1, 24), (8, 14)])
)
def test_a_smooth_curve_is_left_alone(t0_s: float, rate_Bps: float, part: tuple[int, int]) -> None:
    time = smooth(t0_s, rate_Bps)
    curve = {n: time(n) for n in COARSE[slice(*part)]}
    assert changes(curve) == []
    assert refine(curve, time) == []


def test_a_smooth_curve_in_noise_is_mostly_left_alone() -> None:
    added = []
    for seed in range(SEEDS):
        time = noisy(smooth(1e-6, 5e9), 0.03, seed)
        added.append(len(refine(curve_of(time), time)))
    # Mostly sizes in the middle of a step: noise of 3 % looks like a slight bend here and there.
    assert sorted(added)[SEEDS // 2] <= 14
    assert max(added) <= 60


@pytest.mark.parametrize(
    "curve",
    [
        {},
        {0: 1e-6},
        {0: 1e-6, 1: 2e-6},
        {0: 1e-6, 8: 9e-6},
        {1: 1e-6, 2: 1e-6, 3: 9e-6},
        dict.fromkeys(COARSE, 1e-6),
        {n: 1e-9 for n in (0, 2**40)},
    ],
)
def test_degenerate_curves_do_no_harm(curve: Curve) -> None:
    assert refine(curve, lambda n: 1e-6) == sorted(set(refine(curve, lambda n: 1e-6)))


def test_a_size_that_cannot_be_measured_ends_the_search() -> None:
    asked: list[int] = []

    def measure(size_bytes: int) -> float | None:
        asked.append(size_bytes)
        return None

    assert refine(curve_of(jump(5000, 3.0)), measure) == []
    assert len(asked) < 10


def test_the_number_of_measurements_is_bounded() -> None:
    draw = random.Random(1)
    asked: list[int] = []

    def measure(size_bytes: int) -> float:
        asked.append(size_bytes)
        return draw.uniform(1e-6, 1e-3)

    refine({n: draw.uniform(1e-6, 1e-3) for n in COARSE}, measure)
    assert len(asked) < 100


def test_a_disturbed_measurement_makes_no_change() -> None:
    time = smooth(1e-6, 5e9)
    curve = curve_of(time) | {1024: time(1024) * 3}
    assert refine(curve, time) == []

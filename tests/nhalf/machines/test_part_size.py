"""The best size of a part: the optimum of a chain, and never worse than any other size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nhalf.machines.machine import FittedModel, Segment
from nhalf.machines.part_size import NEARLY, best_followed_part, best_part
from nhalf.machines.parts import Parts
from nhalf.models.expression import parse

CHAIN = parse("(p - 1) * T(min(n, B)) + (max(1, n / B) - 1) * M(min(n, B), 1)")
TREE = parse("(max(1, n / B) - 1) * M(min(n, B), 2) + ceil(log2(p)) * T(min(n, B))")
CURVE = FittedModel(
    transport="model",
    pattern="pingpong",
    ranks=2,
    segments=(Segment(from_bytes=0, to_bytes=1 << 20, t0_s=1e-6, r_inf_Bps=1e9),),
)
KIB, MIB = 1024, 1 << 20


def machine(gap_s: float, *pieces: tuple[float, float, float]) -> Parts:
    """Pieces of T are first bytes, start and time per byte; messages are a gap apart besides."""
    firsts, starts, slopes = (np.array(column) for column in zip(*pieces, strict=True))

    def message_s(size: Any) -> Any:
        i = np.maximum(np.searchsorted(firsts, size, side="right") - 1, 0)
        return starts[i] + slopes[i] * size

    def fan_s(size: Any, partners: Any) -> Any:
        i = np.maximum(np.searchsorted(firsts, size, side="right") - 1, 0)
        return partners * (gap_s + slopes[i] * size)

    functions = {"T": message_s, "M": fan_s}
    return Parts(functions, (), MIB, 0, CURVE, tuple(firsts.tolist()))


@pytest.mark.parametrize(("ranks", "size"), [(3, MIB), (8, MIB), (8, 16 * MIB), (64, MIB)])
def test_a_chain_has_the_optimum_of_its_formula(ranks: int, size: int) -> None:
    gap_s, per_byte_s = 4e-6, 1e-9
    of = machine(gap_s, (0, 10e-6, per_byte_s))
    expected = math.sqrt(size * gap_s / ((ranks - 2) * per_byte_s))
    found = best_part(CHAIN, ranks, size, of)
    least_s, found_s = (float(CHAIN.value(ranks, size, of.functions, x)) for x in (expected, found))
    assert least_s * (1 - 1e-9) <= found_s <= NEARLY * least_s
    assert found == pytest.approx(expected, rel=0.4)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(1e-8, 1e-4),
    st.floats(1e-7, 1e-4),
    st.floats(1e-11, 1e-8),
    st.integers(512, 200_000),
    st.floats(0.2, 20),
    st.integers(2, 100),
    st.integers(1, 1_000_000),
    st.sampled_from([CHAIN, TREE]),
)
def test_no_whole_number_of_parts_is_notably_better(
    gap_s: float,
    start_s: float,
    per_byte_s: float,
    bend: int,
    change: float,
    ranks: int,
    size: int,
    cost: Any,
) -> None:
    of = machine(gap_s, (0, start_s, per_byte_s), (bend, start_s * change, per_byte_s / change))
    found = best_part(cost, ranks, size, of)
    numbers = np.unique(np.geomspace(1, max(1, size // 256), 500).astype(int))
    every = np.unique(np.ceil(size / numbers))
    found_s = float(cost.value(ranks, size, of.functions, found))
    assert found_s <= float(cost.value(ranks, size, of.functions, 8192))
    if size > 256:
        assert found_s <= 1.0101 * cost.value(ranks, size, of.functions, every).min()


def test_pieces_without_width_are_no_obstacle() -> None:
    """Two bends may be as good as one, as where a gap passes both overheads at once."""
    of = machine(4e-6, (0, 10e-6, 1e-9), (9_000, 12e-6, 1e-9), (9_000.000001, 12e-6, 1e-9))
    assert best_part(CHAIN, 8, MIB, of) > 256


@pytest.mark.parametrize("size", [0, 1, 256, 257])
def test_a_message_without_parts_keeps_the_usual_size(size: int) -> None:
    assert best_part(CHAIN, 8, size, machine(4e-6, (0, 10e-6, 1e-9))) == 8192


@pytest.mark.parametrize(("optimum", "size"), [(300, MIB), (20_000, MIB), (MIB, MIB), (4000, 5000)])
def test_a_followed_search_goes_downhill_from_any_start(optimum: int, size: int) -> None:
    def time_s(part_bytes: int) -> float:
        calls.append(part_bytes)
        return 1 + abs(math.log2(min(part_bytes, size) / optimum))

    for start in (256, 8192, 70_000, size):
        calls: list[int] = []
        found = best_followed_part(start, size, time_s)
        assert abs(math.log2(min(found, size) / optimum)) < 0.35
        assert time_s(found) <= time_s(8192)
        assert len(calls) < 17


def test_a_search_from_the_optimum_needs_few_times() -> None:
    """Of a + b B + c / B: the powers around it, the usual size and two whole numbers of parts."""

    def time_s(part_bytes: int) -> float:
        calls.append(part_bytes)
        return 1 + part_bytes / 100_000 + 100_000 / part_bytes

    calls: list[int] = []
    found = best_followed_part(100_000, MIB, time_s)
    assert time_s(found) <= NEARLY * time_s(100_000)
    assert len(set(calls)) <= 8


def test_without_a_difference_it_is_the_usual_size() -> None:
    assert best_followed_part(1024, MIB, lambda part_bytes: 1.0) == 8192

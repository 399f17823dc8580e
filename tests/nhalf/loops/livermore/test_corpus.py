"""The Livermore kernels as the analyser reads them, without a word about any of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base import native_files
from nhalf.base.errors import MissingError
from nhalf.loops.livermore.corpus import KernelBound, kernel_bounds, sources
from nhalf.machines.processor_file import processor

NATIVE = Path(__file__).resolve().parents[4] / "native"
POWER2 = {  # add, multiply, both, loads, stores; fp, mem, issue, dep; CPF, MFLOPS, limit
    1: (0, 1, 2, 2, 1, 1.5, 1.5, 1.5, 0, 0.300, 222, "fp"),
    2: (0, 0, 2, 4, 1, 2.0, 2.5, 1.75, 0, 0.625, 107, "mem"),
    3: (0, 0, 1, 2, 0, 1.0, 1.0, 0.75, 2, 1.000, 67, "dep"),
    4: (0, 0, 1, 2, 0, 1.0, 1.0, 0.75, 2, 1.000, 67, "dep"),
    5: (1, 1, 0, 2, 1, 1.0, 1.5, 1.25, 2, 1.000, 67, "dep"),
    6: (0, 0, 1, 2, 0, 1.0, 1.0, 0.75, 2, 1.000, 67, "dep"),
    7: (0, 0, 8, 3, 1, 4.0, 2.0, 3.0, 0, 0.250, 267, "fp"),
    8: (6, 0, 15, 9, 6, 10.5, 7.5, 9.0, 0, 0.292, 229, "fp"),
    9: (1, 0, 8, 10, 1, 5.0, 5.5, 5.0, 0, 0.324, 206, "mem"),
    10: (9, 0, 0, 10, 10, 5.0, 10.0, 7.25, 0, 1.111, 60, "mem"),
    11: (1, 0, 0, 1, 1, 0.5, 1.0, 0.75, 1, 1.000, 67, "mem"),
    12: (1, 0, 0, 1, 1, 0.5, 1.0, 0.75, 0, 1.000, 67, "mem"),
}
REGROUPED = {3: (0.5, 133, "fp"), 4: (0.5, 133, "fp"), 6: (0.5, 133, "fp")}
"""CPF, MFLOPS and limit of sums over all iterations, in any order."""
UNREADABLE = {15: "larger is called", 16: "break", 22: "exp is called"}


@pytest.fixture(autouse=True)
def _ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_files, "include_folder", lambda: NATIVE)


@pytest.fixture(name="bounds")
def _bounds() -> dict[int, KernelBound]:
    return {one.number: one for one in kernel_bounds(processor("power2"))}


def test_kernels_that_are_not_installed_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_files, "include_folder", lambda: tmp_path)
    with pytest.raises(MissingError, match="Livermore"):
        sources()


def test_without_a_processor_there_are_no_bounds() -> None:
    assert [one.cycles for one in kernel_bounds(None)] == [None] * 24


def test_the_first_twelve_on_power2(bounds: dict[int, KernelBound]) -> None:
    for number, expected in POWER2.items():
        (regrouped,) = bounds[number].loops
        loop = regrouped.in_order or regrouped
        counts = loop.counts
        times = [cycles for name, cycles in loop.by_unit.items() if name != "fixed"]
        found = (
            *(counts.of(name) for name in ("add", "multiply", "fused_multiply_add")),
            *(counts.loads, counts.stores, *times),
        )
        assert found == pytest.approx(expected[:9]), number
        assert loop.cycles_per_flop == pytest.approx(expected[9], abs=5e-4)
        assert round(loop.flops_per_s / 1e6) == expected[10]
        assert loop.limits[0] == expected[11]


def test_sums_of_the_first_twelve_are_regrouped_in_the_headline(
    bounds: dict[int, KernelBound],
) -> None:
    regrouped = {
        number: (loop.cycles_per_flop, round(loop.flops_per_s / 1e6), loop.limits[0])
        for number in POWER2
        for loop in bounds[number].loops
        if loop.in_order
    }
    assert regrouped == REGROUPED
    assert all(bounds[number].loops[0].dependence_cycles == 0 for number in REGROUPED)


def test_all_others_are_read_or_refused_with_a_reason(bounds: dict[int, KernelBound]) -> None:
    assert list(bounds) == list(range(1, 25))
    for number, one in bounds.items():
        assert UNREADABLE.get(number, "") in one.reason
        assert bool(one.reason) == (number in UNREADABLE)
        assert (one.cycles is None) == bool(one.reason)

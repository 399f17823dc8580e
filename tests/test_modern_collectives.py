"""The page of collective operations since 2010 has what the model answers today."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks import modern
from nhalf.machines import catalogue
from nhalf.machines.machine import Machine

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "modern.json"


def kept() -> list[dict[str, object]]:
    cells: list[dict[str, object]] = json.loads(PAGE.read_text(encoding="utf-8"))
    return cells


@pytest.mark.parametrize("name", ["csd3-hdr100", "oci-optimized3"])
def test_the_page_has_the_answers_of_today(name: str) -> None:
    now = [modern._kept(cell) for cell in modern.cells_of(catalogue.machine(name))]
    assert now == [cell for cell in kept() if cell["machine"] == name]


def test_eight_machines_are_on_the_page_and_four_of_five_cells_inside() -> None:
    cells = kept()
    assert len({cell["machine"] for cell in cells}) >= 8
    assert sum(bool(cell["inside"]) for cell in cells) >= 0.8 * len(cells)


def slower(machine: Machine, factor: float) -> Machine:
    """The machine with messages that take longer by a factor."""
    (curve,) = machine.models
    segments = tuple(
        replace(each, t0_s=each.t0_s * factor, r_inf_Bps=each.r_inf_Bps / factor)
        for each in curve.segments
    )
    return replace(machine, models=(replace(curve, segments=segments),))


def test_a_wrong_curve_would_be_seen() -> None:
    machine = catalogue.machine("oci-optimized3")
    right, wrong = (list(modern.cells_of(each)) for each in (machine, slower(machine, 10)))
    assert all(cell.inside for cell in right)
    assert not any(cell.inside for cell in wrong)


def test_what_is_beyond_the_curve_is_not_asked() -> None:
    largest = catalogue.machine("lumi-g").largest_bytes
    assert largest is not None
    sizes = [cell.size_bytes for cell in modern.cells_of(catalogue.machine("lumi-g"))]
    assert max(sizes) <= largest
    assert any(
        point.size_bytes and point.size_bytes > largest
        for point in catalogue.machine("lumi-g").points
    )

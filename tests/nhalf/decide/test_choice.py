"""Choices from few measurements: on made-up costs, and on kept grids of simulated machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.decide.choice import AlgorithmChoice, Cell, Grid, explore
from nhalf.machines.message import Messages

GRID = Grid((2, 3, 4, 6, 8, 12, 16, 24, 32), (1, 64, 1024, 8192, 65536, 1 << 20))
KEPT = Path(__file__).parents[3] / "docs" / "choice"


def tree(ranks: NDArray[Any], size_bytes: NDArray[Any]) -> Floats:
    found: Floats = np.ceil(np.log2(ranks)) * (5e-6 + size_bytes * 1e-9)
    return found


def ring(ranks: NDArray[Any], size_bytes: NDArray[Any]) -> Floats:
    found: Floats = (ranks - 1) * 5e-6 + 2 * size_bytes * 1e-9
    return found


COSTS = {"tree": tree, "ring": ring}


def truth(cell: Cell) -> float:
    """The ring is twice as slow as its cost says, the tree grows slower with more ranks."""
    name, i, j = cell
    p, n = np.array(GRID.ranks[i]), np.array(GRID.size_bytes[j])
    factor = 2.0 if name == "ring" else 1 + 0.02 * float(np.log2(p))
    return float(COSTS[name](p, n)) * factor


def measure(cells: Sequence[Cell]) -> Mapping[Cell, float]:
    return {cell: truth(cell) for cell in cells}


def penalties(choice: AlgorithmChoice) -> list[float]:
    names = list(choice.costs)
    return [
        truth((name, i, j)) / min(truth((other, i, j)) for other in names) - 1
        for i, row in enumerate(choice.best())
        for j, name in enumerate(row)
    ]


def test_a_few_cells_correct_a_wrong_cost() -> None:
    choice = AlgorithmChoice(GRID, COSTS)
    before = penalties(choice)
    assert max(before) > 0.3
    explore(choice, measure, cells_max=16)
    assert len(choice.measured_s) == 16
    assert max(penalties(choice)) < 0.05


def test_what_was_measured_is_known_for_sure() -> None:
    choice = AlgorithmChoice(GRID, COSTS)
    explore(choice, measure, cells_max=10)
    for (name, i, j), time_s in choice.measured_s.items():
        times, deviation = choice.predict(name)
        assert (times[i, j], deviation[i, j]) == (time_s, 0.0)
        assert choice.measured_of(name)[GRID.ranks[i], GRID.size_bytes[j]] == time_s


def test_no_cell_is_measured_twice() -> None:
    choice = AlgorithmChoice(GRID, COSTS)
    asked: list[Cell] = []

    def once(cells: Sequence[Cell]) -> Mapping[Cell, float]:
        asked.extend(cells)
        return measure(cells)

    explore(choice, once, cells_max=60)
    assert len(asked) == len(set(asked))


def test_everything_may_be_measured() -> None:
    choice = AlgorithmChoice(GRID, COSTS)
    explore(choice, measure, cells_max=10**6)
    assert max(penalties(choice)) == 0.0


def test_between_its_places_the_grid_is_interpolated() -> None:
    choice = AlgorithmChoice(GRID, COSTS)
    explore(choice, measure, cells_max=40)
    ring_s = choice.time_s("ring", 10, 4096)
    assert ring_s == pytest.approx(2 * float(ring(np.array(10), np.array(4096))), rel=0.1)


def test_where_nothing_can_be_measured_the_costs_stand() -> None:
    choice = AlgorithmChoice(GRID, COSTS)
    explore(choice, lambda cells: {}, cells_max=10)
    assert choice.measured_s == {}
    times, deviation = choice.predict("tree")
    assert np.allclose(times, choice.prior_s["tree"])
    assert (deviation > 0.1).all()


@pytest.mark.parametrize(
    "grid", [Grid((2,), (0,)), Grid((2,), (0, 8)), Grid((2, 4096), (1 << 30,))]
)
def test_small_grids(grid: Grid) -> None:
    choice = AlgorithmChoice(grid, {"tree": tree})
    assert choice.best() == [["tree"] * len(grid.size_bytes)] * len(grid.ranks)
    explore(choice, lambda cells: dict.fromkeys(cells, 1e-3), cells_max=3)
    assert choice.best() == [["tree"] * len(grid.size_bytes)] * len(grid.ranks)


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_kept_verdicts_meet_what_the_docs_claim(path: Path) -> None:
    verdict = json.loads(path.read_text())["verdict"]
    assert verdict["measured_fraction"] <= 0.15
    assert verdict["near_fraction"] >= 0.95
    assert verdict["penalty_mean"] <= 0.02


@pytest.mark.parametrize("name", ["torus", "fat-tree"])
def test_a_part_of_a_kept_grid_is_judged_again(name: str) -> None:
    """As tools/choice.py does it, on every other number of ranks and every other size."""
    from nhalf.machines.algorithms import algorithms
    from nhalf.machines.catalogue import machine
    from nhalf.machines.parts import parts_of

    content = json.loads((KEPT / f"bcast-{name}.json").read_text())
    parts = parts_of(Messages(machine({"torus": "sci-torus", "fat-tree": "altix-bx2"}[name])))
    grid = Grid(tuple(content["ranks"][::2]), tuple(content["bytes"][::2]), parts.rendezvous_bytes)
    times = {a: np.array(rows)[::2, ::2] for a, rows in content["time_s"].items()}
    known = [each for each in algorithms()["bcast"] if each.name in times]
    choice = AlgorithmChoice.of("bcast", known, parts, grid)
    cells_max = sum(each.size for each in times.values()) * 15 // 100
    explore(choice, lambda cells: {(a, i, j): times[a][i, j] for a, i, j in cells}, cells_max)
    best = np.min(np.stack(list(times.values())), axis=0)
    chosen = [[times[a][i, j] for j, a in enumerate(row)] for i, row in enumerate(choice.best())]
    penalty = np.array(chosen) / best - 1
    assert np.mean(penalty <= 0.05) >= 0.93
    assert penalty.mean() <= 0.02

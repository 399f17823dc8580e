"""How well models of patterns predict simulated cells that they have not seen."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.machines import catalogue
from nhalf.models.heldout import heldout
from nhalf.models.term_choice import Cells

PATTERNS = ("allgather", "allreduce", "alltoall", "bcast", "one-to-many", "many-to-one", "reduce")
FEW = ("bcast",)
RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
SIZES = tuple(2**k for k in range(2, 17))
LARGEST = {"alltoall": 16384}
"""Beyond, SMPI ends the simulation where the number of ranks is no power of two."""
MEDIAN, P95 = 0.03, 0.08
"""What is asked of models of patterns on cells left out."""


@pytest.fixture(scope="module", params=[FEW, pytest.param(PATTERNS, marks=pytest.mark.full)])
def cells(ask, request: pytest.FixtureRequest) -> dict[str, Cells]:
    """The cells of patterns on the SP2, one rank on each node."""
    machine = catalogue.machine("sp2-mpl")
    rows: dict[str, list[tuple[float, int, float]]] = {name: [] for name in request.param}
    for ranks in RANKS:
        points = [
            (name, size)
            for name in request.param
            for size in SIZES
            if size <= LARGEST.get(name, SIZES[-1])
        ]
        lines = [f"pattern={name} bytes={size}" for name, size in points]
        for (name, size), record in zip(points, ask(machine, lines, ranks=ranks), strict=True):
            rows[name].append((float(size), ranks, float(np.median(record["samples_s"]))))
    return {
        name: Cells(
            np.array([size for size, _, _ in found]),
            np.array([ranks for _, ranks, _ in found], dtype=np.int64),
            np.array([time_s for _, _, time_s in found]),
            np.zeros(len(found)),
        )
        for name, found in rows.items()
    }


@pytest.mark.slow
def test_cells_that_were_left_out_are_predicted(cells: dict[str, Cells]) -> None:
    errors = []
    for each in cells.values():
        plain, corrected, _ = heldout(each)
        errors.append(corrected if corrected.mean() < plain.mean() else plain)
    together = np.concatenate(errors)
    assert together.size == sum(each.ranks.size - 4 for each in cells.values())
    assert np.median(together) <= MEDIAN
    assert np.quantile(together, 0.95) <= P95

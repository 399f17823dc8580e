"""A surface through few cells: what sizes and ranks have in common tells of a cell left out."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.facts.pattern_fit import _leftover
from nhalf.machines.formula import formulas
from nhalf.machines.machine import Machine, PatternModel
from nhalf.machines.machine_file import read, write
from nhalf.models.heldout import fit_judged, heldout
from nhalf.models.term_choice import Cells

RANKS = (2, 3, 4, 5, 6)
SIZES = (8.0, 256.0, 4096.0, 32768.0, 262144.0)


def cells(noise: float, seed: int = 0) -> Cells:
    """Another algorithm at every size, and ranks that wait for processors: no sum is near."""
    random = np.random.default_rng(seed)
    size, ranks = (values.ravel() for values in np.meshgrid(SIZES, RANKS))
    own_s = np.array([3e-6, 9e-6, 12e-6, 60e-6, 250e-6])[np.searchsorted(SIZES, size)]
    time_s = (
        own_s * (1 + 0.5 * np.maximum(ranks - 2, 0)) * np.exp(noise * random.standard_normal(25))
    )
    return Cells(size, ranks.astype(np.int64), time_s, np.full(25, noise))


def test_cells_left_out_are_nearer_to_the_surface_than_to_sums() -> None:
    for seed in range(3):
        plain, corrected, smooth = heldout(cells(0.05, seed))
        assert np.median(smooth) < 0.10
        assert np.quantile(smooth, 0.95) < 0.30
        assert smooth.mean() < min(plain.mean(), corrected.mean())


def test_trees_that_grow_by_steps_are_predicted_at_cells_left_out() -> None:
    """A number of ranks has its own share at all sizes: ceil(log2 p) jumps at 3 and at 5."""
    size, ranks = (values.ravel() for values in np.meshgrid(SIZES, RANKS))
    steps = np.ceil(np.log2(ranks))
    own_s = np.where(size <= 2048, 4e-7 + 3e-10 * size, 2e-6 + 4e-10 * size)
    exact = Cells(size, ranks.astype(np.int64), steps * own_s, np.full(25, 0.01))
    _, errors, _ = fit_judged(exact)
    assert errors is not None
    assert errors.median < 0.05
    assert errors.p95 < 0.15


def test_it_gives_the_times_between_the_cells_and_survives_a_file(tmp_path) -> None:
    few = cells(0.02)
    model, errors, _ = fit_judged(few)
    assert model.smooth is not None
    assert errors is not None
    region = model.regions[0]
    left = _leftover(model, region)
    pattern = PatternModel(
        pattern="allreduce",
        from_ranks=2,
        to_ranks=6,
        startup_s=region.chosen.startup_s,
        per_byte_s=region.chosen.per_byte_s,
        leftover=left,
    )
    path = tmp_path / "machine.toml"
    write(Machine(name="m", patterns=(pattern,)), path)
    (again,) = read(path).patterns
    names = {}
    exec(formulas(Machine(name="m", patterns=(again,)), "python"), names)
    (function,) = (value for name, value in names.items() if name.startswith("allreduce"))
    for size, ranks in ((8, 2), (1000, 5), (262144, 6)):
        expected_s = model.predict_s(np.array([float(size)]), np.array([ranks]))[0]
        assert again.time_s(size, ranks) == pytest.approx(expected_s, rel=1e-4)
        assert function(size, ranks) == pytest.approx(again.time_s(size, ranks), rel=1e-9)
    assert again.time_s(1 << 20, 6) == again.sums_s(1 << 20, 6)
    predicted_s = model.predict_s(few.size_bytes, few.ranks)
    assert np.median(np.abs(predicted_s / few.time_s - 1)) < 0.05

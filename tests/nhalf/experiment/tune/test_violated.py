"""Tuning where a run violates performance guidelines: which cells, and who races in any case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import FailedError, InputError
from nhalf.experiment.race import TuningCell
from nhalf.experiment.tune.search import TuningRequest, is_first, search, violated_cells
from tests.nhalf.experiment.tune.test_search import ASKED, LIBRARY, Made, MadeBench, bench
from tests.nhalf.facts.test_guidelines import RANKS, facts_of
from tests.nhalf.measure.virtual.programs import library_of

Call = Callable[..., Any]
__all__ = ["bench"]


def test_cells_are_those_of_operations_with_a_choice() -> None:
    slow = {("bcast", 4096): 4.0, ("gather", 64): 2.0}
    cells = violated_cells(facts_of(slow, mpi=LIBRARY.name), Made(LIBRARY))
    assert cells.operations == ("bcast",)
    assert cells.ranks == (RANKS,)
    assert cells.sizes_bytes == (4096,)
    assert is_first(cells.first, "bcast", "scatter_allgather")
    assert is_first(cells.first, "bcast", "pipeline:8192")
    assert not is_first(cells.first, "bcast", "binomial")
    assert not is_first(cells.first, "gather", "linear")


def test_without_a_violation_there_is_nothing_to_tune() -> None:
    with pytest.raises(FailedError, match="violates no performance guideline"):
        violated_cells(facts_of(mpi=LIBRARY.name), Made(LIBRARY))
    with pytest.raises(FailedError, match="violates no performance guideline"):
        violated_cells(facts_of({("gather", 64): 2.0}, mpi=LIBRARY.name), Made(LIBRARY))
    with pytest.raises(InputError, match="lib-1"):
        violated_cells(facts_of({("bcast", 4096): 4.0}, mpi="another"), Made(LIBRARY))


def test_first_candidates_race_though_they_look_slow(bench: MadeBench) -> None:
    cell = TuningCell("bcast", 4, 2048)
    assert "slow" not in search(bench, ASKED).race[cell]
    first = {"bcast": ("slow",)}
    asked = TuningRequest(ASKED.operations, (4,), "2K", 0.05, 60.0, first)
    assert "slow" in search(bench, asked).race[cell]


def test_it_needs_a_run(call: Call, tmp_path: Path) -> None:
    name = library_of("mpich").name
    out = tmp_path / "out"
    call("tune", "--mpi", name, "--violated", "nowhere", "--out", out).is_error(2, "nowhere")
    assert not out.exists()


@pytest.mark.full
def test_what_a_library_violates_in_virtual_time_is_mended(call: Call, tmp_path: Path) -> None:
    """Open MPI's broadcast of 64 KiB takes longer than four of 16 KiB on eight ranks."""
    name = library_of("openmpi").name
    run = tmp_path / "run"
    where = ("--mpi", name, "--machine", "sp2-mpl")
    words = ("--ranks", "8", "--pattern", "bcast", "--bytes", "16K,64K", "--out", run)
    ended = call("run", *where, *words, "--placement", "cores", "--json")
    (violated,) = json.loads(ended.out)["guidelines"]
    assert (violated["kind"], violated["bytes"]) == ("pieces", 65536)
    ended = call("tune", *where, "--violated", run, "--out", tmp_path / "tuned", "--json")
    assert ended.code == 0, ended.err
    (cell,) = json.loads(ended.out)["cells"]
    assert (cell["operation"], cell["ranks"], cell["size_bytes"]) == ("bcast", 8, 65536)
    assert cell["gain"]["share"] > 0.4

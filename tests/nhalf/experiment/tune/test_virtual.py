"""`nhalf tune --machine`: a library that was told to choose badly is found out, in virtual time."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.mpi.decision_table import Rule
from nhalf.mpi.tuning import tuner_for
from nhalf.store.run import Run
from tests.nhalf.measure.virtual.programs import library_of

Call = Callable[..., Any]
PLANTED = (
    ("mpich", "allreduce", "ring", "8"),
    ("mpich", "allreduce", "ring", "2K"),
    ("mpich", "bcast", "scatter_ring_allgather", "64"),
    ("mpich", "alltoall", "pairwise", "8"),
    ("mpich", "allgather", "ring", "16"),
    ("openmpi", "allreduce", "basic_linear", "2K"),
    ("openmpi", "bcast", "basic_linear", "8K"),
    ("openmpi", "bcast", "pipeline", "64"),
    ("openmpi", "alltoall", "pairwise", "8"),
    ("openmpi", "allgather", "ring", "16"),
)
"""Library, operation, its bad algorithm for all sizes and ranks, and the size that is tuned."""


@pytest.mark.parametrize(
    ("vendor", "operation", "algorithm", "size"),
    [
        pytest.param(*plant, marks=[pytest.mark.slow, *([pytest.mark.full] if number else [])])
        for number, plant in enumerate(PLANTED)
    ],
)
def test_a_planted_bad_choice_is_replaced(
    vendor: str, operation: str, algorithm: str, size: str, call: Call, tmp_path: Path
) -> None:
    library = library_of(vendor)
    tuner = tuner_for(library)
    planted = tmp_path / "planted"
    planted.write_text(tuner.text([Rule(operation, 2, math.inf, 0, math.inf, algorithm)]))
    words = ("--pattern", operation, "--bytes", size, "--ranks", "8", "--mpi", library.name)
    ended = call(
        "tune", "--machine", "altix-bx2", *words, "--out", tmp_path / "tuned", "--json",
        **tuner.activate(planted),
    )  # fmt: skip
    assert ended.code == 0, ended.err
    tuned = json.loads(ended.out)
    assert tuned["virtual"]["machine"] == "altix-bx2"
    (cell,) = tuned["cells"]
    assert cell["algorithm"] not in ("native", algorithm)
    assert cell["gain"]["share"] > 0.05
    assert cell["gain"]["launches"] == 1
    # Where nothing is slower than what was planted, only the trial shows that the file is applied.
    activation = tuned["activation"]
    assert activation is None or activation["verdict"] == "active"
    (curve,) = tuned["trial"]
    assert curve["verdict"] == "faster"
    # Open MPI itself says that it has the file; MPICH 5.0 reports no text.
    witness = tuned["witness"]
    assert witness["verdict"] == ("taken" if vendor == "openmpi" else "in part")
    assert (tuned["file"] in witness["confirmed_values"].values()) == (vendor == "openmpi")
    assert tuned["taken_out"] == []
    assert Path(tuned["file"]).is_file()


@pytest.mark.slow
def test_a_root_that_is_free_soon_takes_another_tree(call: Call, tmp_path: Path) -> None:
    """Of 16 ranks a root sends four messages in a binomial tree, one or two parts in others."""
    name = library_of("mpich").name
    words = ("--bytes", "64", "--ranks", "16", "--mpi", name, "--machine", "altix-bx2", "--json")
    out = tmp_path / "tuned"
    ended = call("tune", *words, "--pattern", "bcast", "--for", "root", "--to", "variables",
                 "--out", out)  # fmt: skip
    assert ended.code == 0, ended.err
    tuned = json.loads(ended.out)
    assert tuned["for"] == "root"
    (cell,) = tuned["cells"]
    assert cell["algorithm"] not in ("native", "binomial")
    # The root is free long before the operation ends, and what is compared is its time.
    (curve,) = tuned["trial"]
    (size,) = curve["sizes"]
    run = Run.open(out / "trial")
    (usual,) = run.measurements().filter(pl.col("mpi") == name).collect().to_dicts()[:1]
    assert size["default_s"] == pytest.approx(usual["rank_s"][0])
    assert size["tuned_s"] < size["default_s"] < 0.9 * usual["samples_s"][0]
    last = Path(tuned["file"]).read_text().splitlines()[-1]
    assert last == "# chosen by the time until the root is free: --for root"


@pytest.mark.slow
@pytest.mark.full
def test_between_nodes_han_stays_on_and_a_level_has_a_rule(call: Call, tmp_path: Path) -> None:
    library = library_of("openmpi")
    words = ("--pattern", "bcast", "--bytes", "512,32K", "--ranks", "8", "--placement", "4x2")
    ended = call(
        "tune", "--machine", "altix-bx2", *words, "--mpi", library.name,
        "--out", tmp_path / "tuned", "--json",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    tuned = json.loads(ended.out)
    chosen = {cell["size_bytes"]: cell["algorithm"] for cell in tuned["cells"]}
    assert chosen[512].startswith("han-simple/inter_node=")
    assert not chosen[32768].startswith("han-")
    assert tuned["activation"]["verdict"] == "active"
    assert {curve["verdict"] for curve in tuned["trial"]} == {"faster"}
    assert "OMPI_MCA_coll_han_priority" not in tuned["environment"]
    beside = Path(tuned["environment"]["OMPI_MCA_coll_han_dynamic_rules_filename"])
    assert beside == Path(tuned["file"]).with_name("han-openmpi.rules")
    assert "han @simple" in beside.read_text()

"""A kernel of the NAS Parallel Benchmarks on the libraries' own code, in virtual time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from nhalf.measure.probe.subject import library_subject, transport_file
from tests.nhalf.measure.virtual.programs import library_of
from tests.patience import patience_s


def check_gradients(vendor: str, ranks: int, problem: str, timeout_s: float) -> None:
    """Conjugate gradients end with the official value, and messages are all of their time."""
    library = library_of(vendor)
    program = library_subject(library, transport_file("npb-mpi")).launch(ranks, "free", "")[0][-1]
    command = [sys.executable, "-m", "nhalf", "try", "--machine", "altix-bx2", "--mpi"]
    ended = subprocess.run(
        [*command, library.name, "--ranks", str(ranks), "--", program],
        input=f"id=1 pattern=npb-cg axis.class={problem} samples_min=1 samples_max=1\nend\n",
        capture_output=True,
        text=True,
        timeout=patience_s(timeout_s),
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    points = [json.loads(line) for line in ended.stdout.splitlines() if '"point"' in line]
    assert [point["verified"] for point in points] == [True]
    assert points[0]["ranks"] == ranks
    assert points[0]["values"]["communication_share"] > 0.99


# For Open MPI the kernels are compiled first.
@pytest.mark.parametrize(
    "vendor",
    ["mpich", *(pytest.param(one, marks=[pytest.mark.full]) for one in ("intel", "openmpi"))],
)
def test_conjugate_gradients_are_verified(vendor: str) -> None:
    check_gradients(vendor, 8, "S", 120)


@pytest.mark.full
def test_conjugate_gradients_of_class_a_are_verified_on_64_ranks() -> None:
    check_gradients("mpich", 64, "A", 600)

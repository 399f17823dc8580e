"""Programs that Slurm starts learn which collectives are faster, as those that mpiexec starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.nhalf.mpi.routed_programs import FOUND, built, routed
from tests.nhalf.mpi.test_preload_starts import LEARNED

from .conftest import Cluster

pytestmark = pytest.mark.slow
# On one node: between nodes of a lab MPICH's wheel hangs now and then, with and without anything
# preloaded.
SRUN = ("srun", "--mpi=pmi2", "--nodes=1", "--ntasks=2")


@pytest.mark.parametrize("vendor", ["mpich", pytest.param("intel", marks=pytest.mark.full)])
def test_ranks_of_srun_learn_and_give_the_same(
    cluster: Cluster, tmp_path: Path, vendor: str
) -> None:
    library = next((wheel for wheel in FOUND if wheel.vendor == vendor), None)
    if library is None:
        pytest.skip(f"no {vendor} here: nhalf mpi install {vendor}")
    program = built(library, "begins", tmp_path)
    loaded = [*routed(library, program, None).words, "NHALF_COLL_VERBOSE=1"]
    variables = [f"{name}={value}" for name, value in library.environment.items() if value]
    results = []
    # Beside other programs calls may take too long for what trials may cost.
    for words in ([], *[loaded] * 5):
        outcome = cluster.run(*SRUN, "env", *variables, *words, str(program), "plain")
        assert outcome.returncode == 0, outcome.stderr
        results.append(sorted(re.findall(r"rank \d digest [0-9a-f]+", outcome.stdout)))
        if LEARNED.search(outcome.stderr):
            break
    assert len(results[0]) == 2
    assert results == results[:1] * len(results)
    assert LEARNED.search(outcome.stderr), outcome.stderr

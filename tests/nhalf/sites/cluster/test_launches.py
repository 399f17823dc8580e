"""Ranks are where they were asked to be: both ways to start, every library, every placement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nhalf.machines.layout import parse_layout
from nhalf.mpi import discover
from nhalf.sites.launchers.srun import parse_offer
from tests.patience import duration

from .conftest import NHALF, Cluster, Journal

pytestmark = pytest.mark.slow

PLACEMENTS = ("2x1", "1x2", "2x2", "4x1", "4x2", "3x2+1", "2x2:cyclic")
HOSTS = ["n1", "n2", "n3", "n4"]
# Open MPI and srun speak PMIx, whose plug-in in Debian's Slurm does not start ranks on two nodes.
WAYS = [
    *(("srun", "mpich"), ("mpirun", "openmpi")),
    *(("mpirun", "mpich"), ("srun", "intel"), ("mpirun", "intel")),
]
FIRST = ("1x2", "3x2+1", "2x2:cyclic")
"""What the first tier looks at, one way."""


@pytest.mark.parametrize(
    ("launcher", "vendor", "placements"),
    [
        (*WAYS[0], FIRST),
        *(pytest.param(*way, PLACEMENTS, marks=pytest.mark.full) for way in WAYS),
    ],
    ids=lambda one: str(len(one)) if one in (FIRST, PLACEMENTS) else one,
)
def test_placements(
    cluster: Cluster, tmp_path: Path, launcher: str, vendor: str, placements: tuple[str, ...]
) -> None:
    found = discover.newest(discover.libraries())
    library = next((one for one in found if one.vendor == vendor), None)
    if library is None:
        pytest.skip(f"no {vendor} here: nhalf mpi install {vendor}")
    out = tmp_path / "run"
    command = [*NHALF, "run", "--pattern", "exchange", "--bytes", "8", "--launches", "1"]
    command += ["--precision", "0.9", "--placement", ",".join(placements), "--launcher", launcher]
    command += ["--mpi", library.name, "--budget", duration(9), "--json", "--out", str(out)]
    allocation = ["salloc", "--nodes=4"] if launcher == "mpirun" else []
    outcome = cluster.run(*allocation, *command)
    assert outcome.returncode == 0, outcome.stderr
    assert len(json.loads(outcome.stdout)["points"]) == len(placements)
    launches = Journal(out / "journal.jsonl").events("launch")
    address_of = {node["node"]: node["address"] for node in cluster.status()["nodes"]}
    assert sorted(launch["asked_placement"] for launch in launches) == sorted(placements)
    for launch in launches:
        layout = parse_layout(launch["asked_placement"])
        assert layout is not None
        ranks = launch["placement"]
        assert [rank["host"] for rank in ranks] == layout.host_names(HOSTS, layout.ranks)
        assert "misplaced" not in launch["advice"]
        several = layout.hosts > 1
        assert ("shared-cores" in launch["advice"]) == several
        # Every rank exchanges with ranks of other hosts where there are any.
        addresses = {address for rank in ranks for address in rank["addresses"]}
        expected = {address_of[rank["host"]] for rank in ranks if several}
        assert addresses <= expected
        assert bool(addresses) == several


def test_ranks_that_do_not_find_each_other_are_told_by_name(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Slurm's `none` gives MPICH no process management: each process is alone in its world."""
    command = [*NHALF, "run", "--placement", "2x2", "--bytes", "8", "--launcher", "srun"]
    command += ["--mpi", "mpich", "--timeout", "3600s", "--out", str(tmp_path / "run")]
    outcome = cluster.run("env", "SLURM_MPI_TYPE=none", *command)
    assert outcome.returncode == 3
    assert "srun --mpi=none started 4 worlds of one rank instead of one" in outcome.stderr
    assert "choose pmi2 with SLURM_MPI_TYPE" in outcome.stderr


def test_srun_says_what_it_offers(cluster: Cluster) -> None:
    outcome = cluster.run("srun", "--mpi=list")
    assert {"none", "pmi2"} <= set(parse_offer(outcome.stdout + outcome.stderr).kinds)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_variables_of_pmix_beside_those_of_pmi(
    cluster: Cluster, tmp_path: Path, launcher: str
) -> None:
    """As the shell of a job has them where PMIx is Slurm's default; MPICH 5 would end."""
    command = [*NHALF, "run", "--placement", "2x1", "--bytes", "8", "--launches", "1"]
    command += ["--pattern", "exchange", "--precision", "0.9", "--launcher", launcher]
    command += ["--mpi", "mpich", "--budget", duration(5), "--out", str(tmp_path / "run")]
    inherited = ["env", "PMIX_NAMESPACE=slurm.pmix.1.0", "PMIX_RANK=0"]
    outcome = cluster.run("salloc", "--quiet", "--nodes=2", *inherited, *command)
    assert outcome.returncode == 0, outcome.stderr


def test_more_hosts_than_there_are(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [*NHALF, "run", "--placement", "5x1", "--bytes", "8", "--out", str(out)]
    outcome = cluster.run("salloc", "--quiet", "--nodes=4", *command)
    assert outcome.returncode == 3
    assert "there are 4 hosts only: 5x1 needs 5" in outcome.stderr
    assert not out.exists()


@pytest.mark.full
def test_a_run_of_hosts_does_not_go_on_without(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [*NHALF, "run", "--placement", "2x1", "--bytes", "8", "--launches", "1"]
    command += ["--mpi", "mpich", "--pattern", "exchange", "--budget", duration(1)]
    command += ["--out", str(out)]
    begun = cluster.run("salloc", "--quiet", "--nodes=2", *command)
    assert begun.returncode == 0, begun.stderr
    outcome = cluster.run(*NHALF, "run", "--resume", str(out))
    assert outcome.returncode == 3
    assert "was begun on 2 hosts" in outcome.stderr

"""Libraries that were told to go round the virtual network, by ways that programs take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, every_library, tried

# Ways of tests/native/fabric/ways.cpp that move something between two ranks.
WAYS = (
    *("barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "alltoall", "scan"),
    *("reduce_scatter", "alltoallv", "gatherv", "ibarrier", "ibcast", "iallreduce"),
    *("barrier_init", "allreduce_init", "send", "empty_send", "isend", "send_init"),
    *("scatter", "scatterv", "alltoallw", "reduce_scatter_parts", "neighbour_allgather"),
    *("neighbour_alltoall", "neighbour_alltoallv", "barrier_between", "allreduce_between"),
    *("bcast_between", "rooted_between", "allgather_between", "waitany", "waitsome", "testany"),
    *("testsome", "put", "get", "accumulate", "several_targets", "fetch"),
)
USUAL = (
    ("mpich", "MPIR_CVAR_NOLOCAL=0", "neighbour_alltoallv"),
    ("mpich", "MPIR_CVAR_NOLOCAL=0", "get"),
    ("mpich", "MPIR_CVAR_NOLOCAL=0", "empty_send"),
    ("intel", "I_MPI_FABRICS=shm:ofi", "allreduce_init"),
    ("intel", "I_MPI_FABRICS=shm:ofi", "testany"),
    ("intel", "I_MPI_COLL_INTRANODE=shm", "barrier"),
)
WHOLE = [
    (vendor, setting, way)
    for vendor, setting in (("mpich", "MPIR_CVAR_NOLOCAL=0"), ("intel", "I_MPI_FABRICS=shm:ofi"))
    for way in WAYS
    if (vendor, setting, way) not in USUAL
]
REMEDIES = {
    "mpich": "MPIR_CVAR_NOLOCAL=1 against shared memory",
    "intel": "I_MPI_FABRICS must be ofi, and I_MPI_COLL_INTRANODE pt2pt",
    "openmpi": "it needs pml cm with mtl ofi, and coll_sm_priority 0",
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("vendor", "setting", "way"),
    [
        *USUAL,
        *(pytest.param(*case, marks=pytest.mark.full) for case in WHOLE),
        pytest.param(
            "openmpi", "OMPI_MCA_coll_sm_priority=100", "allreduce", marks=pytest.mark.full
        ),
    ],
)
def test_a_bypass_is_refused_with_the_setting(
    vendor: str, setting: str, way: str, programs: Path, plain: Path
) -> None:
    program = built(vendor, "ways", programs)
    outcome = tried(str(plain), vendor, 2, Path("env"), setting, str(program), way)
    assert outcome.exit_code == 3, outcome.stderr
    line = outcome.stderr.splitlines()[-1]
    assert line.startswith("nhalf: error: the library bypasses the virtual network: ")
    assert REMEDIES[vendor] in line


@pytest.mark.full
def test_another_way_of_open_mpi_to_its_network_gives_no_times(programs: Path, plain: Path) -> None:
    """It sends by what is there for windows, and crashes."""
    program = built("openmpi", "ways", programs)
    words = (Path("env"), "OMPI_MCA_pml=ob1", str(program), "allreduce")
    outcome = tried(str(plain), "openmpi", 2, *words)
    assert outcome.exit_code == 1
    assert outcome.stderr.splitlines()[-1].endswith("ended without MPI_Finalize")


@pytest.mark.sampled(1)
@every_library
@pytest.mark.parametrize("ranks", [5, *(pytest.param(n, marks=pytest.mark.full) for n in (1, 2))])
@pytest.mark.parametrize("per_node", [1, pytest.param(5, marks=pytest.mark.full)])
def test_no_honest_way_is_taken_for_a_bypass(
    vendor: str, ranks: int, per_node: int, programs: Path, plain: Path, tmp_path: Path
) -> None:
    machine = tmp_path / "wide.toml"
    machine.write_text(plain.read_text().replace("[node]\nranks = 2", "[node]\nranks = 5"))
    # Open MPI has no windows within a node.
    kind = "messages" if vendor == "openmpi" and per_node > 1 else ""
    nodes = -(-ranks // per_node)
    options = f"--placement {nodes}x{ranks // nodes}"
    words = (built(vendor, "ways", programs), *filter(None, [kind]))
    outcome = tried(str(machine), vendor, ranks, *words, options=options)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout == "done\n"

"""Libraries take exactly what a written file says, in virtual time; elsewhere their own choice."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from nhalf.mpi.decision_table import Rule
from nhalf.mpi.tuning import tuner_for
from tests.nhalf.measure.virtual.programs import built, library_of, tried

RANKS = 8
BASIC = "0"
"""What Intel MPI chooses for sizes without a rule, if there is one for others."""
SAME = 0.005
"""What ran before, whose sizes take other algorithms, may leave so much."""
SIZES = (8, 512, 4096)
CASES = (
    ("mpich", "alltoall", "pairwise"),
    ("intel", "bcast", "3"),
    ("intel", "alltoall", "3"),
    ("intel", "allreduce", "3"),
    ("mpich", "bcast", "scatter_ring_allgather"),
)


def times_us(
    vendor: str,
    operation: str,
    folder: Path,
    variables: Mapping[str, str],
    machine: str = "sp2-mpl",
    options: str = "",
) -> Sequence[float]:
    """What the operation takes at each of SIZES."""
    under = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    words = ("1", "together", f"{operation}:{','.join(map(str, SIZES))}")
    program = built(vendor, "operation_times", folder)
    ended = tried(machine, vendor, RANKS, program, *words, options=options, under=under)
    assert ended.succeeded, ended.stderr
    return [float(line.split()[2]) for line in ended.stdout.splitlines()]


@pytest.mark.parametrize(
    ("vendor", "operation", "algorithm"),
    [
        pytest.param(*case, marks=[pytest.mark.full] if number else [])
        for number, case in enumerate(CASES)
    ],
)
def test_a_rule_holds_for_its_sizes_and_ranks_alone(
    vendor: str, operation: str, algorithm: str, tmp_path: Path
) -> None:
    tuner = tuner_for(library_of(vendor))
    path = tmp_path / tuner.file_name
    path.write_text(tuner.text([Rule(operation, RANKS, RANKS, 512, 4095, algorithm)]))
    own, forced, ruled = (
        times_us(vendor, operation, tmp_path, variables)
        for variables in (
            tuner.force({operation: BASIC}) if vendor == "intel" else {},
            tuner.force({operation: algorithm}),
            tuner.activate(path),
        )
    )
    assert forced[1] != pytest.approx(own[1], rel=SAME)
    assert ruled == pytest.approx([own[0], forced[1], own[2]], rel=SAME)


DIVIDED = (
    "han-simple/inter_node=basic",
    "han-intra/up=adapt",
    "tuned",
    "basic_linear",
    "han-simple/inter_node=adapt",
)
"""Choices between nodes, the first for the usual tests."""


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(choice, marks=[pytest.mark.full] if number else [])
        for number, choice in enumerate(DIVIDED)
    ],
)
def test_rules_of_both_files_of_openmpi_hold_on_several_nodes(choice: str, tmp_path: Path) -> None:
    tuner = tuner_for(library_of("openmpi")).placed(lambda ranks: 4, shares_memory=False)
    assert choice in tuner.algorithms("bcast")
    rules = [Rule("bcast", RANKS, RANKS, 512, 4095, choice)]
    path = tmp_path / tuner.file_name
    tuner.write(path, rules)
    assert tuner.read(path) == rules
    assert "OMPI_MCA_coll_han_priority" not in tuner.activate(path)
    placed = ("altix-bx2", "--placement 4x2")
    forced, ruled = (
        times_us("openmpi", "bcast", tmp_path, variables, *placed)
        for variables in (tuner.force({"bcast": choice}), tuner.activate(path))
    )
    assert ruled[1] == pytest.approx(forced[1], rel=SAME)
    if choice in DIVIDED[:1]:
        assert [ruled[0], ruled[2]] != pytest.approx([forced[0], forced[2]], rel=SAME)

"""What libraries know of the nodes of a virtual machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, in_turn, tried

PLACEMENTS = {
    "3x2": [[0, 1], [2, 3], [4, 5]],
    "3x2:cyclic": [[0, 3], [1, 4], [2, 5]],
    "6x1": [[0], [1], [2], [3], [4], [5]],
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("vendor", "placement"),
    [
        ("mpich", "3x2"),
        ("intel", "3x2:cyclic"),
        pytest.param("openmpi", "3x2:cyclic", marks=pytest.mark.slow),
        *(
            pytest.param(vendor, placement, marks=pytest.mark.full)
            for vendor in ("intel", "openmpi")
            for placement in ("3x2", "6x1")
        ),
    ],
)
def test_a_librarys_nodes_are_those_of_the_placement(
    vendor: str, placement: str, programs: Path, plain: Path
) -> None:
    program = built(vendor, "nodes", programs)
    outcome = tried(str(plain), vendor, 6, program, options=f"--placement {placement}")
    assert outcome.exit_code == 0, outcome.stderr
    # MPICH takes shared memory within nodes, so it may not know of them.
    nodes = PLACEMENTS["6x1" if vendor == "mpich" else placement]
    expected = [f"{rank}: {' '.join(map(str, node))}" for node in nodes for rank in node]
    assert sorted(outcome.stdout.splitlines()) == sorted(expected)


@pytest.mark.parametrize("vendor", ["intel", pytest.param("openmpi", marks=pytest.mark.slow)])
def test_messages_within_a_node_pass_the_network(vendor: str, programs: Path, plain: Path) -> None:
    program = built(vendor, "pingpong", programs)
    outcome = tried(str(plain), vendor, 2, program, options="--placement 1x2 --json")
    assert outcome.exit_code == 0, outcome.stderr
    answer = json.loads(outcome.stdout.splitlines()[-1])
    assert answer["messages"] >= 2 * 10 * 13


@in_turn("openmpi")
def test_shared_memory_within_nodes_is_refused_with_the_reason(vendor: str, programs: Path) -> None:
    program = built(vendor, "nodes", programs)
    outcome = tried("altix-bx2", vendor, 2, program, options="--inside library")
    assert outcome.exit_code == 3
    (line,) = outcome.stderr.splitlines()
    assert "nhalf: error: --inside library is not possible with" in line
    assert "shared memory" in line

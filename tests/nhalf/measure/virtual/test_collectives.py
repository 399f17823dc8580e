"""Forced algorithms of the libraries take what their messages do, composed apart (composed.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.machines.wires import nodes_of
from nhalf.measure.virtual.launch import VirtualLaunch, run
from nhalf.mpi.discover import libraries
from nhalf.mpi.vendors import vendor_of
from tests.nhalf.measure.virtual.composed import (
    EAGER_BYTES,
    Steps,
    binomial,
    dissemination,
    ends,
    link,
    near_first,
    recursive_doubling,
)
from tests.nhalf.measure.virtual.programs import built, library_of

FORCED = {
    "mpich": {"bcast": "binomial", "allreduce": "recursive_doubling", "barrier": "k_dissemination"},
    "intel": {"bcast": "1", "allreduce": "1", "barrier": "1"},
    "openmpi": {"bcast": "binomial", "allreduce": "recursive_doubling", "barrier": "bruck"},
}
ALGORITHMS: dict[str, Callable[[int, int, bool], Steps]] = {
    "bcast": binomial,
    "allreduce": recursive_doubling,
    "barrier": dissemination,
}
CASES = [("barrier", 0)]
CASES += [(name, size) for name in ("bcast", "allreduce") for size in (8, 1024, 65536)]
FULL = pytest.mark.full


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("vendor", "ranks"),
    [
        *(("mpich", ranks) for ranks in (2, 3, 5, 7, 8)),
        ("intel", 3),
        pytest.param("openmpi", 7, marks=pytest.mark.slow),
        *(pytest.param("intel", ranks, marks=FULL) for ranks in (2, 5, 7, 8)),
        *(pytest.param("openmpi", ranks, marks=FULL) for ranks in (2, 3, 5, 8)),
        *(pytest.param(vendor, ranks, marks=FULL) for vendor in FORCED for ranks in (16, 33, 64)),
    ],
)
def test_forced_algorithms_take_what_their_messages_do(
    vendor: str, ranks: int, programs: Path, plain: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    machine = catalogue.machine(str(plain))
    messages = Messages(machine)
    nodes = nodes_of(machine, ranks, "")
    library = library_of(vendor)
    tuner = vendor_of(library).tuner(library)
    assert tuner is not None
    words = [word for name, size in CASES for word in (name, str(size))]
    command = [str(built(vendor, "collectives", programs)), *words]
    trial = VirtualLaunch(messages=messages, library=library, command=command, nodes=nodes)
    tried = run(trial, libraries(), tuner.force(FORCED[vendor]))
    assert tried.exit_code == 0
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert [(name, int(size)) for name, size, *_ in lines] == CASES
    for name, size, *times in lines:
        begins, leaves = (list(map(float, times[part::2])) for part in (0, 1))
        expected = composed_ends(vendor, name, int(size), begins, messages, nodes)
        begin = min(begins)
        taken = [end - begin for end in leaves]
        assert taken == pytest.approx([end - begin for end in expected], rel=1e-5), (name, size)


def composed_ends(
    vendor: str,
    operation: str,
    size_bytes: int,
    begins: list[float],
    messages: Messages,
    nodes: list[int],
) -> list[float]:
    """When each rank should leave an operation that they entered at these times."""
    ranks = len(nodes)
    links = {is_within: link(messages, is_within, size_bytes) for is_within in (True, False)}
    waits = size_bytes > EAGER_BYTES
    is_near_first = (vendor, operation) == ("openmpi", "bcast")
    algorithm = near_first if is_near_first else ALGORITHMS[operation]
    steps = [algorithm(rank, ranks, waits) for rank in range(ranks)]
    return ends(steps, begins, lambda source, to: links[nodes[source] == nodes[to]])

"""Messages at once share what they pass: times in closed form, with an MPI library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, tried

SIZE = 1 << 20
ALONE_S, OWN_S = 9e-6 + SIZE * 1e-9, SIZE * 1e-9
"""Of a message alone, and of its bytes."""
NEAR = 1e-4
"""Readings of the clock, and where ranks meet."""

TREE = {
    "topology": '{kind = "fat-tree", down = [4, 2], up = [1, 1], cables = [1, 1]}',
    "bandwidth_Bps": "1e9",
}


def machine(folder: Path, network: dict[str, str], ranks: int = 1, shared: str = "") -> str:
    """A machine file with this network, whose links are as fast as a message."""
    path = folder / "machine.toml"
    lines = [f"{name} = {value}" for name, value in network.items()]
    curve = "segments = [{from_bytes = 0, to_bytes = 4194304, t0_s = 9e-6, r_inf_Bps = 1e9}]"
    model = f'[[models]]\npattern = "pingpong"\ntransport = "mpi"\nranks = 2\n{curve}'
    path.write_text(
        f'schema = 1\nname = "shared"\n[node]\nranks = {ranks}\n[network]\n'
        + "\n".join(lines)
        + f'\n{shared}\n{model}\nplacement = "same-node"\n{model}\nplacement = "other-node"\n'
    )
    return str(path)


def times_s(name: str, ranks: int, flows: Sequence[str], folder: Path) -> dict[int, float]:
    """When the messages from and to ranks arrive that begin at one time, by receiver."""
    outcome = tried(name, "mpich", ranks, built("mpich", "flows", folder), str(SIZE), *flows)
    assert outcome.exit_code == 0, outcome.stderr
    lines = [line.split() for line in outcome.stdout.splitlines()]
    return {int(rank): int(time_ps) * 1e-12 for rank, time_ps in lines}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("flows", "shares"),
    [
        (["0-4"], 1),
        (["0-4", "1-5"], 2),
        (["0-4", "1-5", "2-6"], 3),
        # Every node has a partner behind the other switch, both ways.
        ([f"{node}-{(node + 4) % 8}" for node in range(8)], 4),
        (["0-1", "2-3", "4-0", "1-5"], 1),
    ],
)
def test_messages_share_the_cable_between_two_switches(
    flows: Sequence[str], shares: int, tmp_path: Path, programs: Path
) -> None:
    arrivals = times_s(machine(tmp_path, TREE), 8, flows, programs)
    assert len(arrivals) == len(flows)
    for time_s in arrivals.values():
        assert time_s == pytest.approx(ALONE_S + (shares - 1) * OWN_S, rel=NEAR)


def test_ranks_of_a_node_share_its_link(tmp_path: Path, programs: Path) -> None:
    star = {"topology": '{kind = "crossbar"}', "bandwidth_Bps": "1.5e9"}
    arrivals = times_s(machine(tmp_path, star, 2), 4, ["0-2", "1-3"], programs)
    for time_s in arrivals.values():
        assert time_s == pytest.approx(ALONE_S + OWN_S / 3, rel=NEAR)


@pytest.mark.parametrize(
    ("flows", "times"),
    [
        # One way each has 1.6 of the bus's 1.6 GB/s, both ways together 0.8 each.
        (["0-2"], 1.0),
        (["0-2", "3-1"], 1.25),
        (["0-1", "2-3"], 1.0),
    ],
)
def test_what_a_node_shares_is_what_its_machine_file_says(
    flows: Sequence[str], times: float, tmp_path: Path, programs: Path
) -> None:
    bus = '[[shared]]\nwhat = "bus"\nwhy = "both ways"\nboth_ways_Bps = 1.6e9'
    network = {"topology": '{kind = "crossbar"}'}
    name = machine(tmp_path, network, 2, bus)
    for time_s in times_s(name, 4, flows, programs).values():
        assert time_s == pytest.approx(ALONE_S + (times - 1) * OWN_S, rel=NEAR)


def test_all_nodes_share_one_wire(tmp_path: Path, programs: Path) -> None:
    wire = '[[shared]]\nwhat = "medium"\nwhy = "one wire"\nboth_ways_Bps = 1e9'
    name = machine(tmp_path, {"topology": '{kind = "crossbar"}'}, 1, wire)
    for time_s in times_s(name, 4, ["0-1", "2-3"], programs).values():
        assert time_s == pytest.approx(ALONE_S + OWN_S, rel=NEAR)

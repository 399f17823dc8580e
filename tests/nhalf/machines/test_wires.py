"""Machine files as the virtual network reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nhalf.base.errors import InputError
from nhalf.machines import catalogue
from nhalf.machines.composed import Composer
from nhalf.machines.machine import Network
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of
from nhalf.machines.topology import Crossbar
from nhalf.machines.wires import description, nodes_of

SIZES = [0, 1, 216, 217, 2048, 2049, 65535, 65536, 1 << 20, 1 << 21, (1 << 21) + 1, 1 << 22]


def wires(text: str) -> dict[int, list[list[int]]]:
    """The numbers of every wire and its parts by distance, the last wire of each distance."""
    read: dict[int, list[list[int]]] = {}
    for line in text.splitlines():
        name, *numbers = line.split()
        values = [int(number) for number in numbers if name in ("wire", "part")]
        if name == "wire":
            wire = read[values[0]] = [values[1:]]
        elif name == "part":
            wire.append(values)
    return read


@pytest.mark.parametrize("name", catalogue.names())
def test_the_network_has_the_times_of_every_curve(name: str) -> None:
    """T(n) of a fit, in seconds, and what native/network/wires.hpp makes of it."""
    machine = catalogue.machine(name)
    for library in Messages(machine).libraries:
        messages = Messages(machine, library if len(Messages(machine).libraries) > 1 else "")
        for distance, curve in [(0, messages.within_node), *messages.between_nodes]:
            network = Composer(messages, parts_of(messages), [0, distance])
            for size in SIZES:
                if size < curve.segments[0].from_bytes or size > curve.segments[-1].to_bytes:
                    continue
                time_s = network.time_s("bcast", "linear", 2, size)
                assert time_s == pytest.approx(curve.time_s(size), abs=5e-12, rel=1e-9)


def test_overheads_are_a_quarter_of_the_shortest_message_unless_known(plain: Path) -> None:
    read = wires(description(Messages(catalogue.machine(plain)), [0, 1]))
    assert read[0][0] == [500_000, 500_000, 0]
    assert read[1][0] == [1_500_000, 2_500_000, 3_000_000]


def test_ranks_fill_node_after_node_or_as_asked(plain: Path) -> None:
    machine = catalogue.machine(plain)
    assert nodes_of(machine, 5, "") == [0, 0, 1, 1, 2]
    assert nodes_of(machine, 1, "") == [0]
    assert nodes_of(machine, 4, "4x1") == [0, 1, 2, 3]
    assert nodes_of(machine, 4, "2x2:cyclic") == [0, 1, 0, 1]
    assert nodes_of(machine, 4, "0,1,1,0") == [0, 1, 1, 0]
    assert nodes_of(machine, 5, "2x2+1") == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    ("name", "ranks", "placement", "words"),
    [
        ("sp2-mpl", 33, "", "holds 32 ranks, not 33"),
        ("sp2-mpl", 4, "2x2", "ranks per node of sp2-mpl: at most 1, not 2"),
        ("sp2-mpl", 4, "other", "is not a placement"),
        ("sp2-mpl", 4, "3x1", "3x1 holds 3 ranks, but --ranks is 4"),
        ("altix-bx2", 300, "300x1", "has 256 nodes, not 300"),
        ("sunfire-link", 97, "4x24+1", "holds 96 ranks, not 97"),
        ("sunfire-link", 9, "4x2+1", "has 4 nodes, not 5"),
        ("altix-bx2", 2, "0,256", "has 256 nodes, not 257"),
        ("altix-bx2", 3, "0,0,0", "ranks per node of altix-bx2: at most 2, not 3"),
        ("altix-bx2", 3, "0,1", "0,1 holds 2 ranks, but --ranks is 3"),
        ("altix-bx2", 3, "0,1,", "is not a placement"),
        ("altix-bx2", 2, "0,-1", "is not a placement"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, ranks: int, placement: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        nodes_of(catalogue.machine(name), ranks, placement)


@pytest.mark.parametrize(
    ("name", "nodes", "lines"),
    [
        (
            "altix-bx2",
            [0, 0, 1, 1],
            ["link 2011200000 1", "topology tree switch 2 8 32 1 4 1 1", "share 0 1 0 2260888321"],
        ),
        ("sp2-mpl", [0, 1], ["link 40000000 1", "topology tree node 3 4 4 2 1 4 4 1 1 1"]),
        ("sci-torus", [0, 1], ["link 662500000 1", "topology torus 2 4 4"]),
        ("pentiumpro-ethernet", [0, 1], ["topology star 16", "medium 1250000"]),
        ("x1-msp", [0, 1], ["topology direct 4"]),
        # A rank moves what the node lets it, or the network where that moves more.
        ("poweredge-ib", [0, 0], ["share 1 0 0 399000000"]),
        ("poweredge-ib", [0, 0, 1], ["share 1 0 0 579275000"]),
        # The only rank of a node has its way to itself.
        ("sunfire-link", [0, 0, 1], ["share 0 1 782000000 0"]),
        ("sunfire-link", [0, 1], []),
    ],
)
def test_what_messages_share_is_in_the_description(
    name: str, nodes: list[int], lines: list[str]
) -> None:
    found = description(Messages(catalogue.machine(name)), nodes).splitlines()
    assert set(lines) <= set(found)
    assert any(line.startswith("share 0 1 782") for line in found) == (
        "share 0 1 782000000 0" in lines
    )


def test_a_crossbar_of_any_number_of_nodes(plain: Path) -> None:
    machine = catalogue.machine(plain)
    crossbar = replace(machine, network=Network(topology=Crossbar()))
    assert nodes_of(crossbar, 5, "5x1") == [0, 1, 2, 3, 4]


def numbers(text: str, name: str) -> list[list[int]]:
    """The numbers of all lines of a name."""
    return [
        [int(word) for word in line.split()[1:]]
        for line in text.splitlines()
        if line.startswith(f"{name} ")
    ]


def test_a_published_exchange_is_in_the_description_unless_ranks_have_a_ratio() -> None:
    sp2 = numbers(description(Messages(catalogue.machine("sp2-mpl")), [0, 1]), "both")
    # Of all wires, within a node, between nodes and far ones: a node has one rank.
    assert len(sp2) == 9
    assert sp2[-1] == [16385, 167_000_000, round(1e12 / 20.7), 0]
    assert not numbers(description(Messages(catalogue.machine("x1-ssp")), [0, 1]), "both")
    # Where the rate falls within a node, that of both ways does.
    falling = numbers(description(Messages(catalogue.machine("myrinet-gm")), [0, 0]), "both")
    assert [line[0] for line in falling[:2]] == [0, 65536]
    assert falling[0] == [0, 1_500_000, round(2e12 / 720.4), 0]


def test_fans_are_in_the_description_for_the_ranks_that_there_are() -> None:
    messages = Messages(catalogue.machine("sp2-mpl"))
    for ranks in (2, 8):
        text = description(messages, list(range(ranks)))
        partners = ranks - 1
        start_us = 15.5 - 5.5 / partners, 13.3 + 3 / partners
        for name, first_us, per_byte_us in zip(
            ("out", "in"), start_us, (0.031, 0.0285), strict=True
        ):
            found = numbers(text, name)[0]
            assert found == [0, round(first_us * 1e6), round(per_byte_us * 1e12), 0]
    assert not numbers(description(Messages(catalogue.machine("altix-bx2")), [0, 1]), "out")

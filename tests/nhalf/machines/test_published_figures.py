# SPDX-License-Identifier: Apache-2.0
"""Machines of record against other figures that were published of them."""

from __future__ import annotations

import pytest

from nhalf.machines import catalogue
from nhalf.machines.topology import Crossbar, FatTree, Hypercube, Multistage, SharedMemory, Torus
from nhalf.store.axes import parse_axes
from tests.nhalf.machines.recorded import MIB_4, NAMES, OTHER, SAME, curve


def test_nodes_and_networks() -> None:
    machines = {name: catalogue.machine(name) for name in NAMES}
    built = {
        name: (machine.network.topology, machine.node.ranks)
        for name, machine in machines.items()
        if machine.network and machine.node
    }
    multistage = Multistage(radix=4, stages=3, nodes=32)
    assert built == {
        "sp1-mpl": (multistage, 1),
        "sp2-mpl": (multistage, 1),
        "sp2-ip": (Crossbar(32), 1),
        "sp2-pvme": (multistage, 1),
        "spp1000-pvm": (SharedMemory(), 8),
        "sunfire-link": (Crossbar(4), 24),
        "myrinet-gm": (Crossbar(8), 2),
        "poweredge-6650": (SharedMemory(), 4),
        "sunfire-15k": (SharedMemory(), 72),
        "altix-bx2": (FatTree((8, 32), (1, 16), (1, 1)), 2),
        "x1-ssp": (Hypercube(2), 16),
        "x1-msp": (Hypercube(2), 4),
        "opteron-myrinet": (Crossbar(64), 2),
        "poweredge-ib": (FatTree((16, 27), (1, 2), (1, 4)), 2),
        "pentiumpro-ethernet": (Crossbar(16), 1),
        "sci-torus": (Torus((4, 4)), 2),
        "gige-pair": (Crossbar(2), 1),
    }
    altix = built["altix-bx2"][0]
    assert isinstance(altix, FatTree)
    assert (altix.nodes * 2, altix.switches) == (512, (32, 16))
    dell = built["poweredge-ib"][0]
    assert isinstance(dell, FatTree)
    assert dell.switches == (27, 2)
    # 16 nodes and 4 cables to each of two cores; a core has 120 ports.
    assert dell.down[0] + dell.up[1] * dell.cables[1] == 24
    assert dell.down[1] * dell.cables[1] <= 120


def test_what_links_nodes_and_layers_can_do() -> None:
    """MB/s of a link, an adapter and a node's memory; what differs from the form's own values."""
    found = {}
    for name in NAMES:
        machine = catalogue.machine(name)
        assert machine.network is not None
        assert machine.node is not None
        rates = (
            machine.network.bandwidth_Bps,
            machine.network.adapter_Bps,
            machine.node.memory_Bps,
        )
        found[name] = tuple(rate and round(rate / 1e6, 6) for rate in rates)
        assert machine.network.latency_s is None
        assert machine.network.duplex == (name != "sp2-ip")
        assert (machine.protocol is not None) == (name == "sunfire-link")
        assert {model.ranks for model in (*machine.models, *machine.loggp)} == {2}
    assert found == {
        **dict.fromkeys(("sp1-mpl", "sp2-mpl", "sp2-pvme"), (40, None, None)),
        **dict.fromkeys(("spp1000-pvm", "poweredge-6650", "sunfire-15k"), (None, None, None)),
        **dict.fromkeys(("x1-ssp", "x1-msp"), (16 * 1600, 32 * 1600, None)),
        "sp2-ip": (1.25, None, None),
        "sunfire-link": (1000, None, None),
        "myrinet-gm": (443.9, None, None),
        "altix-bx2": (3200, None, 1762),
        "opteron-myrinet": (250, None, None),
        "poweredge-ib": (1000, None, None),
        "pentiumpro-ethernet": (1.25, None, None),
        "sci-torus": (5300 / 8, None, None),
        "gige-pair": (125, None, None),
    }
    sunfire = catalogue.machine("sunfire-link").protocol
    assert sunfire is not None
    assert sunfire.rendezvous_bytes == 256 * 1024


BARRIERS = {
    ("sunfire-link", SAME): {2: 1.21, 4: 1.80, 8: 1.80, 16: 3.10},
    ("sunfire-link", OTHER): {4: 1156.05, 8: 1355.17, 16: 966.50, 32: 971.45, 64: 1785.60},
    ("myrinet-gm", OTHER): {2: 9.84, 4: 19.12, 8: 29.50, 16: 52.44},
    ("pentiumpro-ethernet", OTHER): {
        **{3: 15230, 5: 30310, 7: 45230, 9: 65320, 12: 80340, 14: 110230, 16: 150460}
    },
}


@pytest.mark.parametrize(("machine", "placement"), sorted(BARRIERS))
def test_published_barriers(machine: str, placement: str) -> None:
    found = {
        point.ranks: point.time_s
        for point in catalogue.machine(machine).points
        if (point.pattern, point.placement) == ("barrier", placement)
    }
    by_hand = {p: time_us * 1e-6 for p, time_us in BARRIERS[machine, placement].items()}
    assert found == pytest.approx(by_hand)


def test_primitives_of_remote_shared_memory() -> None:
    found = {
        parse_axes(point.axes)["primitive"]: round((point.time_s or 0) * 1e6, 2)
        for point in catalogue.machine("sunfire-link").points
        if point.pattern == "primitive"
    }
    assert found == {
        **{"get-topology": 12.65, "get-controller": 841, "export-create": 103.61},
        **{"publish": 119.36, "unpublish": 73.48, "destroy": 16.73, "release-controller": 3.63},
        **{"connect": 173.45, "map": 13.56, "init-barrier": 0.33, "set-mode": 0.38},
        **{"open-barrier": 9.93, "order-barrier": 16.80, "put": 27.73, "close-barrier": 7.13},
        **{"destroy-barrier": 0.14, "signal": 23.78, "unmap": 21.40, "disconnect": 486.31},
    }


def test_parameters_of_logp() -> None:
    for name, (o_s, o_r, gap, half) in {
        "sunfire-link": (3, 2, 2.29, 5.0),
        "myrinet-gm": (0.9, 1.1, 2.9, 6.2),
    }.items():
        (found,) = catalogue.machine(name).loggp
        values = (found.send_overhead_s, found.recv_overhead_s, found.gap_s)
        assert values == pytest.approx((o_s * 1e-6, o_r * 1e-6, gap * 1e-6))
        assert found.half_round_trip_s == pytest.approx(half * 1e-6)
        assert found.half_round_trip_s == curve(name, OTHER).time_s(1)


def test_other_published_figures() -> None:
    """(pattern, axes or words, size): (microseconds, MB/s)."""
    found = {
        (name, point.pattern, point.axes or point.what, point.size_bytes): (
            point.time_s and round(point.time_s * 1e6, 3),
            point.rate_Bps and round(point.rate_Bps / 1e6, 1),
        )
        for name in NAMES
        for point in catalogue.machine(name).points
        if point.pattern not in {"barrier", "primitive", "distance"}
    }
    assert found == {
        ("sunfire-link", "put", "less than 64 B", None): (35, None),
        ("sunfire-link", "put", "", 64): (0.6, None),
        ("sunfire-link", "put", "", 16384): (28, None),
        ("sunfire-link", "get", "", 16384): (373, None),
        ("sunfire-link", "stream", "unidirectional latency", 1): (2, None),
        ("sunfire-link", "pingpong-bsend", "buffered sends, latency", 1): (6, None),
        ("sunfire-link", "stream", "unidirectional bandwidth", None): (None, 695),
        ("sunfire-link", "pingpong-bsend", "buffered sends, bandwidth", None): (None, 346),
        ("sunfire-link", "pingpong-diffbuf", "changing buffers, bandwidth", None): (None, 582),
        ("myrinet-gm", "pingpong-ssend", "synchronous sends, latency", None): (23, None),
        ("myrinet-gm", "pingpong-bsend", "buffered sends, latency", None): (7, None),
        ("myrinet-gm", "stream", "unidirectional latency", None): (5, None),
        ("myrinet-gm", "pingpong", "network=qsnet", None): (4.6, 308),
        ("myrinet-gm", "pingpong", "network=qsnet-ii", None): (3, 900),
        ("myrinet-gm", "pingpong", "network=myrinet-d", None): (6.7, 235),
        ("myrinet-gm", "pingpong", "network=myrinet-e", None): (3.5, 495),
        ("myrinet-gm", "pingpong", "network=infiniband", None): (6.8, 841),
        ("poweredge-6650", "pingpong-ssend", "synchronous sends, latency", None): (32, None),
        ("sunfire-15k", "stream", "unidirectional latency", None): (3, None),
        ("x1-ssp", "pingpong", "", 2**20): (None, 4231),
        ("x1-msp", "pingpong", "", 2**20): (None, 9400),
        ("opteron-myrinet", "pingpong", "", 128 * 1024): (None, 900),
        ("opteron-myrinet", "pingpong", "", MIB_4): (None, 670),
        **{
            ("sci-torus", "active-message", "a short message, one way, without MPI", None): (
                *(3.28, None),
            ),
            ("sci-torus", "sockets", "sockets over SCI: latency and bandwidth", None): (5, 255),
            (
                *("sci-torus", "dma-queue"),
                *("setting up a queue of transfers takes longer than this", None),
            ): (100, None),
        },
        ("gige-pair", "pingpong", "network=infiniband-1x", 64): (6.28, None),
    }
    distances = [p for p in catalogue.machine("altix-bx2").points if p.pattern == "distance"]
    rates = {int(parse_axes(p.axes)["distance"]): (p.rate_Bps or 0) / 1e6 for p in distances}
    assert rates == {
        **{1: 1762, 2: 1264, 4: 1264, 8: 1191, 16: 1191},
        **{32: 1097, 64: 1097, 128: 1016, 256: 917},
    }

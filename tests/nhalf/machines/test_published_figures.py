"""Machines of record against other figures that were published of them."""

from __future__ import annotations

import math

import pytest

from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.machines.topology import Crossbar, Direct, FatTree, Multistage, SharedMemory, Torus
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
        "altix-bx2": (FatTree((8, 32), (1, 16), (1, 1), 4, "switch"), 2),
        "x1-ssp": (Direct(4), 16),
        "x1-msp": (Direct(4), 4),
        "opteron-myrinet": (Crossbar(64), 2),
        "poweredge-ib": (FatTree((16, 27), (1, 2), (1, 4)), 2),
        "pentiumpro-ethernet": (Crossbar(16), 1),
        "sci-torus": (Torus((4, 4)), 2),
        "gige-pair": (Crossbar(2), 1),
    }
    altix = built["altix-bx2"][0]
    assert isinstance(altix, FatTree)
    assert (altix.nodes * 2, altix.down[1], altix.up[1]) == (512, 32, 16)
    dell = built["poweredge-ib"][0]
    assert isinstance(dell, FatTree)
    assert (dell.down[1], dell.up[1]) == (27, 2)
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
        assert machine.network.latency_s == (0.125e-6 if name == "sp2-mpl" else None)
        assert machine.network.duplex == (name != "sp2-ip")
        assert (machine.protocol is not None) == (name == "sunfire-link")
        assert {model.ranks for model in (*machine.models, *machine.loggp)} == {2}
    assert found == {
        **dict.fromkeys(("sp1-mpl", "sp2-mpl", "sp2-pvme"), (40, None, None)),
        **dict.fromkeys(("spp1000-pvm", "poweredge-6650", "sunfire-15k"), (None, None, None)),
        **dict.fromkeys(("x1-ssp", "x1-msp"), (17066.7, 32 * 1600, None)),
        "sp2-ip": (1.25, None, None),
        "sunfire-link": (1000, 782, None),
        "myrinet-gm": (443.9, None, None),
        "altix-bx2": (2011.2, None, None),
        "opteron-myrinet": (250, None, None),
        "poweredge-ib": (1000, None, None),
        "pentiumpro-ethernet": (1.25, None, None),
        "sci-torus": (5300 / 8, None, None),
        "gige-pair": (125, None, None),
    }
    sunfire = catalogue.machine("sunfire-link").protocol
    assert sunfire is not None
    assert sunfire.rendezvous_bytes == 256 * 1024


def test_what_cores_do() -> None:
    """Clocks in MHz, and of POWER2 four floating-point operations a cycle."""
    clocks = {
        **{"sp1-mpl": 62.5, **dict.fromkeys(("sp2-mpl", "sp2-ip", "sp2-pvme"), 66.7)},
        **{"myrinet-gm": 2000, "altix-bx2": 1600, "opteron-myrinet": 2000},
        **{"poweredge-ib": 3600, "sci-torus": 1000},
    }
    found = {name: core for name in NAMES if (core := catalogue.machine(name).computing)}
    assert {name: (core.clock_hz or 0) / 1e6 for name, core in found.items()} == clocks
    flops = {name: core.flops_per_s for name, core in found.items() if core.flops_per_s}
    assert flops == pytest.approx(dict.fromkeys(("sp2-mpl", "sp2-ip", "sp2-pvme"), 4 * 66.7e6))
    assert all(core.source and core.memory_Bps is None for core in found.values())


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
        if (point.pattern, point.placement, point.axes) == ("barrier", placement, "")
    }
    by_hand = {p: time_us * 1e-6 for p, time_us in BARRIERS[machine, placement].items()}
    assert found == pytest.approx(by_hand)


def test_parameters_of_logp() -> None:
    for name, (o_s, o_r, gap, half) in {
        "sunfire-link": (3, 2, 2.29, 5.0),
        "myrinet-gm": (0.9, 1.1, 2.9, 6.2),
    }.items():
        found, of_the_table = catalogue.machine(name).loggp
        assert of_the_table.latency_s is not None
        values = (found.send_overhead_s, found.recv_overhead_s, found.gap_s)
        assert values == pytest.approx((o_s * 1e-6, o_r * 1e-6, gap * 1e-6))
        assert found.half_round_trip_s == pytest.approx(half * 1e-6)
        assert found.half_round_trip_s == curve(name, OTHER).time_s(1)


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_for_a_range_is_its_middle(name: str) -> None:
    machine = catalogue.machine(name)
    network = machine.network
    assert network is not None
    far = [model.segments[-1] for model in machine.models if model.placement == OTHER]
    within = Messages(machine).within_node
    for each in machine.ranges:
        value = {
            "latency between nodes": far[0].t0_s if far else None,
            "rate between nodes": far[0].r_inf_Bps if far else None,
            "bandwidth of a link": network.bandwidth_Bps,
            "rate of long messages within a node": MIB_4 / within.time_s(MIB_4),
        }[each.of]
        assert value == pytest.approx(math.sqrt(each.low * each.high), rel=1e-4)
        assert each.why
    assert all(each.why for each in machine.shared)

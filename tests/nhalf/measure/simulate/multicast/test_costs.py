"""Which ways to multicast a machine offers, and what messages cost on it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.machines.catalogue import machine
from nhalf.machines.machine import FittedModel, Machine, Network, Segment
from nhalf.machines.topology import Crossbar, FatTree, Hypercube, SharedMemory, Torus
from nhalf.measure.simulate.session import costs, multicast_subject
from nhalf.mpi.simgrid import simgrid
from tests.nhalf.measure.simulate.multicast.asking import (
    ALGORITHMS,
    FORWARDINGS,
    Ask,
    time_s,
)


def algorithms_of(made: Machine) -> list[str]:
    axes = {axis.name: axis for axis in multicast_subject(made).infos["multicast"].axes}
    return axes["algorithm"].values.split(",")


def made_of(topology: Any, rate: float = 1e9, **network: Any) -> Machine:
    segment = Segment(from_bytes=0, to_bytes=10**6, t0_s=10e-6, r_inf_Bps=rate)
    curve = FittedModel(
        transport="mpi", pattern="pingpong", ranks=2, placement="other-node", segments=(segment,)
    )
    return Machine(name="made", network=Network(topology=topology, **network), models=(curve,))


def test_what_does_not_fit_a_network_is_not_offered(program: str) -> None:
    assert algorithms_of(machine("sci-torus")) == sorted(ALGORITHMS)
    assert algorithms_of(machine("myrinet-gm")) == ["binary", "binomial", "separate", "serial"]
    # No closed walk by single steps goes through rings of 4 and of 3.
    torn = made_of(Torus((4, 3)))
    assert set(ALGORITHMS) - set(algorithms_of(torn)) == {"mu-torus", "s-torus"}
    assert set(algorithms_of(made_of(Hypercube(3)))) == set(ALGORITHMS)


@pytest.mark.parametrize("name", ["sci-torus", "myrinet-gm"])
def test_a_message_between_neighbours_takes_what_the_machine_says(ask: Ask, name: str) -> None:
    """A machine of 2 nodes of the same kind: the destination is the neighbour."""
    record = machine(name)
    options = costs(record).options
    network = {"dimensions": "2"} if "dimensions" in options else {"switch": "2"}
    options = {key: value for key, value in options.items() if key not in ("dimensions", "switch")}
    said = ",".join(f"{key}={value}" for key, value in (options | network).items())
    curve = next(model for model in record.models if model.placement == "other-node")
    last = curve.segments[-1]
    for size_bytes in (0, 1000, 10**6):
        expected_s = curve.segments[0].t0_s + size_bytes / last.r_inf_Bps
        for forwarding in FORWARDINGS:
            found = ask(said, "separate", 1, forwarding, size_bytes, options="o_s=0")
            assert time_s(found) == pytest.approx(expected_s, rel=1e-9)


def test_costs_name_what_is_assumed() -> None:
    sci = costs(machine("sci-torus"))
    assert any(line.startswith("o_s is 0.25") for line in sci.assumed)
    assert "bus_bandwidth" in sci.options
    myrinet = costs(machine("myrinet-gm"))
    assert float(myrinet.options["o_s"]) == 0.9e-6
    assert not any(line.startswith("o_s") for line in myrinet.assumed)
    assert "bus_bandwidth" not in myrinet.options


def test_costs_can_be_given() -> None:
    given = costs(machine("sci-torus"), {"nic_forward": "3e-6", "rings": "one-way"})
    assert given.options["nic_forward"] == "3e-6"
    assert given.options["rings"] == "one-way"
    with pytest.raises(InputError, match="nic_forwrd"):
        costs(machine("sci-torus"), {"nic_forwrd": "3e-6"})
    with pytest.raises(InputError, match="rings"):
        costs(machine("myrinet-gm"), {"rings": "one-way"})


@pytest.mark.parametrize(
    "given",
    ["o_s=fast", "o_s=-1", "o_s=nan", "o_s=inf", "o_s=", "link_bandwidth=0", "rings=round"],
)
def test_what_is_no_cost_says_so(given: str) -> None:
    name, _, value = given.partition("=")
    with pytest.raises(InputError, match=name):
        costs(machine("sci-torus"), {name: value})


def test_overheads_larger_than_the_latency_leave_nothing_to_adapters() -> None:
    thin = made_of(Crossbar(4), latency_s=1.0)
    options = costs(thin).options
    assert float(options["nic_send"]) == 0
    assert float(options["link_latency"]) == pytest.approx(2.5e-6)


@pytest.mark.parametrize(
    ("topology", "rate", "reason"),
    [
        (FatTree((4,), (1,), (1,)), 1e9, "a torus or around a switch"),
        (SharedMemory(), 1e9, "a torus or around a switch"),
        (Crossbar(0), 1e9, "a torus or around a switch"),
        (Torus((4,)), math.inf, "nothing of the rate"),
    ],
)
def test_machines_that_do_not_fit_say_so(topology: Any, rate: float, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        costs(made_of(topology, rate))


def test_without_simgrid_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.raises(MissingError) as caught:
        simgrid()
    assert "libsimgrid-dev" in caught.value.remedy

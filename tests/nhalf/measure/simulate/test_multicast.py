# SPDX-License-Identifier: Apache-2.0
"""Multicasts in the simulator against what they must take; every number is exact."""

from __future__ import annotations

import itertools
import math
import subprocess
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.machines.catalogue import machine
from nhalf.machines.machine import FittedModel, Machine, Network, Segment
from nhalf.machines.topology import Crossbar, FatTree, Hypercube, SharedMemory, Torus
from nhalf.measure.simulate.multicast import costs, multicast_subject
from nhalf.mpi.simgrid import multicast, simgrid
from tests.patience import patience_s

O_S, O_R, SEND, RECEIVE, FORWARD, LINK = 2e-6, 3e-6, 0.5e-6, 0.7e-6, 0.4e-6, 0.1e-6
RATE = 1e9
COSTS = (
    f"o_s={O_S},o_r={O_R},nic_send={SEND},nic_receive={RECEIVE},nic_forward={FORWARD},"
    f"link_latency={LINK},link_bandwidth={RATE:g}"
)
ALGORITHMS = (
    *("separate", "serial", "binary", "binomial", "u-torus", "s-torus", "md-torus", "mu-torus"),
)
FORWARDINGS = ("host", "nic-assisted", "nic")

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def program() -> str:
    try:
        return str(multicast(simgrid()))
    except MissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def ask(program: str) -> Ask:
    """Asks for one multicast: its record."""

    def asked(
        network: str, algorithm: str, group: int, forwarding: str = "host", size_bytes: int = 0,
        options: str = COSTS, **more: object,
    ) -> dict[str, Any]:  # fmt: skip
        axes = {"algorithm": algorithm, "forwarding": forwarding, "group": group, **more}
        line = f"id=x pattern=multicast bytes={size_bytes}"
        line += "".join(f" axis.{name}={value}" for name, value in axes.items())
        return answers(program, f"{options},{network}", [line])[0]

    return asked


def answers(program: str, options: str, lines: list[str]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [program, "--options", options],
        input="\n".join([*lines, "end", ""]),
        capture_output=True,
        text=True,
        check=True,
        timeout=patience_s(60),
    )
    records = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert records[0]["nhalf"] == "launch"
    assert records[-1] == {"nhalf": "end"}
    return records[1:-1]


def time_s(record: dict[str, Any]) -> float:
    assert record["nhalf"] == "point", record
    (sample_s,) = record["samples_s"]
    return float(sample_s)


def exactly(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("size_bytes", [0, 1, 4000, 10**9])
@pytest.mark.parametrize("destinations", [1, 2, 7])
def test_separate_addressing_posts_one_after_the_other(
    ask: Ask, destinations: int, size_bytes: int
) -> None:
    wire_s = size_bytes / RATE
    # The adapter sends while the host posts the next: the slower of the two counts.
    last_s = O_S + (destinations - 1) * max(O_S, SEND + wire_s) + SEND + wire_s
    record = ask("switch=8", "separate", destinations, size_bytes=size_bytes)
    assert time_s(record) == exactly(last_s + 2 * LINK + RECEIVE + O_R)
    assert record["values"]["host_cpu_source_s"] == exactly(destinations * O_S)
    mean_s = destinations * (O_S + O_R) / (destinations + 1)
    assert record["values"]["host_cpu_s"] == exactly(mean_s)


@pytest.mark.parametrize("nodes", [2, 4, 8, 16])
def test_the_binomial_tree_takes_as_many_messages_as_steps(ask: Ask, nodes: int) -> None:
    # The last node is reached by that many messages in a row, each the first of its sender.
    one_s = O_S + SEND + 2 * LINK + RECEIVE + O_R
    record = ask(f"switch={nodes}", "binomial", nodes - 1)
    assert time_s(record) == exactly(math.log2(nodes) * one_s)
    assert record["values"]["steps"] == math.log2(nodes)


@pytest.mark.parametrize(
    ("forwarding", "first_s", "next_s"),
    [
        ("host", O_S + SEND, O_R + O_S + SEND),
        ("nic-assisted", O_S + SEND, O_R + O_S + SEND),
        ("nic", O_S + SEND, FORWARD),
    ],
)
def test_a_chain_on_a_ring_adds_up(
    ask: Ask, forwarding: str, first_s: float, next_s: float
) -> None:
    wire_s = 5000 / RATE
    hop_s = wire_s + LINK + RECEIVE
    for name, network in (("serial", "dimensions=6"), ("s-torus", "dimensions=6,rings=one-way")):
        record = ask(network, name, 5, forwarding, size_bytes=5000)
        assert time_s(record) == exactly(first_s + 4 * next_s + 5 * hop_s + O_R)
        assert record["values"]["link_concentration"] == 1
        assert record["values"]["links_used"] == record["values"]["link_visits"] == 5


def test_messages_on_one_link_share_it(ask: Ask) -> None:
    """On a ring of one way the binomial tree sends 1 -> 3 and 2 -> 3 -> 4 at once."""
    size_bytes = 10**9
    free = "o_s=0,o_r=0,nic_send=0,nic_receive=0,nic_forward=0,link_latency=0"
    network = f"{free},link_bandwidth=1e9,rings=one-way,dimensions="
    alone_s = time_s(ask(f"{network}2", "binomial", 1, size_bytes=size_bytes, options="o_s=0"))
    assert alone_s == exactly(1)
    record = ask(f"{network}4", "binomial", 3, size_bytes=size_bytes, options="o_s=0")
    # 0 -> 1, then 0 -> 2 and 1 -> 3 share the link from 1 to 2.
    assert time_s(record) == exactly(3)
    values = record["values"]
    assert (values["link_visits"], values["links_used"], values["link_visits_max"]) == (5, 3, 2)
    assert values["link_concentration"] == exactly(2 / (5 / 3))


@pytest.mark.parametrize("draw", range(1, 6))
def test_long_and_short_routes_get_the_same_share(ask: Ask, draw: int) -> None:
    """Of 0 -> a, 0 -> b, a -> c the latter two share the link behind a all the time."""
    options = "o_s=0,o_r=0,nic_send=0,nic_receive=0,link_latency=0,link_bandwidth=1e9"
    record = ask("rings=one-way,dimensions=8", "binomial", 3, "host", 10**9, options, draw=draw)
    assert [time for time in record["rank_s"] if time] == exactly([1, 3, 3])


def test_times_far_below_a_nanosecond_add_up(ask: Ask) -> None:
    costs = dict.fromkeys(("o_s", "o_r", "nic_send", "nic_receive", "link_latency"), 1.5e-12)
    options = ",".join(f"{name}={cost}" for name, cost in costs.items())
    record = ask("dimensions=9", "serial", 8, "host", 3, f"{options},link_bandwidth=1e12")
    assert time_s(record) == exactly(8 * (5 * 1.5e-12 + 3e-12))


def test_a_bus_is_passed_on_the_way_in_and_out(ask: Ask) -> None:
    size_bytes, bus_s = 10**6, 10**6 / 5e8
    options = f"{COSTS},bus_bandwidth=5e8"
    wire_s = size_bytes / RATE
    hop_s = SEND + wire_s + 2 * LINK + RECEIVE

    def of(forwarding: str) -> float:
        return time_s(ask("switch=3", "serial", 2, forwarding, size_bytes, options))

    assert of("host") == exactly(2 * (O_S + 2 * bus_s + hop_s + O_R))
    # The adapter forwards what came in, and does not wait for the bus.
    assert of("nic") == exactly(O_S + bus_s + hop_s + FORWARD - SEND + hop_s + bus_s + O_R)
    # Two messages pass the bus one after the other, and the wire while the bus is busy.
    apart_s = time_s(ask("switch=3", "separate", 2, "host", size_bytes, options))
    assert apart_s == exactly(O_S + 2 * bus_s + hop_s + bus_s + O_R)
    # A list passes the bus once, whatever number of copies is made of it.
    two_s = time_s(ask("switch=3", "separate", 2, "nic-assisted", size_bytes, options))
    assert two_s == exactly(O_S + bus_s + SEND + wire_s + hop_s + bus_s + O_R)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("network", ["dimensions=16", "dimensions=4x4", "dimensions=4x2x2"])
def test_adapters_spare_the_hosts(ask: Ask, network: str, algorithm: str) -> None:
    for group in (1, 2, 9, 15):
        used = [ask(network, algorithm, group, forwarding) for forwarding in FORWARDINGS]
        host, assisted, adapter = (record["values"]["host_cpu_s"] for record in used)
        assert adapter <= assisted <= host
        assert host == exactly(group * (O_S + O_R) / (group + 1))
        assert adapter == exactly((O_S + group * O_R) / (group + 1))
        reached = {sum(time > 0 for time in record["rank_s"]) for record in used}
        assert reached == {group + 1}
        assert len({record["values"]["link_visits"] for record in used}) == 1
        if algorithm in ("separate", "binomial", "u-torus") and group > 1:
            assert adapter < host


def test_the_same_question_has_the_same_answer_bit_for_bit(program: str) -> None:
    lines = [
        f"id={draw} pattern=multicast bytes=3000 axis.algorithm=mu-torus axis.forwarding=host "
        f"axis.group=9 axis.draw={draw}"
        for draw in (1, 2)
    ]
    first, other = answers(program, "dimensions=4x4", lines)
    assert answers(program, "dimensions=4x4", [*lines, lines[0]]) == [first, other, first]
    assert first["rank_s"] != other["rank_s"]


def test_larger_groups_have_the_destinations_of_smaller_ones(ask: Ask) -> None:
    reached = [
        {
            rank
            for rank, time in enumerate(ask("dimensions=4x4", "separate", group)["rank_s"])
            if time
        }
        for group in range(1, 16)
    ]
    for small, large in itertools.pairwise(reached):
        assert small < large


def test_parts_change_what_mu_torus_does(ask: Ask) -> None:
    halves = ask("dimensions=4x4", "mu-torus", 15, parts=1)
    assert halves["values"]["steps"] == 4
    path = ask("dimensions=4x4", "mu-torus", 15, parts=15)
    assert path["samples_s"] == ask("dimensions=4x4", "s-torus", 15)["samples_s"]
    usual = ask("dimensions=4x4", "mu-torus", 15)
    assert usual == ask("dimensions=4x4", "mu-torus", 15, parts=3)
    assert halves["samples_s"] != usual["samples_s"] != path["samples_s"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("pattern=pingpong", "unknown pattern"),
        ("pattern=multicast axis.algorithm=best axis.group=1", "no value 'best'"),
        ("pattern=multicast axis.algorithm=u-torus axis.group=1", "is for a torus"),
        ("pattern=multicast axis.group=8", "from 1 to 7"),
        ("pattern=multicast axis.group=0", "from 1 to 7"),
        ("pattern=multicast", "from 1 to 7"),
        ("pattern=multicast axis.group=1 axis.forwarding=post", "no value 'post'"),
        ("pattern=multicast axis.group=1 axis.parts=0", "1 or more"),
        ("pattern=multicast axis.group=1 axis.colour=red", "no axis 'colour'"),
        ("pattern=multicast bytes=-1 axis.group=1", "not a number that fits"),
        ("pattern=multicast bytes=1e3 axis.group=1", "not a number that fits"),
        ("nonsense", "key=value"),
    ],
)
def test_a_point_that_cannot_be_says_why(program: str, line: str, reason: str) -> None:
    record, after = answers(program, "switch=8", [f"id=7 {line}", "id=8 pattern=x"])
    assert record["nhalf"] == after["nhalf"] == "error"
    assert reason in record["message"]
    assert after["id"] == "8"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--options", "colour=red"],
        ["--options", "dimensions=4x"],
        ["--options", "rings=round"],
        ["--options", "link_bandwidth=0"],
        ["--options", "o_s=-1"],
        ["--options", "o_s=nan"],
        ["--options", "switch=-2"],
        ["--ranks", "17"],
        ["--ranks", "1"],
        ["--ranks"],
        ["--lanks"],
    ],
)
def test_wrong_arguments_are_one_line(program: str, arguments: list[str]) -> None:
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=patience_s(20)
    )
    assert done.returncode == 2
    assert done.stderr.startswith("multicast: ")
    assert done.stderr.count("\n") == 1


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
        multicast(simgrid())
    assert "libsimgrid-dev" in caught.value.remedy

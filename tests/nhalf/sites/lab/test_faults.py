"""Links and nodes that break while the lab runs, and come back."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.sites.lab import build, network, places, slurm
from nhalf.sites.lab.build import status
from nhalf.sites.lab.layout import Lab
from nhalf.sites.lab.network import must
from tests.patience import patience_s

from .conftest import inside

REACH = """
import socket, sys
for host in sys.argv[1:]:
    try:
        socket.create_connection((host, 6818), 4.0).close()
        print(host)
    except OSError:
        pass
"""
"""Which nodes answer: 6818 is where slurmd listens."""
PATIENCE_S = 60.0


@pytest.fixture(
    scope="module",
    params=["star", *(pytest.param(name, marks=pytest.mark.full) for name in ("ring", "tree"))],
)
def lab(make_lab: Callable[..., Lab], request: pytest.FixtureRequest) -> Lab:
    return make_lab(4, request.param, rate_Bps=125e6)


def reached(lab: Lab, node: str) -> list[str]:
    return list(inside(lab, "python3", "-c", REACH, *lab.layout.nodes, node=node).stdout.split())


def test_every_node_reaches_every_other_and_the_head_all(lab: Lab) -> None:
    for node in (*lab.layout.nodes, "ctl"):
        assert reached(lab, node) == list(lab.layout.nodes)


@pytest.mark.full
def test_a_link_is_pulled_out_and_plugged_in_and_keeps_its_rate(lab: Lab) -> None:
    before = network.link_state(lab, lab.layout.link("n2"))
    assert not build.change_link(lab, "n2", up=False)["up"]
    assert reached(lab, "n1") == ["n1", "n3", "n4"]
    assert reached(lab, "n2") == ["n2"]
    assert build.change_link(lab, "n2", up=True) == before
    assert reached(lab, "n1") == list(lab.layout.nodes)


def test_a_link_gets_another_rate(lab: Lab) -> None:
    title = lab.layout.title(lab.layout.link("n3"))
    assert build.change_link(lab, "n3", 25e6) == {"link": title, "up": True, "rate_Bps": 25e6}
    build.change_link(lab, "n3", 125e6)


def test_what_changes_nothing_is_refused(lab: Lab) -> None:
    with pytest.raises(InputError, match="add --rate, --down or --up"):
        build.change_link(lab, "n1")


def test_a_dead_node_leaves_no_process_and_comes_back_as_another_start(lab: Lab) -> None:
    boot = inside(lab, "cat", "/proc/sys/kernel/random/boot_id", node="n4").stdout
    others = set(places.of_lab(lab)) - set(places.of_node(lab, "n4"))
    assert build.kill_node(lab, "n4") >= 2
    assert places.of_node(lab, "n4") == []
    assert not network.link_state(lab, lab.layout.link("n4"))["up"]
    assert others <= set(places.of_lab(lab))
    shown = {node["node"]: node for node in status(lab)["nodes"]}
    assert not shown["n4"]["alive"]
    assert shown["n4"]["slurmd"] is None
    assert shown["n3"]["alive"]
    since_s = time.time()
    build.restart_node(lab, "n4")
    assert slurm.wait_until_back(lab, "n4", since_s) != "silent"
    assert inside(lab, "srun", "-w", "n4", "hostname").stdout == "n4\n"
    assert inside(lab, "cat", "/proc/sys/kernel/random/boot_id", node="n4").stdout != boot


@pytest.mark.full
def test_a_ring_without_a_link_keeps_its_slurm(make_lab: Callable[..., Lab]) -> None:
    ring = make_lab(3, "ring")
    build.change_link(ring, "n1-n2", up=False)
    assert reached(ring, "n1") == ["n1", "n3"]
    assert reached(ring, "ctl") == ["n1", "n2", "n3"]
    assert inside(ring, "srun", "-N3", "true").returncode == 0
    build.change_link(ring, "n1-n2", up=True)
    # A neighbour that did not answer is asked again only after some seconds.
    end_s = time.monotonic() + patience_s(PATIENCE_S)
    while reached(ring, "n1") != ["n1", "n2", "n3"]:
        assert time.monotonic() < end_s


@pytest.mark.full
def test_what_nodes_of_a_ring_say_to_each_other_stays_on_the_ring(
    make_lab: Callable[..., Lab], transfer: Callable[..., None]
) -> None:
    ring = make_lab(3, "ring")

    def sent_bytes(place: str, port: str) -> int:
        line = ["ip", "-n", ring.namespace(place), "-s", "-json", "link", "show", port]
        return int(json.loads(must(line))[0]["stats64"]["tx"]["bytes"])

    pairs = list(itertools.permutations((1, 2, 3), 2))
    before = {(a, b): sent_bytes(f"r{a}", f"r{b}") for a, b in pairs}
    on_control = sum(sent_bytes(f"r{a}", "s0") for a in (1, 2, 3))
    transfer(ring, "n1", "n2", 4_000_000, 1)
    assert sent_bytes("r1", "r2") - before[1, 2] > 4_000_000
    assert sent_bytes("r1", "r3") - before[1, 3] < 100_000
    assert sum(sent_bytes(f"r{a}", "s0") for a in (1, 2, 3)) - on_control < 400_000


def test_no_log_of_slurm_complains_of_its_configuration(lab: Lab) -> None:
    text = (Path(lab.folder) / "log" / "slurmctld.log").read_text()
    assert "fatal" not in text
    assert "Ignoring" not in text

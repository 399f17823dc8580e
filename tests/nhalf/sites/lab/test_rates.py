"""A link has the rate that is asked for: all packets of a stream pass buckets of that rate, which
hold them back and lose none; what passes no slow link is held back by none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from nhalf.sites.lab import build
from nhalf.sites.lab.layout import Lab
from nhalf.sites.lab.network import PAYLOAD_SHARE, must

Transfer = Callable[..., None]
SIZE_BYTES, TIMES = 4 << 20, 2
SENT_BYTES = SIZE_BYTES * TIMES / PAYLOAD_SHARE


@dataclass(frozen=True)
class Bucket:
    """What tc tells of the queue of a port."""

    rate_Bps: float
    passed_bytes: int
    held_back: int
    dropped: int


@pytest.fixture(scope="module")
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab(2)


def buckets(lab: Lab) -> dict[tuple[str, str], Bucket]:
    """Every bucket of a lab by its place and port."""
    found = {}
    for place in lab.layout.places:
        command = ["tc", "-s", "-json", "-n", lab.namespace(place), "qdisc", "show"]
        for queue in json.loads(must(command)):
            if queue["kind"] == "tbf":
                told = (queue[name] for name in ("bytes", "overlimits", "drops"))
                found[place, queue["dev"]] = Bucket(queue["options"]["rate"], *told)
    return found


def path(lab: Lab, transfer: Transfer, sender: str, receiver: str) -> dict[str, Bucket]:
    """The buckets that a stream passed, by their places, with what they counted meanwhile."""
    before = buckets(lab)
    transfer(lab, sender, receiver, SIZE_BYTES, TIMES)
    passed = {}
    for (place, port), now in buckets(lab).items():
        then = before[place, port]
        passed_bytes = now.passed_bytes - then.passed_bytes
        if passed_bytes > SENT_BYTES / 10:
            # Acknowledgements go the other way.
            assert passed_bytes == pytest.approx(SENT_BYTES, rel=0.02)
            held_back = now.held_back - then.held_back
            passed[place] = Bucket(now.rate_Bps, passed_bytes, held_back, now.dropped)
    return passed


@pytest.mark.sampled(1)
@pytest.mark.parametrize("megabit", [200, 500, 1000])
def test_a_stream_passes_buckets_of_the_rate(lab: Lab, transfer: Transfer, megabit: int) -> None:
    rate_Bps = megabit * 125_000
    for node in lab.layout.nodes:
        build.change_link(lab, node, rate_Bps)
    found = path(lab, transfer, "n1", "n2")
    assert list(found) == ["n1", *lab.layout.switches]
    assert [one.rate_Bps for one in found.values()] == [rate_Bps] * 2
    assert found["n1"].held_back > 0
    assert all(one.dropped == 0 for one in found.values())


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("topology", "slow", "pairs"),
    [
        ("star", "n3", {("n1", "n2"): 1.0, ("n1", "n3"): 0.5, ("n3", "n2"): 0.5}),
        ("tree", "s1-s0", {("n1", "n2"): 1.0, ("n1", "n3"): 0.5, ("n4", "n2"): 0.5}),
        ("ring", "n1-n2", {("n3", "n2"): 1.0, ("n1", "n2"): 0.5, ("n2", "n1"): 0.5}),
    ],
)
def test_a_slow_link_slows_down_who_uses_it_and_nobody_else(
    make_lab: Callable[..., Lab],
    transfer: Transfer,
    topology: str,
    slow: str,
    pairs: dict[tuple[str, str], float],
) -> None:
    rate_Bps = 25e6
    lab = make_lab(4, topology, rate_Bps=rate_Bps, slow_Bps={slow: rate_Bps / 2})
    for (sender, receiver), share in pairs.items():
        found = path(lab, transfer, sender, receiver).values()
        assert min(one.rate_Bps for one in found) == share * rate_Bps
        assert all(one.dropped == 0 for one in found)


@pytest.mark.full
def test_without_a_rate_nothing_is_slowed_down(
    make_lab: Callable[..., Lab], transfer: Transfer
) -> None:
    lab = make_lab(2)
    assert buckets(lab) == {}
    transfer(lab, "n1", "n2", 1, 3)

# SPDX-License-Identifier: Apache-2.0
"""A rate that is asked for is what programs get, less the headers of frames."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import pytest

from nhalf.sites.lab import faults
from nhalf.sites.lab.command import must
from nhalf.sites.lab.shaping import PAYLOAD_SHARE
from nhalf.sites.lab.state import Lab

pytestmark = pytest.mark.slow

TOLERANCE = 0.08
ATTEMPTS = 6


@pytest.fixture(scope="module")
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab(2)


def dropped(lab: Lab) -> int:
    """Packets that queues of the lab could not hold."""
    texts = [
        must(["tc", "-s", "-n", lab.namespace(place), "qdisc", "show"])
        for place in lab.layout.places
    ]
    words = " ".join(texts).replace(",", "").split()
    return sum(int(words[i + 1]) for i, word in enumerate(words) if word == "(dropped")


@pytest.mark.parametrize("megabit", [200, 500, 1000])
def test_the_payload_of_a_stream_has_its_share_of_the_rate(
    lab: Lab, rates_Bps: Callable[..., list[float]], megabit: int
) -> None:
    """No transfer is faster; on a busy machine some are slower, so the best of several counts."""
    rate_Bps = megabit * 125_000
    for node in lab.layout.nodes:
        faults.change_link(lab, node, rate_Bps)
    for _ in range(ATTEMPTS):
        shares = [one / rate_Bps / PAYLOAD_SHARE for one in rates_Bps(lab, "n1", "n2", 4 << 20, 5)]
        assert max(shares) < 1 + TOLERANCE
        if max(shares) > 1 - TOLERANCE:
            break
    assert max(shares) > 1 - TOLERANCE
    assert dropped(lab) == 0


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
    rates_Bps: Callable[..., list[float]],
    topology: str,
    slow: str,
    pairs: dict[tuple[str, str], float],
) -> None:
    rate_Bps = 25e6
    lab = make_lab(4, topology, rate_Bps=rate_Bps, slow_Bps={slow: rate_Bps / 2})
    for (sender, receiver), share in pairs.items():
        found = max(rates_Bps(lab, sender, receiver, 2 << 20, 3)) / rate_Bps / PAYLOAD_SHARE
        assert found == pytest.approx(share, rel=0.25)


def test_without_a_rate_nothing_is_slowed_down(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(1)
    assert "tbf" not in must(["tc", "-n", lab.namespace("n1"), "qdisc", "show"])


def test_transfers_at_all(lab: Lab, rates_Bps: Callable[..., list[float]]) -> None:
    assert statistics.median(rates_Bps(lab, "n1", "n2", 1, 3)) > 0

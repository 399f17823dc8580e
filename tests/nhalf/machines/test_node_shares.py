"""What the ranks of a simulated node share, by hand in MB/s."""

from __future__ import annotations

from math import sqrt

import pytest

from nhalf.machines import catalogue
from nhalf.machines.node_shares import (
    Share,
    alone_Bps,
    hosts_per_node,
    medium_Bps,
    narrower,
    shares,
)


@pytest.mark.parametrize(
    ("name", "within", "between", "wanted"),
    [
        # What a rank moves in a ping-pong; the way out of a node; its memory.
        ("sunfire-link", 659, 660, [(1, 0, 0, 660), (0, 1, 782, 0), (0, 0, 0, 2000)]),
        ("myrinet-gm", 720, 444, [(1, 0, 0, 720), (1, 1, 0, 444)]),
        # Both ways as much as one way, within a node and between nodes; the bus.
        (
            "altix-bx2",
            1762,
            1264,
            [(1, 0, 0, 1762), (1, 1, 0, 1264), (0, 1, 0, sqrt(2022 * 2528))],
        ),
        # A message within a node counts twice there, and alone it is as fast as its curve.
        (
            "x1-ssp",
            4390,
            3051,
            [
                *[(1, 0, 0, 4390), (1, 1, 0, 3051), (0, 1, 51200, 0)],
                *[(4, 0, 0, 2 * 4390), (0, 0, 0, sqrt(22560 * 104000))],
                (0, 1, 0, sqrt(11730 * 22560)),
            ],
        ),
    ],
)
def test_what_ranks_share(
    name: str, within: float, between: float, wanted: list[tuple[int, int, float, float]]
) -> None:
    found = shares(catalogue.machine(name), within * 1e6, between * 1e6)
    assert [(each.ranks, int(each.away)) for each in found] == [each[:2] for each in wanted]
    rates = [rate for each in found for rate in (each.one_way_Bps, each.both_ways_Bps)]
    assert rates == pytest.approx([rate * 1e6 for each in wanted for rate in each[2:]], rel=1e-3)


def test_one_message_may_have_what_it_passes() -> None:
    found = [Share(1, False, 0.0, 9.0), Share(0, False, 0.0, 10.0), Share(0, True, 4.0)]
    assert (alone_Bps(found, away=False), alone_Bps(found, away=True)) == (5.0, 4.0)


def test_one_wire() -> None:
    assert medium_Bps(catalogue.machine("pentiumpro-ethernet"), 1e6) == 1.25e6
    assert medium_Bps(catalogue.machine("altix-bx2"), 1e6) == 0


def test_ranks_are_told_apart_where_a_node_has_a_number_of_them() -> None:
    assert hosts_per_node(catalogue.machine("altix-bx2")) == 2


def test_only_what_is_narrower_than_a_link_counts() -> None:
    adapter, rank = Share(0, True, 2.0), Share(1, False, 2.0)
    assert narrower([adapter, rank], 3.0, 2) == [adapter, rank]
    assert narrower([adapter, rank], 2.0, 2) == [rank]  # two ranks of a node are told apart
    assert narrower([adapter, rank], 2.0, 1) == []

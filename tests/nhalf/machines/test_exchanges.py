"""What two ranks take that exchange messages, where their rate falls with the size."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nhalf.machines import catalogue
from nhalf.machines.exchanges import exchange_of
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages

MIB = 1 << 20


def both_ways_s(machine: Machine, size_bytes: int) -> float:
    messages = Messages(machine)
    exchange = exchange_of(messages, messages.within_node)
    assert exchange is not None
    return exchange.time_s(size_bytes)


def test_what_limits_both_ways_falls_with_the_rate() -> None:
    """On Myrinet's nodes each direction has half of what a message alone has, of any size."""
    machine = catalogue.machine("myrinet-gm")
    alone = Messages(machine).within_node
    for size_bytes in (0, 8, 65535, 65536, MIB, 4 * MIB):
        beyond_s = alone.time_s(size_bytes) - 1.5e-6
        assert both_ways_s(machine, size_bytes) == pytest.approx(1.5e-6 + 2 * beyond_s)


def test_directions_that_do_not_slow_each_other_take_no_longer() -> None:
    machine = catalogue.machine("myrinet-gm")
    (rank,) = machine.shared
    free = replace(machine, shared=(replace(rank, both_ways_ratio=2.5),))
    alone = Messages(machine).within_node
    assert both_ways_s(free, MIB) == pytest.approx(alone.time_s(MIB))


@pytest.mark.parametrize("name", ["sunfire-link", "x1-ssp"])
def test_a_limit_for_all_sizes_needs_no_curve(name: str) -> None:
    messages = Messages(catalogue.machine(name))
    assert exchange_of(messages, messages.within_node) is None


@pytest.mark.parametrize(
    ("name", "low", "high"), [("myrinet-gm", 360.2, 443.9), ("poweredge-6650", 300, 600)]
)
def test_a_rate_that_falls_ends_in_the_middle_of_its_range(
    name: str, low: float, high: float
) -> None:
    machine = catalogue.machine(name)
    curve = Messages(machine).within_node
    rate = 4 * MIB / curve.time_s(4 * MIB) / 1e6
    assert rate == pytest.approx((low * high) ** 0.5, rel=1e-4)
    assert machine.range_of("rate of long messages within a node") == (low * 1e6, high * 1e6)
    assert curve.time_s(65536) == pytest.approx(curve.time_s(65535), rel=1e-3)


def test_long_messages_are_faster_between_nodes_of_myrinet() -> None:
    messages = Messages(catalogue.machine("myrinet-gm"))
    within, (_, between) = messages.within_node, messages.between_nodes[0]
    assert within.time_s(65536) < between.time_s(65536)
    for size_bytes in (MIB, 4 * MIB):
        assert within.time_s(size_bytes) > between.time_s(size_bytes)


def test_far_nodes_of_the_sp2_are_those_of_another_frame() -> None:
    """The study has 1 to 3 us more."""
    (_, near), (apart, far) = Messages(catalogue.machine("sp2-mpl")).between_nodes
    assert apart == 16
    for size_bytes in (0, 216, 217, 2048, 2049, 65536, 4 * MIB):
        more_s = far.time_s(size_bytes) - near.time_s(size_bytes)
        assert more_s == pytest.approx((1e-6 * 3e-6) ** 0.5, rel=1e-4)

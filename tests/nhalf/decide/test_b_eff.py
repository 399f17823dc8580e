"""The effective bandwidth is predicted from a ping-pong and what messages share."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.b_eff import (
    MANY_RANKS_RATIO,
    drawn_b_eff,
    error_ratio,
    messages,
    patterns,
    predict_b_eff,
)
from nhalf.machines import catalogue
from nhalf.machines.change import change
from nhalf.machines.draws import Draws, PredictedRate
from nhalf.machines.machine import FittedModel, Machine, Network, Node, Segment
from nhalf.machines.message import Messages
from nhalf.machines.shared import Shared
from nhalf.machines.together import ConcurrentMessages
from nhalf.machines.topology import Crossbar
from tests.nhalf.machines.recorded import NAMES_AND_A_TABLE

PUBLISHED = {
    ("altix-bx2", 256): 47166e6,
    ("x1-ssp", 8): 1858e6,
    ("x1-msp", 8): 7686e6,
    ("opteron-myrinet", 8): 530e6,
}
AT_LONGEST = dict(zip(PUBLISHED, (123579e6, 5742e6, 35089e6, 1203e6), strict=True))
PINGPONGS = dict(zip(PUBLISHED, (1069e6, 4231e6, 9400e6, 711e6), strict=True))
"""Adamidis et al. 2005, by hand."""


@pytest.mark.parametrize(("name", "ranks"), sorted(PUBLISHED))
def test_the_published_value_is_in_a_narrow_interval(name: str, ranks: int) -> None:
    prediction = predict_b_eff(catalogue.machine(name), ranks, without_own=True)
    found, published = prediction.figures["b_eff"], PUBLISHED[name, ranks]
    assert prediction.published_Bps["b_eff"] == published
    assert found.low < published < found.high
    assert found.high / found.low <= 3
    assert 1 / 1.15 < found.middle_Bps / published < 1.15


@pytest.mark.parametrize(
    ("figure", "published"), [("at-longest", AT_LONGEST), ("pingpong", PINGPONGS)]
)
def test_an_interval_is_at_least_as_wide_as_the_errors_on_published_values(
    figure: str, published: dict[tuple[str, int], float]
) -> None:
    """By hand: the root of the mean square of three machines, times Student's 3.18."""
    squares = {
        name: math.log(published[name, ranks] / drawn.figures[figure].middle_Bps) ** 2
        for name, ranks in PUBLISHED
        for drawn in [drawn_b_eff(catalogue.machine(name), ranks)]
    }
    others = squares["altix-bx2"] + squares["opteron-myrinet"]
    whole = others + (squares["x1-ssp"] + squares["x1-msp"]) / 2
    assert error_ratio(figure) == pytest.approx(math.exp(3.18245 * math.sqrt(whole / 3)))
    alone = math.exp(4.30265 * math.sqrt(others / 2))
    assert error_ratio(figure, without="x1-msp") == pytest.approx(alone)


def test_few_machines_of_few_ranks_do_not_make_an_interval_narrow() -> None:
    # Values that are in no record were up to 1.5 times too high.
    assert error_ratio("b_eff") == MANY_RANKS_RATIO > 1.5
    found = predict_b_eff(catalogue.machine("poweredge-ib"), 64).figures["b_eff"]
    ratio = error_ratio("b_eff") * (1 - 1e-9)
    assert found.high / found.middle_Bps >= ratio <= found.middle_Bps / found.low


def test_published_values_are_inside_the_interval_of_all_other_machines() -> None:
    found = predict_b_eff(catalogue.machine("x1-ssp"), 8).coverage
    assert found is not None
    assert found.count == 16
    assert found.inside >= 15


def test_the_longest_message_is_that_of_the_published_values() -> None:
    altix = catalogue.machine("altix-bx2")
    assert any("longest message is 1 MiB" in reason for reason in predict_b_eff(altix, 8).reasons)
    points = tuple(point for point in altix.points if point.pattern != "b_eff")
    unknown = drawn_b_eff(msgspec.structs.replace(altix, name="another", points=points), 256)
    assert any("longest message is 4 to 32 MiB" in reason for reason in unknown.reasons)
    known = drawn_b_eff(altix, 256)
    assert known.figures["b_eff"].middle_Bps != unknown.figures["b_eff"].middle_Bps


@pytest.mark.parametrize(("name", "ranks"), sorted(PUBLISHED))
def test_a_machine_is_scaled_to_its_own_published_values(name: str, ranks: int) -> None:
    machine = catalogue.machine(name)
    alone = predict_b_eff(machine, ranks, without_own=True).figures["b_eff"].middle_Bps
    own = predict_b_eff(machine, ranks)
    assert own.figures["b_eff"].middle_Bps == pytest.approx(PUBLISHED[name, ranks])
    assert own.own_ratio["b_eff"] == pytest.approx(PUBLISHED[name, ranks] / alone)
    origins = {row["figure"]: row["origin"] for row in own.as_json()["rows"]}
    assert origins == dict.fromkeys(own.figures, "read back")
    fewer = [predict_b_eff(machine, 4, without_own=alone) for alone in (True, False)]
    rates = [found.figures["b_eff"] for found in fewer]
    assert rates[1].middle_Bps / rates[0].middle_Bps == pytest.approx(own.own_ratio["b_eff"])
    assert rates[1].high / rates[1].low == pytest.approx(rates[0].high / rates[0].low)
    assert {row["origin"] for row in fewer[1].as_json()["rows"]} == {"predicted"}


def test_changed_machines_are_scaled_as_they_were_and_others_are_not() -> None:
    record = catalogue.machine("x1-msp")
    own = predict_b_eff(record, 12).own_ratio
    assert predict_b_eff(change(record, ["network.bandwidth=2x"]), 12).own_ratio == own
    assert not predict_b_eff(msgspec.structs.replace(record, source="another"), 12).own_ratio
    assert not predict_b_eff(catalogue.machine("poweredge-ib"), 12).own_ratio


FEWER_BY_HAND = [4, 8, 16, 32, 64, 128, 256, 512]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "largest"),
    [("altix-bx2", 512), ("x1-ssp", 48), ("opteron-myrinet", 126), ("poweredge-ib", 512)],
)
def test_more_ranks_move_more_in_all_and_no_more_each(name: str, largest: int) -> None:
    """But for the 32 ranks of the Altix, which have one cable between two leaf routers."""
    counts = [*(ranks for ranks in FEWER_BY_HAND if ranks < largest), largest]
    found = [predict_b_eff(catalogue.machine(name), ranks).figures["b_eff"] for ranks in counts]
    rates = [rate.middle_Bps for rate in found]
    assert rates == sorted(rates)
    each = [rate / ranks for ranks, rate in zip(counts, rates, strict=True) if ranks != 32]
    assert all(later <= earlier * 1.01 for earlier, later in pairwise(each))
    assert all(rate.high / rate.low < 4 for rate in found)


def test_an_interval_beyond_a_factor_of_three_has_no_headline() -> None:
    wide = PredictedRate(1.0, 0.3, 1.1)
    assert not wide.is_certain
    assert PredictedRate(1.0, 1 / 3, 3.0).is_certain
    assert PredictedRate(1.0, 0.9, 1.2).widened(1.5) == PredictedRate(1.0, 1 / 1.5, 1.5)
    prediction = drawn_b_eff(catalogue.machine("x1-ssp"), 8)
    figures = {**prediction.figures, "b_eff": wide}
    first, *others = replace(prediction, figures=figures).as_json()["rows"]
    assert first["rate_Bps"] is None
    assert first["rate_Bps_interval"] == [0.3, 1.1]
    assert all(row["rate_Bps"] for row in others)


def test_messages_of_a_full_node_wait_for_each_other() -> None:
    of = Messages(machine())
    size = np.full((1, 1), 1.0)
    times_s = [
        ConcurrentMessages(of, Draws(1), 2, queues=queues).time_s([(0, 2), (1, 3)], size)[0, 0]
        for queues in (False, True)
    ]
    # The second message of a node waits for the middle of 5 and 46 % of a latency.
    assert times_s[1] - times_s[0] == pytest.approx(math.sqrt(0.05 * 0.46) * 1e-6)


@pytest.mark.parametrize("name", NAMES_AND_A_TABLE)
def test_every_machine_of_record_has_a_b_eff_of_no_more_than_its_ping_pongs(name: str) -> None:
    machine = catalogue.machine(name)
    assert machine.node is not None
    assert machine.network is not None
    longest = min(4 << 20, machine.largest_bytes or 0)
    fastest_Bps = max(longest / each.time_s(longest) for each in machine.models)
    nodes = machine.network.topology.nodes or 16
    for ranks in {2, min(16, machine.node.ranks * nodes)}:
        found = predict_b_eff(machine, ranks).figures["b_eff"]
        assert found.low <= found.middle_Bps <= found.high <= 2 * ranks * fastest_Bps


def test_too_many_ranks_are_refused() -> None:
    with pytest.raises(InputError, match="too many"):
        predict_b_eff(catalogue.machine("x1-msp"), 17)


def test_rings_are_those_of_the_benchmark() -> None:
    """By hand, for 5 and 7 ranks: a ring of two and one of three; two, two and three."""
    first = {ranks: [list(map(len, rings)) for _, rings in patterns(ranks)][:2] for ranks in (5, 7)}
    assert first == {5: [[2, 3], [5]], 7: [[2, 2, 3], [3, 4][::-1]]}
    assert messages([[0, 1], [2, 3, 4]]) == [
        *((0, 1), (1, 0), (2, 3), (2, 4), (3, 4), (3, 2), (4, 2), (4, 3))
    ]
    assert len(list(patterns(8))) == 36


RATE_Bps = 1e9


def machine(*shared: Shared) -> Machine:
    """Two nodes of two ranks; every message moves at the same rate, after 1 us."""
    segment = Segment(from_bytes=0, to_bytes=1 << 30, t0_s=1e-6, r_inf_Bps=RATE_Bps)
    curves = [
        FittedModel(
            transport="mpi", pattern="pingpong", ranks=2, placement=placement, segments=(segment,)
        )
        for placement in ("same-node", "other-node")
    ]
    network = Network(topology=Crossbar(2), bandwidth_Bps=100 * RATE_Bps)
    return Machine(
        name="two-nodes",
        node=Node(ranks=2),
        network=network,
        models=tuple(curves),
        shared=shared,
    )


def rate_Bps(of: Machine, pairs: list[tuple[int, int]]) -> float:
    """What each of some messages gets, without their start-up, of 1 GiB."""
    size = np.full((1, 1), float(1 << 30))
    return float(
        (1 << 30) / ConcurrentMessages(Messages(of), Draws(1), 2).time_s(pairs, size)[0, 0]
    )


AWAY, BACK = [(0, 2), (1, 3)], [(2, 0), (3, 1)]


@pytest.mark.parametrize(
    ("shared", "pairs", "wanted"),
    [
        ({}, [(0, 2)], 1.0),
        ({}, [(0, 2), (2, 0)], 1.0),
        ({"what": "rank", "both_ways_ratio": 1.0}, [(0, 2), (2, 0)], 0.5),
        ({"what": "rank", "both_ways_ratio": 1.0}, AWAY, 1.0),
        ({"what": "rank", "both_ways_ratio": 1.5}, [(0, 2), (2, 0)], 0.75),
        ({"what": "adapter", "one_way_Bps": 1.2e9}, AWAY, 0.6),
        ({"what": "adapter", "one_way_Bps": 1.2e9}, AWAY + BACK, 0.6),
        ({"what": "bus", "both_ways_Bps": 1.2e9}, AWAY + BACK, 0.3),
        ({"what": "bus", "both_ways_Bps": 1.2e9}, [(0, 1), (1, 0)], 1.0),
        ({"what": "memory", "both_ways_Bps": 1.2e9}, [(0, 1), (1, 0)], 0.3),
        ({"what": "memory", "ranks": 1, "both_ways_Bps": 1.2e9}, [(0, 1), (1, 0)], 0.6),
        ({"what": "medium", "both_ways_Bps": 1.2e9}, AWAY, 0.6),
        ({"what": "medium", "both_ways_Bps": 1.2e9}, [(0, 1), (1, 0)], 1.0),
        ({}, [(0, 2), (0, 3)], 0.5),
    ],
)
def test_messages_that_share_something_divide_it(
    shared: dict[str, object], pairs: list[tuple[int, int]], wanted: float
) -> None:
    entries = [msgspec.convert({**shared, "why": "by hand"}, Shared)] if shared else []
    assert rate_Bps(machine(*entries), pairs) == pytest.approx(wanted * RATE_Bps, rel=1e-4)


def test_a_change_of_the_network_changes_what_is_shared() -> None:
    """Everything between nodes is twice as fast, so the longest messages between nodes are."""
    before = catalogue.machine("opteron-myrinet")
    after = change(before, ["network.bandwidth=2x"])
    found = [predict_b_eff(each, 64).figures["at-longest"].middle_Bps for each in (before, after)]
    assert found[0] * 1.3 < found[1] <= found[0] * 2


def test_ranks_that_users_do_not_get_are_told() -> None:
    words = "users get no more than 48 ranks of x1-ssp"
    for ranks, is_told in ((48, False), (49, True)):
        reasons = drawn_b_eff(catalogue.machine("x1-ssp"), ranks).reasons
        assert (words in reasons) == is_told

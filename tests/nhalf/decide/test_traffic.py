"""Permutations are predicted from a ping-pong and what messages share, against published ones."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from nhalf.base.errors import InputError
from nhalf.base.native_files import describe, executable
from nhalf.decide.traffic import (
    ALL,
    RULES,
    STAGED,
    UNREADY,
    PredictedTraffic,
    destinations,
    drawn_destinations,
    predict_traffic,
    rules_of,
)
from nhalf.machines import catalogue
from nhalf.machines.layout import Layout
from nhalf.machines.machine import Network
from nhalf.machines.shared import Shared
from nhalf.machines.topology import Crossbar
from tests.nhalf.decide.test_b_eff import RATE_Bps, machine
from tests.server import Ended

LAYOUTS = {"sunfire-link": Layout(4, 8), "myrinet-gm": Layout(8, 2, cyclic=True)}
OFF, ON = "other-node", "same-node"
PUBLISHED_MBps = {
    ("sunfire-link", "bit-reversal", OFF): 2500,
    ("sunfire-link", "complement", OFF): 3100,
    ("sunfire-link", "cube", OFF): 3100,
    ("sunfire-link", "neighbour", ON): 4000,
    ("sunfire-link", "transpose", OFF): 2400,
    ("sunfire-link", "transpose", ON): 1200,
    ("sunfire-link", "butterfly-all", OFF): 2400,
    ("sunfire-link", "butterfly-all", ON): 1200,
    ("sunfire-link", "baseline", OFF): 2500,
    ("sunfire-link", "baseline", ON): 2000,
    ("myrinet-gm", "complement", OFF): 2000,
    ("myrinet-gm", "neighbour", OFF): 2000,
    ("myrinet-gm", "cube", ON): 3600,
    ("myrinet-gm", "bit-reversal", OFF): 2000,
    ("myrinet-gm", "transpose", OFF): 2000,
    ("myrinet-gm", "baseline", OFF): 2000,
}
"""Qian 2004, by hand: what is between nodes, and within them where ranks send to others there."""
OUTSIDE = {
    ("sunfire-link", "butterfly-all", OFF),
    ("sunfire-link", "baseline", OFF),
    ("sunfire-link", "baseline", ON),  # published with what two ranks send to themselves
    ("sunfire-link", "neighbour", ON),  # this is what the record's memory is from
    ("myrinet-gm", "complement", OFF),
    ("myrinet-gm", "neighbour", OFF),
}
"""Published values that are not in the interval."""


def predicted(name: str) -> PredictedTraffic:
    layout = LAYOUTS[name]
    return predict_traffic(catalogue.machine(name), rules_of("", layout.ranks), layout, 10240)


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_published_permutations_are_predicted_within_40_percent(name: str) -> None:
    rows = {(name, row.to, row.place): row for row in predicted(name).rows}
    known = {each: row for each, row in rows.items() if row.published_Bps is not None}
    assert set(known) == {each for each in PUBLISHED_MBps if each[0] == name}
    for each, row in known.items():
        published_Bps = PUBLISHED_MBps[each] * 1e6
        assert row.published_Bps == published_Bps
        assert abs(row.rate.middle_Bps / published_Bps - 1) < 0.4, each
        assert (row.rate.low < published_Bps < row.rate.high) == (each not in OUTSIDE), each


def test_both_parts_of_mixed_traffic_go_at_their_own_pace() -> None:
    """Four ranks on two nodes, by hand, which lie 0 1 | 2 3."""
    adapter = Shared(what="adapter", one_way_Bps=RATE_Bps / 4, why="by hand")
    rows = predict_traffic(machine(adapter), ["baseline"], Layout(2, 2), 1 << 20).rows
    # 0 stays, 1 -> 2, 2 -> 1, 3 stays: all that is sent passes an adapter.
    assert [(row.place, row.senders) for row in rows] == [(OFF, 2)]
    assert rows[0].rate.high <= 2 * RATE_Bps / 4
    within = predict_traffic(machine(adapter), ["neighbour"], Layout(2, 2), 1 << 20).rows
    assert [(row.place, row.senders) for row in within] == [(ON, 4)]
    assert within[0].rate.low > 2 * RATE_Bps


def test_each_message_keeps_an_adapter_busy_for_a_while() -> None:
    """By hand: four messages of 1000 bytes pass each of two adapters, 10 us each."""
    adapter = Shared(what="adapter", both_ways_Bps=1e12, per_message_s=1e-5, why="by hand")
    (row,) = predict_traffic(machine(adapter), ["complement"], Layout(2, 2), 1000).rows
    assert row.rate.middle_Bps == pytest.approx(4 * 1000 / 4e-5)


def test_where_ranks_send() -> None:
    """Of 8 ranks, by hand; the highest stage where there are several."""
    found = {
        rule: [dict(destinations(rule, 8)).get(rank, rank) for rank in range(8)] for rule in RULES
    }
    assert found == {
        "bit-reversal": [0, 4, 2, 6, 1, 5, 3, 7],
        "butterfly": [0, 4, 2, 6, 1, 5, 3, 7],
        "complement": [7, 6, 5, 4, 3, 2, 1, 0],
        "transpose": [0, 4, 1, 5, 2, 6, 3, 7],
        "shuffle": [0, 2, 4, 6, 1, 3, 5, 7],
        "neighbour": [1, 0, 3, 2, 5, 4, 7, 6],
        "cube": [4, 5, 6, 7, 0, 1, 2, 3],
        "baseline": [0, 4, 1, 5, 2, 6, 3, 7],
        # Swap bits 1 and 0, then 2 and 0; rotate the low two down, then all three.
        "butterfly-all": [0, 2, 4, 6, 1, 3, 5, 7],
        "baseline-all": [0, 1, 4, 5, 2, 3, 6, 7],
    }


def test_the_probe_has_these_rules() -> None:
    patterns = describe([str(executable("probe-model"))])["patterns"]
    axes = next(pattern["axes"] for pattern in patterns if pattern["name"] == "traffic")
    text = next(axis["what"] for axis in axes if axis["name"] == "to")
    assert set(text.rpartition(": ")[2].split(", ")) == {rule.removesuffix(ALL) for rule in RULES}


def answers_of_the_probe(rules: list[str], ranks: int) -> dict[str, dict[str, Any]]:
    """The record of each rule, or its error."""
    lines = [
        f"id={rule} pattern=traffic bytes=64 slice_s=1e-9 samples_min=3 axis.load=0 "
        f"axis.to={rule.removesuffix(ALL)} {'axis.distance=all' if rule.endswith(ALL) else ''}\n"
        for rule in rules
    ]
    command = [str(executable("probe-model")), "--ranks", str(ranks)]
    output = subprocess.run(
        command, input="".join(lines).encode(), stdout=subprocess.PIPE, check=True, timeout=60
    ).stdout
    records = [msgspec.json.decode(line) for line in output.splitlines()]
    return {record["id"]: record for record in records if "id" in record}


@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 17])
def test_as_many_ranks_send_as_in_the_probe(ranks: int) -> None:
    """Rules without a sender, and those with stages on too few ranks, are refused by both."""
    answers = answers_of_the_probe(list(RULES), ranks)
    predicted_rules = rules_of("", ranks)
    for rule, answer in answers.items():
        is_error = answer["nhalf"] == "error"
        assert is_error == (rule not in predicted_rules), rule
        if not is_error:
            assert answer["values"]["senders"] == len(destinations(rule, ranks)), rule
        elif ranks.bit_length() <= STAGED.get(rule, 1):
            assert f"needs {1 << STAGED[rule]} ranks" in answer["message"]


def test_ranks_beyond_a_power_of_two_send_nothing() -> None:
    assert destinations("complement", 7) == [(0, 3), (1, 2), (2, 1), (3, 0)]
    assert rules_of("", 3) == ["complement", "neighbour", "cube"]


@pytest.mark.parametrize(
    ("rule", "layout", "size_bytes", "words"),
    [
        ("cube", Layout(5, 8), 10240, "too much"),
        ("cube", Layout(1, 25), 10240, "too much"),
        ("cube", Layout(4, 8), 0, "without bytes"),
        ("cube", Layout(1, 1), 10240, "not predicted"),
        ("transpose", Layout(2, 1), 10240, "sends nothing"),
        ("butterfly", Layout(2, 1), 10240, "sends nothing"),
        ("anywhere", Layout(4, 8), 10240, "unknown permutation"),
    ],
)
def test_what_cannot_be_predicted_is_refused(
    rule: str, layout: Layout, size_bytes: int, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        predict_traffic(catalogue.machine("sunfire-link"), [rule], layout, size_bytes)


@pytest.mark.parametrize("name", catalogue.names())
def test_every_machine_of_record_has_permutations_of_no_more_than_its_ping_pongs(name: str) -> None:
    record = catalogue.machine(name)
    assert record.node is not None
    assert record.network is not None
    per_host = min(record.node.ranks, 4)
    hosts = min(record.network.topology.nodes or 1, 8) if per_host < 4 else 1
    if per_host * hosts < 2:
        pytest.skip("one rank sends to nobody")
    layout = Layout(hosts, per_host)
    fastest_Bps = max(65536 / each.time_s(65536) for each in record.models)
    for row in predict_traffic(record, rules_of("", layout.ranks), layout, 65536).rows:
        assert 0 < row.rate.low <= row.rate.middle_Bps <= row.rate.high
        assert row.rate.high <= row.senders * fastest_Bps * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "layout", "published"),
    [
        ("sunfire-link", Layout(4, 4), 900),
        ("sunfire-link", Layout(4, 8), 1500),
        ("sunfire-link", Layout(4, 16), 2000),
        ("myrinet-gm", Layout(8, 2, cyclic=True), 1600),
    ],
)
def test_published_uniform_traffic_is_in_its_interval_and_within_40_percent(
    name: str, layout: Layout, published: float
) -> None:
    """As far as the two digits of what is published go: see UNREADY, which was taken from it."""
    found = predict_traffic(catalogue.machine(name), ["uniform"], layout, 10240)
    away, within = found.rows
    assert (away.place, away.senders) == (OFF, layout.ranks)
    assert away.published_Bps == published * 1e6
    assert away.rate.low < published * 1e6 < away.rate.high + 0.05e9
    assert abs(away.rate.middle_Bps / (published * 1e6) - 1) < 0.4
    beside = (layout.per_host - 1) / (layout.ranks - 1)
    assert within.rate.middle_Bps / away.rate.middle_Bps == pytest.approx(beside / (1 - beside))


@pytest.mark.parametrize("ranks", [2, 3, 8, 32])
def test_uniform_traffic_of_ranks_that_share_nothing_waits_at_its_receivers(ranks: int) -> None:
    """A closed network of queues, by hand: p ranks move (p - 1) / (2 p - 3) of what they could."""
    network = Network(topology=Crossbar(ranks), bandwidth_Bps=100 * RATE_Bps)
    wide = msgspec.structs.replace(machine(), network=network)
    (row,) = predict_traffic(wide, ["uniform"], Layout(ranks, 1), 1 << 20).rows
    (pair,) = predict_traffic(wide, ["neighbour"], Layout(2, 1), 1 << 20).rows
    alone_Bps = pair.drawn_Bps / 2
    free_Bps = row.drawn_Bps / np.sqrt(UNREADY[0] * UNREADY[1])
    share = (ranks - 1) / (2 * ranks - 3)
    assert free_Bps[0] == pytest.approx(
        ranks * alone_Bps[0] * share, rel=1e-9 if ranks == 2 else 0.03
    )


def test_uniform_traffic_of_many_ranks_is_refused() -> None:
    with pytest.raises(InputError, match="uniform traffic of 129 ranks"):
        drawn_destinations(129, 1)


def test_everybody_draws_another_rank() -> None:
    moments = drawn_destinations(3, 100)
    assert drawn_destinations(3, 100) == moments
    assert [rank for rank, _ in moments[0]] == [0, 1, 2]
    sent = Counter(pair for pairs in moments for pair in pairs)
    assert set(sent) == {(a, b) for a in range(3) for b in range(3) if a != b}
    assert min(sent.values()) > 30


def test_ranks_lie_as_those_whose_rates_were_published(call: Callable[..., Ended]) -> None:
    words = ("predict", "traffic/uniform", "--machine", "sunfire-link", "--ranks")
    predictions = json.loads(call(*words, "16,32,20,50", "--json").out)["predictions"]
    assert [each["placement"] for each in predictions] == ["4x4", "1x20", "4x8", "2x24+2"]
    assert [each["rows"][0]["published_Bps"] for each in predictions] == [9e8, None, 1.5e9, None]
    out = call(*words, "32").out
    (line,) = [line for line in out.splitlines() if line.split()[:2] == ["uniform", "off-node"]]
    assert " – " in line
    assert line.split()[-2:] == ["1.5", "GB/s"]

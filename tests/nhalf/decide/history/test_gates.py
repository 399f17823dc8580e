"""Gates over time: what became slower since when, who is blamed, and how often that is wrong."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.history.cluster import OCCASIONS_MAX, gate_history, node_changes, slower
from nhalf.decide.history.history import History
from nhalf.store.gates import PAIRS, GateRecord
from tests.nhalf.decide.history.gated import BEGIN, NODES, NOISE, cluster, three_faults

FOLDER = Path("gates")


def faulty() -> History:
    return gate_history(list(cluster(24, three_faults)), FOLDER)


def test_a_core_a_node_and_a_link_are_named_with_their_date() -> None:
    history = faulty()
    found = [(each.nodes, each.name, len(each.curves), each.pairs) for each in slower(history)]
    assert found == [
        (("n3",), "transfer", 3, 3),
        (("n1", "n10"), "latency", 1, 1),
        (("n2",), "core 1", 1, 0),
    ]
    assert [each.ratio for each in slower(history)] == pytest.approx([2.0, 1.5, 1.3], rel=0.02)
    days = [(each.since_s - BEGIN.timestamp()) / 86400 for each in slower(history)]
    assert days == pytest.approx([16, 8, 12], abs=0.1)
    assert history.exit_code(3) == 1


def test_nodes_come_in_the_order_of_their_change() -> None:
    changes = {change.node: change for change in node_changes(faulty())}
    assert list(changes) == ["n3", "n2", "n1", "n10"]
    assert (changes["n3"].slower_pairs, changes["n3"].pairs) == (3, 3)
    assert changes["n3"].pairs_ratio == pytest.approx(2.0, rel=0.02)
    assert changes["n1"].pairs_ratio == 1.0, "one link of three is not the node"
    own = changes["n2"].own
    assert own is not None and own.levels.curve["name"] == "core 1"
    assert changes["n1"].own is None and changes["n1"].slower_pairs == 2


def test_two_slow_nodes_share_the_pair_between_them() -> None:
    def two(name: str, gate: int) -> float:
        ends = set(name.split()[1:])
        return 2.0 if name.startswith("transfer") and ends & {"n2", "n3"} and gate > 9 else 1.0

    found = slower(gate_history(list(cluster(20, two)), FOLDER, "transfer"))
    assert sorted(each.nodes for each in found) == [("n2",), ("n3",)]
    assert sorted(len(each.curves) for each in found) == [2, 3]


def test_of_two_nodes_the_link_is_named_and_neither_node() -> None:
    whole = cluster(20, lambda name, gate: 2.0 if name == "transfer n1 n2" and gate > 9 else 1.0)
    records = [
        replace_struct(record, times_s={"transfer n1 n2": record.times_s["transfer n1 n2"]})
        for record in whole
        if record.node.startswith(PAIRS)
    ]
    (found,) = slower(gate_history(records, FOLDER))
    assert found.nodes == ("n1", "n2")


def test_what_became_faster_again_is_not_slower() -> None:
    def repaired(name: str, gate: int) -> float:
        return 1.5 if name == "n2 core 1" and 8 <= gate < 16 else 1.0

    history = gate_history(list(cluster(24, repaired)), FOLDER)
    (curve,) = [curve for curve in history.curves if curve.shifts]
    assert [shift.verdict for shift in curve.shifts] == ["slower", "faster"]
    assert curve.ratio_now == pytest.approx(1.0, rel=0.02)
    assert slower(history) == [] and history.exit_code(3) == 0


def test_what_was_fast_for_a_while_is_slower_than_that() -> None:
    def fast(name: str, gate: int) -> float:
        return 0.5 if name == "n2 core 1" and 8 <= gate < 16 else 1.0

    (found,) = slower(gate_history(list(cluster(24, fast)), FOLDER))
    assert (found.nodes, found.name) == (("n2",), "core 1")
    assert found.ratio == pytest.approx(2.0, rel=0.02)
    assert found.curves[0].ratio_now == pytest.approx(1.0, rel=0.02)


def test_a_node_that_becomes_slower_little_by_little_is_found() -> None:
    history = gate_history(
        list(cluster(60, lambda name, gate: 1.004**gate if name == "n3 core 0" else 1.0)), FOLDER
    )
    (found,) = slower(history)
    assert (found.nodes, found.name) == (("n3",), "core 0")
    assert found.ratio > 1.15


@pytest.mark.full
def test_few_clusters_without_a_change_show_one() -> None:
    alarms = sum(
        bool(gate_history(list(cluster(20, seed=seed)), FOLDER).shifts) for seed in range(100)
    )
    assert alarms <= 4  # 1 expected; 5 or more of 100 with a chance of 0.3 %


def test_gates_beside_others_do_not_count_and_a_no_go_does() -> None:
    records = list(cluster(8))
    disturbed = [replace_struct(record, verdict="unsure", counts=False) for record in records]
    slow = [replace_struct(record, verdict="no-go", counts=False) for record in records]
    with pytest.raises(InputError, match="beside other programs"):
        gate_history(disturbed, FOLDER)
    assert len(gate_history(slow, FOLDER).curves) == 4 * len(NODES) + 12


def test_a_kind_of_times_is_chosen_or_refused() -> None:
    records = list(cluster(4))
    names = {curve.levels.curve["name"] for curve in gate_history(records, FOLDER, "core").curves}
    assert names == {"core 0", "core 1"}
    with pytest.raises(InputError, match="kind of times 'flow'"):
        gate_history(records, FOLDER, "flow")


@pytest.mark.parametrize("bad", [0.0, -1.0, float("inf")])
def test_impossible_times_are_left_out(bad: float) -> None:
    records = list(cluster(6))
    records += [replace_struct(records[0], times_s={"core 0": bad, "core 7": bad})]
    assert len(gate_history(records, FOLDER).curves) == 4 * len(NODES) + 12


def test_a_year_of_hourly_gates_is_taken_together() -> None:
    random = np.random.default_rng(3)
    records = [
        GateRecord(
            node="n1", at=BEGIN + timedelta(hours=hour), verdict="go", counts=True,
            times_s={"core 0": (1 + (hour > 6000)) * float(np.exp(NOISE * normal))},
        )
        for hour, normal in enumerate(random.standard_normal(8760))
    ]  # fmt: skip
    history = gate_history(records, FOLDER)
    (curve,) = history.curves
    assert len(curve.levels.runs) == OCCASIONS_MAX
    (shift,) = curve.shifts
    assert shift.started_s == pytest.approx(BEGIN.timestamp() + 6000 * 3600, abs=48 * 3600)
    assert curve.ratio_now == pytest.approx(2.0, rel=0.01)


def replace_struct(record: GateRecord, **members: object) -> GateRecord:
    return msgspec.structs.replace(record, **members)

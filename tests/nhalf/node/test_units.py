import json
import subprocess
from unittest.mock import Mock

import pytest

from nhalf.node.measured import measured
from nhalf.node.measuring import CoreProbe, node_subject
from nhalf.node.reading import CHASE, UNIT, Reading, reading
from nhalf.node.units import (
    FORMER_ROUNDS,
    fused_pairs,
    operations,
    reorder_buffer_instructions,
    scheduler_instructions,
    together,
)

TRUTH = {
    ("add", 64, 1): 4.0,
    ("add", 64, 12): 0.5,
    ("multiply", 64, 1): 4.0,
    ("multiply", 64, 12): 0.5,
    ("root-times", 64, 1): 22.0,
    ("root-times", 64, 12): 6.0,
    ("fused", 256, 1): 4.0,
    ("fused", 256, 12): 0.5,
    ("load", 64, 12): 0.5,
    ("issue", 0, 12): 0.25,
    ("store-forward", 64, 1): 5.0,
}


def core() -> list[Reading]:
    units = []
    for launch, factor in enumerate((1.0, 1.01, 1.02)):
        for (operation, bits, chains), cycles in TRUTH.items():
            axes = {"operation": operation, "bits": str(bits), "chains": str(chains)}
            values: dict[str, float | None] = {"cycles_p25": cycles * factor, "cycle_s": 4e-10}
            samples_s = [cycles * 4e-10]
            units.append(reading(UNIT, 0, axes, launch, samples_s, values))
    return units


def test_operations_have_their_rates_and_latencies() -> None:
    operation_by_key = {operation.key: operation for operation in operations(core(), 5.0)}
    assert set(operation_by_key) == {
        "add",
        "multiply",
        "square_root",
        "fused_multiply_add.4",
        "load",
    }
    assert operation_by_key["add"].per_cycle == pytest.approx(2.0, rel=0.02)
    assert operation_by_key["fused_multiply_add.4"].latency_cycles == pytest.approx(4.0, rel=0.02)
    assert operation_by_key["load"].latency_cycles == 5.0
    low, high = operation_by_key["add"].latency_ci or (0.0, 0.0)
    assert low < 4.04 < high


def test_a_root_is_without_the_product_after_it() -> None:
    operation_by_key = {operation.key: operation for operation in operations(core())}
    assert operation_by_key["square_root"].latency_cycles == pytest.approx(18.0, rel=0.03)
    assert operation_by_key["square_root"].per_cycle == pytest.approx(1 / 6, rel=0.02)


def test_a_processor_is_described() -> None:
    processor = measured(core(), "today", {"host": "node1"})
    assert processor is not None
    assert processor.issue_per_cycle == pytest.approx(4.0, rel=0.02)
    assert processor.store_forward_cycles == pytest.approx(5.0, rel=0.02)
    assert processor.clock_hz == pytest.approx(2.5e9)
    assert "no level" in processor.unknown[0]


def test_without_units_there_is_no_processor() -> None:
    assert measured([], "today", {}) is None


def unit(
    operation: str, chains: int, launch: int, p10: float, p25: float, **values: float
) -> Reading:
    axes = {"operation": operation, "bits": "64", "chains": str(chains)}
    quantiles = {"cycles_p10": p10, "cycles_p25": p25, "cycle_s": 4e-10}
    return reading(UNIT, 0, axes, launch, [p25 * 4e-10], quantiles | values)


def test_rates_are_integers_of_the_fastest_launches() -> None:
    # Half of the launches share the core with a neighbour, and one clock reading was wrong.
    cycles = [1.0, 1.1, 0.53, 0.52, 0.3, 0.54]
    units = [unit("add", 12, launch, p, 1.02 * p) for launch, p in enumerate(cycles)]
    (add,) = operations(units)
    assert (add.per_cycle, add.most_per_cycle) == (2.0, 2.0)
    assert add.per_cycle_ci is not None
    assert add.per_cycle_ci[0] == pytest.approx(1 / 1.122)


def test_fused_pairs_take_one_issue_slot_less() -> None:
    units = []
    for launch, shared in enumerate((1.0, 1.9, 1.0)):
        cycles = {"issue": 1 / 6, "move-then-sum": 3.1 / 6, "whole-load-then-sum": 4.0 / 6}
        for name, duration in cycles.items():
            units.append(unit(name, 12, launch, duration * shared, duration * shared))
    assert fused_pairs(units) == ["move"]
    assert fused_pairs([]) == []


@pytest.mark.parametrize(
    ("capacity", "cycles"), [(512, 165.8), (401, 175.1), (401, 280.0), (250, 305.2)]
)
def test_the_reorder_buffer_shows_in_how_chains_overlap(capacity: int, cycles: float) -> None:
    # A round has 421 instructions, 6 of which are issued per cycle, and a chain of 20 divisions.
    units = [unit("divide", 1, 0, 14.0, 14.0), unit("window", 1, 0, cycles, cycles)]
    assert reorder_buffer_instructions(units, 6.0) == pytest.approx(capacity, rel=0.01)


def test_what_a_round_consists_of_comes_with_the_point() -> None:
    # Two chains of 10 divisions overlap: one round and the chain of the next are in flight.
    content = {"chain_divisions": 10.0, "round_instructions": 91.0}
    units = [
        unit("divide", 1, 0, 14.0, 14.0),
        unit("waiting", 1, 0, 70.0, 70.0, **content),
        unit("window", 1, 0, 70.0, 70.0, **content),
    ]
    assert scheduler_instructions(units) == pytest.approx(91 + 10)
    assert reorder_buffer_instructions(units, 6.0) == pytest.approx(2 * 91 - 10)


def test_the_probe_says_what_a_round_consists_of() -> None:
    subject = node_subject()
    names = {kernel["operation"] for kernel in subject.description["kernels"]}
    for kernel in names & {"window", "waiting"}:
        line = f"id=1 pattern={UNIT} bytes=0 axis.operation={kernel} samples_min=1 samples_max=1"
        outcome = subprocess.run(
            subject.command, input=f"{line}\nend\n", capture_output=True, text=True, check=True
        )
        values = json.loads(outcome.stdout.splitlines()[1])["values"]
        assert (values["chain_divisions"], values["round_instructions"]) == FORMER_ROUNDS[kernel]
        assert values["was_alone"] in (0, 1)


def test_an_axis_with_its_fallback_is_left_out_of_a_point() -> None:
    processes = Mock()
    processes.receive.return_value = {"nhalf": "error"}
    CoreProbe(processes, node_subject(), Mock(), 0).ask(CHASE, 4096, stride=64, shift=8, seed=1)
    processes.send.assert_called_once_with("id=0 pattern=node-chase bytes=4096 axis.shift=8")


@pytest.mark.parametrize(
    ("values", "was_alone"),
    [
        ({}, True),
        ({"alone_share": 0.03}, False),
        ({"alone_share": 0.04}, True),
        ({"alone_share": 0.04, "was_alone": 0.0}, False),
        ({"alone_share": 0.03, "was_alone": 1.0}, True),
    ],
)
def test_whether_a_core_was_alone(values: dict[str, float], was_alone: bool) -> None:
    assert unit("add", 1, 0, 4.0, 4.0, **values).was_alone == was_alone


@pytest.mark.parametrize(
    ("cycles", "latency"), [(4.003, 4.0), (3.99, 4.0), (4.1, 4.0), (3.46, 3.46), (0.02, 0.02)]
)
def test_latencies_are_integers_unless_they_are_between(cycles: float, latency: float) -> None:
    units = [unit("add", 12, 0, 1.0, 1.0), unit("add", 1, 0, cycles, cycles)]
    assert operations(units)[0].least_cycles == pytest.approx(latency)


def test_a_mixture_shows_which_unit_additions_and_multiplications_share() -> None:
    units = [unit(name, 12, 0, 0.5, 0.5) for name in ("add", "multiply")]
    assert together(units) == []
    (shared,) = together([*units, unit("add-multiply", 12, 0, 0.39, 0.4)])
    assert shared.cycles == {"add": 1 / 3, "multiply": 1 / 3}


def test_accesses_of_both_kinds_share_the_rate_of_the_quicker() -> None:
    units = [unit("load", 12, 0, 0.5, 0.5), unit("whole-load", 12, 0, 0.34, 0.34)]
    (loads,) = together(units)
    assert (loads.name, loads.kind) == ("loads", "memory")
    assert loads.cycles == {"load": 1 / 3, "integer_load": 1 / 3}
    assert together(units[:1]) == []


def test_a_comparison_is_as_late_as_its_choice_lets_see() -> None:
    units = [
        unit("compare", 12, 0, 1.0, 1.0),
        unit("compare-across", 12, 0, 1.6, 1.6),
        unit("compare-across", 1, 0, 8.0, 8.0),
        unit("across", 12, 0, 1.2, 1.2),
        unit("across", 1, 0, 7.0, 7.0),
    ]
    (compare,) = (operation for operation in operations(units) if operation.name == "compare")
    assert compare.per_cycle == 1
    assert compare.latency_cycles == pytest.approx(8 - 3.5 - 1)


def test_stores_are_forwarded_as_early_as_they_ever_are() -> None:
    added = [
        *core(),
        unit("store-forward-add", 1, 0, 6.0, 6.0),
        unit("integer-add", 1, 0, 1.0, 1.0),
        unit("integer-store-forward", 1, 0, 1.0, 1.0),
    ]
    units = measured(added, "today", {})
    assert units is not None
    assert units.store_forward_cycles == pytest.approx(2.0, abs=0.05)
    assert units.integer_store_forward_cycles == 0.0

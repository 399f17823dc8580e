# SPDX-License-Identifier: Apache-2.0
import pytest

from nhalf.node.measured import measured
from nhalf.node.reading import UNIT, Reading, reading
from nhalf.node.units import operations

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
    found = []
    for launch, factor in enumerate((1.0, 1.01, 1.02)):
        for (operation, bits, chains), cycles in TRUTH.items():
            axes = {"operation": operation, "bits": str(bits), "chains": str(chains)}
            values: dict[str, float | None] = {"cycles_p25": cycles * factor, "cycle_s": 4e-10}
            samples_s = [cycles * 4e-10]
            found.append(reading(UNIT, 0, axes, launch, samples_s, values))
    return found


def test_operations_have_their_rates_and_latencies() -> None:
    found = {one.key: one for one in operations(core(), 5.0)}
    assert set(found) == {"add", "multiply", "square_root", "fused_multiply_add.4", "load"}
    assert found["add"].per_cycle == pytest.approx(2.0, rel=0.02)
    assert found["fused_multiply_add.4"].latency_cycles == pytest.approx(4.0, rel=0.02)
    assert found["load"].latency_cycles == 5.0
    low, high = found["add"].latency_ci or (0.0, 0.0)
    assert low < 4.04 < high


def test_a_root_is_without_the_product_after_it() -> None:
    found = {one.key: one for one in operations(core())}
    assert found["square_root"].latency_cycles == pytest.approx(18.0, rel=0.03)
    assert found["square_root"].per_cycle == pytest.approx(1 / 6, rel=0.02)


def test_a_processor_is_described() -> None:
    found = measured(core(), "today", {"host": "node1"})
    assert found is not None
    assert found.issue_per_cycle == pytest.approx(4.0, rel=0.02)
    assert found.store_forward_cycles == pytest.approx(5.0, rel=0.02)
    assert found.clock_hz == pytest.approx(2.5e9)
    assert "no level" in found.unknown[0]


def test_without_units_there_is_no_processor() -> None:
    assert measured([], "today", {}) is None

"""The figures of the guide on gates: simulated, on the model transport, and on recorded looks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tools.benchmarks import gates

from nhalf.base.native_files import executable

PAST, TRIALS = 20, gates.TRIALS


def verdicts(count: int, slow: float, deviation: float = 0.01) -> Counter[str]:
    """Those of gates of two cores in normal noise, of which one takes longer."""
    random = np.random.default_rng(1)
    return Counter(
        gates.simulated(random, gates.normal, 2, PAST, deviation, slow) for _ in range(count)
    )


@pytest.mark.parametrize(("slow", "least"), [(1.1, 45), (1.2, 50), (1.5, 50)])
def test_a_slow_core_is_found_in_simulated_gates(slow: float, least: int) -> None:
    assert verdicts(TRIALS, slow)["no-go"] >= least


@pytest.mark.full
def test_of_500_simulated_gates_without_a_change_at_most_one_is_a_no_go() -> None:
    assert verdicts(500, 1.0)["no-go"] <= 1


def test_a_link_at_half_its_rate_is_named_on_the_model_transport() -> None:
    executable("probe-model")
    baseline = [gates.link_gate(seed, 1.0, []).times_s for seed in range(1, 11)]
    assert [gates.link_gate(seed, 1.0, baseline).verdict for seed in (1000, 1001)] == ["go", "go"]
    slow = gates.link_gate(1002, gates.LINK_FACTOR, baseline)
    assert gates.verdict_with_name(slow) == "no-go, transfer n1 n2"


def test_recorded_gates_that_differ_much_are_unsure_and_never_a_false_no_go() -> None:
    recordings = gates.recorded(gates.RECORDINGS)
    random = np.random.default_rng(1)
    sound = Counter(gates.replayed(random, recordings, PAST, 1.0) for _ in range(60))
    assert sound["no-go"] == 0
    doubled = Counter(gates.replayed(random, recordings, PAST, 4.0) for _ in range(20))
    assert doubled["no-go"] >= 18

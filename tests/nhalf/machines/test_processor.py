"""How processors compare by their descriptions."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.machines.processor import Name, Processor, ProcessorOperation, time_ratio
from nhalf.machines.processor_file import processor


def described(clock_hz: float, **per_cycle: float) -> Processor:
    names: dict[str, Name] = {"add": "add", "load": "load", "integer": "integer"}
    operations = tuple(
        ProcessorOperation(name=names[name], per_cycle=rate) for name, rate in per_cycle.items()
    )
    return Processor(name="own", clock_hz=clock_hz, issue_per_cycle=4, operations=operations)


def test_the_mean_is_that_of_what_both_describe() -> None:
    ratio = time_ratio(described(3e9, add=2, load=2), described(1e9, add=2, load=0.5, integer=1))
    assert ratio.each_ratio == {"arithmetic": 3.0, "loads": 12.0}
    assert ratio.mean_ratio == pytest.approx(6.0)
    assert (ratio.low, ratio.high) == (3.0, 12.0)


def test_a_processor_takes_its_own_time() -> None:
    assert time_ratio(processor("power2"), processor("power2")).mean_ratio == pytest.approx(1.0)


def test_a_fused_operation_counts_twice() -> None:
    ratio = time_ratio(described(66.7e6, add=2), processor("power2"))
    assert ratio.each_ratio == {"arithmetic": pytest.approx(0.5)}


def test_descriptions_with_nothing_in_common() -> None:
    with pytest.raises(InputError, match="no rates in common"):
        time_ratio(described(3e9, integer=2), described(3e9, add=1))


def test_sums_in_chains_wait_for_each_other() -> None:
    def with_latency(clock_hz: float, add: float, fused: float, *, fuses: bool) -> Processor:
        latencies: dict[Name, float] = {"add": add, "fused_multiply_add": fused}
        operations = tuple(
            ProcessorOperation(name=name, per_cycle=2, latency_cycles=latency)
            for name, latency in latencies.items()
        )
        return Processor(
            name="own", clock_hz=clock_hz, issue_per_cycle=4, operations=operations,
            always_fuses=fuses,
        )  # fmt: skip

    new, old = with_latency(4e9, 4, 5, fuses=False), with_latency(1e8, 1, 2, fuses=True)
    assert time_ratio(new, old).each_ratio == {
        "arithmetic": 40.0, "chains of sums": 10.0, "chains of products": 20.0,
    }  # fmt: skip

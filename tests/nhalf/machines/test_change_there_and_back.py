"""Changes and their opposites: whatever the machine, what is changed back is what it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.machines.change import change
from nhalf.machines.machine import (
    Machine,
)
from tests.nhalf.machines.changing import MACHINE, WITHOUT_OVERHEADS

factors = st.floats(1e-3, 1e3)


def numbers(machine: Machine) -> list[float]:
    """Everything that a change may touch."""
    assert machine.network is not None
    assert machine.node is not None
    found = [machine.network.bandwidth_Bps, machine.network.latency_s, machine.network.adapter_Bps]
    found += [machine.node.memory_Bps]
    for model in machine.models:
        for one in model.segments:
            found += [one.t0_s, one.r_inf_Bps, one.root_s]
    for parameters in machine.loggp:
        found += [parameters.gap_per_byte_s, parameters.latency_s, parameters.half_round_trip_s]
    return [value for value in found if value is not None]


@given(st.sampled_from(["network.bandwidth", "network.latency", "node.memory"]), factors)
def test_there_and_back_is_where_it_was(name: str, factor: float) -> None:
    back = change(change(MACHINE, [f"{name}={factor!r}x"]), [f"{name}=/{factor!r}"])
    assert numbers(back) == pytest.approx(numbers(MACHINE), rel=1e-9, abs=1e-16)
    at_once = change(MACHINE, [f"{name}={factor!r}x", f"{name}=/{factor!r}"])
    assert numbers(at_once) == numbers(back)


@given(factors, st.integers(0, 4194304))
def test_messages_are_between_as_fast_and_as_many_times_as_fast(factor: float, size: int) -> None:
    def time_s(machine: Machine) -> float:
        one = machine.models[0].segments[0 if size < 65536 else 1]
        return one.time_s(size)

    before = time_s(WITHOUT_OVERHEADS)
    for name in ("network.bandwidth", "network.latency"):
        faster = "x" if name == "network.bandwidth" else ""
        text = f"{name}={factor!r}x" if faster else f"{name}=/{factor!r}"
        after = time_s(change(WITHOUT_OVERHEADS, [text]))
        assert after > 0
        low, high = sorted((before, before / factor))
        assert low * (1 - 1e-9) <= after <= high * (1 + 1e-9)

from pathlib import Path

import pytest
from msgspec.structs import replace

from nhalf.machines.computing import Computing, computing_ratio
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import read, write

HERE = Computing(clock_hz=2e9, flops_per_s=32e9, memory_Bps=10e9)


def test_each_rate_counts_alike() -> None:
    there = Computing(clock_hz=4e9, flops_per_s=16e9, memory_Bps=10e9)
    found = computing_ratio(HERE, there)
    assert found is not None
    assert found.each_ratio == {"clock": 0.5, "arithmetic": 2.0, "memory": 1.0}
    assert found.mean_ratio == pytest.approx(1)
    assert (found.low, found.high) == (0.5, 2.0)


def test_what_is_not_known_of_both_is_left_out() -> None:
    found = computing_ratio(HERE, Computing(memory_Bps=5e9, flops_per_s=None))
    assert found is not None
    assert found.each_ratio == {"memory": 2.0}
    assert computing_ratio(HERE, Computing()) is None
    assert computing_ratio(HERE, None) is None


def test_a_machine_file_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    write(Machine(name="here", computing=HERE), path)
    assert read(path).computing == HERE
    write(replace(read(path), computing=None), path)
    assert read(path).computing is None


def test_a_processor_of_record_may_wait_for_fewer_cycles() -> None:
    there = Computing(clock_hz=1e9, processor="power2")
    found = computing_ratio(HERE, there)
    assert found is not None
    assert found.each_ratio == {"clock": 2.0, "chains of sums": 0.5}
    assert (found.low, found.high) == (0.5, 2.0)

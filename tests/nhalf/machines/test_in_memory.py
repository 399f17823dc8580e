"""Operations in a shared memory, by hand: levels of flags, operands, blocks that are copied."""

from __future__ import annotations

import math

import msgspec
import pytest

from nhalf.machines.in_memory import InMemory
from nhalf.machines.machine import FittedModel, Machine, Node, Segment
from nhalf.machines.machine_file import encode
from nhalf.machines.message import Messages
from nhalf.machines.shared import IN_MEMORY, OperationMethod, Shared
from nhalf.machines.timings import timings

LEVEL_S = 1e-6
SIZE = 1 << 20
CURVE = FittedModel(
    transport="mpi",
    pattern="pingpong",
    ranks=2,
    segments=(Segment(from_bytes=0, to_bytes=1 << 22, t0_s=9e-6, r_inf_Bps=1e9),),
)
ALONE = Machine(name="m", models=(CURVE,), node=Node(ranks=8))


def operation(pattern: str, **parts: object) -> OperationMethod:
    usual = {"pattern": pattern, "why": "by hand", "level_s": LEVEL_S}
    rate = {"operand_Bps": 2e9} if pattern == "reduce" else {}
    return msgspec.convert({**usual, **rate, **parts}, OperationMethod)


def in_memory(of: OperationMethod, machine: Machine = ALONE) -> InMemory:
    return InMemory(of, Messages(machine))


@pytest.mark.parametrize(("ranks", "levels"), [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3)])
def test_a_barrier_is_its_levels(ranks: int, levels: int) -> None:
    barrier = in_memory(operation("barrier"))
    assert barrier.time_s(ranks, 0) == pytest.approx(levels * LEVEL_S)
    assert barrier.interval_s(ranks, 0) == pytest.approx((levels * LEVEL_S,) * 2)


def test_a_reduction_adds_up_its_operands() -> None:
    reduce = in_memory(operation("reduce"))
    assert reduce.time_s(8, SIZE) == pytest.approx(3 * LEVEL_S + SIZE / 2e9)
    assert reduce.time_s(8, 0) == pytest.approx(3 * LEVEL_S)


def test_blocks_of_an_all_to_all_pass_what_messages_share() -> None:
    all_to_all = operation("alltoall")
    bytes_s = 7 * SIZE / 1e9
    assert in_memory(all_to_all).time_s(8, SIZE) == pytest.approx(3 * LEVEL_S + bytes_s)
    memory = Shared(what="memory", why="by hand", both_ways_Bps=4e9)
    crowded = msgspec.structs.replace(ALONE, shared=(memory,))
    bytes_s = 2 * 8 * 7 * SIZE / 4e9
    assert in_memory(all_to_all, crowded).time_s(8, SIZE) == pytest.approx(3 * LEVEL_S + bytes_s)


def test_a_range_gives_an_interval_around_its_geometric_mean() -> None:
    barrier = in_memory(operation("barrier", level_s=[1e-6, 4e-6]))
    low, high = barrier.interval_s(8, 0)
    assert barrier.time_s(8, 0) == pytest.approx(3 * math.sqrt(1e-6 * 4e-6))
    assert 3e-6 < low < 4e-6
    assert 11e-6 < high < 12e-6


@pytest.mark.parametrize(
    "parts",
    [
        {"pattern": "bcast"},
        {"pattern": "barrier", "algorithm": "binomial"},
        {"pattern": "barrier", "level_s": None},
        {"pattern": "barrier", "operand_Bps": 1e9},
        {"pattern": "reduce", "operand_Bps": None},
        {"pattern": "barrier", "level_s": [2e-6, 1e-6]},
        {"pattern": "barrier", "level_s": 0.0},
        {"pattern": "barrier", "origin": "invented"},
    ],
)
def test_operations_that_make_no_sense_are_refused(parts: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        operation(**{"pattern": "barrier", **parts})  # type: ignore[arg-type]


def test_a_machine_file_keeps_its_operations() -> None:
    whole = msgspec.structs.replace(
        ALONE,
        operations=(
            operation("barrier", level_s=[1e-6, 2e-6]),
            operation("bcast", level_s=None, algorithm="binomial"),
        ),
    )
    assert msgspec.toml.decode(encode(whole), type=Machine).operations == whole.operations


def test_machines_are_compared_by_their_operations() -> None:
    operations = tuple(map(operation, IN_MEMORY))
    machine = msgspec.structs.replace(ALONE, operations=operations)
    found = {timing.pattern: timing for timing in timings(machine)}
    assert found["barrier"].time_s(0, 8) == pytest.approx(3 * LEVEL_S)
    assert not found["barrier"].sized
    assert found["reduce"].sized
    assert found["reduce"].sizes() == (0, None)
    assert max(found["alltoall"].ranks()) == 8

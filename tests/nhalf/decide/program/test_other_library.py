"""What is not known of another library widens the interval: guessed operations, its first use."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.message_costs import FIRST_USE_MESSAGES, first_use_s
from nhalf.decide.program.predict import (
    FIRST_USE_DOUBT,
    GUESS_RATIO,
    OPERATIONS_DOUBT,
    predict_program,
)
from nhalf.decide.program.target import Target
from nhalf.facts.program.program import Program
from nhalf.machines.machine import Machine, PatternModel
from nhalf.machines.message import Messages
from tests.nhalf.decide.program.known_programs import (
    T0_S,
    call,
    curve,
    machine,
    model_of,
    ping_pong,
    with_counts,
)


def operations(name: str, computing_s: float = 0.0) -> Program:
    """Three operations of four ranks of 64 bytes, with computing between them."""
    rows: list[dict[str, Any]] = []
    for number in range(3):
        for rank in range(4):
            start_s = number * (computing_s + 0.01) + computing_s
            span = (start_s, start_s + 0.01)
            rows.append(call(name, "collective", rank, -2, span, size_bytes=64))
    return with_counts(rows, 4, 3 * (computing_s + 0.01))


def test_an_operation_with_counts_takes_its_own_time_where_measured() -> None:
    both = (model_of("alltoall", 0.02), model_of("alltoallv", 0.05))
    for patterns, time_s, guessed in ((both, 0.05, set()), (both[:1], 0.02, {"alltoallv"})):
        costs = MachineCosts(Messages(machine(patterns=patterns)), ["one"] * 4)
        assert costs.collective_s("MPI_Alltoallv", range(4), 64) == pytest.approx(time_s)
        assert costs.collective_s("MPI_Alltoall", range(4), 64) == pytest.approx(0.02)
        assert costs.guessed == guessed


@pytest.mark.parametrize(
    ("patterns", "factor"),
    [((model_of("alltoallv", 0.01),), 1.0), ((model_of("alltoall", 0.01),), GUESS_RATIO)],
)
def test_guessed_operations_widen_the_interval(
    patterns: tuple[PatternModel, ...], factor: float
) -> None:
    on = Messages(machine(patterns=patterns))
    made = operations("MPI_Alltoallv")
    alone = predict_program(made, Target(on), on)
    assert alone.time_s == pytest.approx(0.03)
    assert alone.high_s == pytest.approx(0.03 * factor)
    assert alone.low_s == pytest.approx(0.03 / factor)
    assert alone.doubt_ratio[OPERATIONS_DOUBT] == pytest.approx(factor)
    mostly = predict_program(operations("MPI_Alltoallv", 0.09), Target(on), on)
    assert mostly.high_s == pytest.approx(0.27 + 0.03 * factor)


def of_libraries(*names: str) -> Machine:
    curves = tuple(msgspec.structs.replace(curve(T0_S, "cores"), mpi=name) for name in names)
    return msgspec.structs.replace(machine(), models=curves)


def test_what_another_library_does_once_widens_the_interval() -> None:
    both = of_libraries("mpich-5.0.2", "openmpi-5.0.11")
    made = ping_pong(100, 1000, computing_s=0.05)
    made.trace.library = "MPICH Version:      5.0.2"
    once_s = FIRST_USE_MESSAGES * T0_S
    here, there = (Messages(both, name) for name in ("mpich", "openmpi"))
    assert first_use_s(made, here, here.library) == 0
    assert first_use_s(made, there, there.library) == pytest.approx(once_s)
    assert first_use_s(made, Messages(machine()), "") == 0, "a library that has no name"
    same = predict_program(made, Target(here), here)
    other = predict_program(made, Target(there), here)
    assert (same.low_s, same.high_s) == pytest.approx((same.time_s, same.time_s))
    assert other.time_s == pytest.approx(same.time_s)
    assert other.high_s == pytest.approx(same.time_s + once_s)
    assert other.low_s == pytest.approx(same.time_s - once_s)


def test_a_run_as_short_as_that_is_refused() -> None:
    both = of_libraries("mpich-5.0.2", "openmpi-5.0.11")
    made = ping_pong(2, 1000)
    made.trace.library = "MPICH Version:      5.0.2"
    short = predict_program(made, Target(Messages(both, "openmpi")), Messages(both, "mpich"))
    assert not short.is_certain
    assert short.doubt_ratio[FIRST_USE_DOUBT] > 3
    assert short.as_json()["time_s"] is None

"""Several traces of one program: the median of their predictions, and all of their intervals."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace
from rich.console import Console

from nhalf.base.errors import InputError
from nhalf.decide.program.alternatives import Alternatives
from nhalf.decide.program.launches import predict_launches
from nhalf.decide.program.predict import LAUNCHES_DOUBT, predict_program
from nhalf.decide.program.target import Target
from nhalf.facts.program.program import Program
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import write
from nhalf.machines.message import Messages
from nhalf.present.program.prediction import prediction_lines, show_predictions
from nhalf.statistics.next_run import next_launch
from tests.nhalf.decide.program.known_programs import machine, message_s, ping_pong
from tests.nhalf.traced_programs import stored
from tests.server import Ended

ON = Target(Messages(machine(3.0)))


def test_one_launch_is_its_own_prediction() -> None:
    made = ping_pong(5, 1000, computing_s=0.01)
    alone, found = (
        predict_program(made, ON, Messages(machine())),
        predict_launches([made], ON, Messages(machine())),
    )
    assert found == alone
    assert any("launch-to-launch" in line for line in prediction_lines(found))


def test_launches_that_differ_widen_the_interval() -> None:
    launches = [ping_pong(5, 1000, computing_s=seconds) for seconds in (0.02, 0.01, 0.05)]
    found = predict_launches(launches, ON, Messages(machine()))
    assert found.launches == 3
    assert found.time_s == pytest.approx(10 * (0.02 + message_s(1000, 3.0)))
    each_s = [10 * (seconds + message_s(1000, 3.0)) for seconds in (0.02, 0.01, 0.05)]
    assert (found.low_s, found.high_s) == pytest.approx(next_launch(each_s))
    assert found.doubt_ratio[LAUNCHES_DOUBT] == pytest.approx(found.high_s / found.time_s)
    assert found.measured_s == pytest.approx(launches[0].elapsed_s)
    assert sum(found.time_share.values()) == pytest.approx(1)
    assert list(found.time_share) == list(
        predict_program(launches[0], ON, Messages(machine())).time_share
    )
    lines = prediction_lines(found)
    assert "median of 3 launches" in lines[0]
    assert not any("launch-to-launch" in line for line in lines)


def test_ends_more_than_a_factor_of_100_apart_are_not_told() -> None:
    found = predict_launches([ping_pong(5, 1000, 0.02)], ON, Messages(machine()))
    wide = dataclasses.replace(found, low_s=found.time_s / 12, high_s=found.time_s * 12)
    first, *_ = prediction_lines(wide)
    assert "no prediction; traced" in first
    console = Console(width=200, record=True, file=io.StringIO())
    show_predictions(console, Alternatives([found, wide]))
    certain, unknown = console.export_text().splitlines()[2:4]
    assert " to " in certain
    assert unknown.split()[1:5] == ["–", "unknown", "–", "–"]


def test_another_program_is_no_launch() -> None:
    one, other = ping_pong(5, 1000), ping_pong(5, 1000)
    is_send = pl.col("call") == "MPI_Send"
    polled = other.calls.with_columns(
        call=pl.when(is_send).then("call").otherwise(pl.lit("MPI_Test"))
    )
    assert predict_launches([one, with_calls(other, polled)], ON, Messages(machine())).launches == 2
    for changed in (
        other.calls.with_columns(pl.col("call").str.replace("MPI_Send", "MPI_Ssend")),
        other.calls.with_columns(rank=9),
    ):
        with pytest.raises(InputError, match="traces of one program"):
            predict_launches([one, with_calls(other, changed)], ON, Messages(machine()))


def with_calls(made: Program, calls: pl.DataFrame) -> Program:
    return Program(made.path, made.trace, calls, made.bins, made.timeline, made.communicators)


def of_libraries(*names: str) -> Machine:
    curves = [replace(curve, mpi=name) for name in names for curve in machine().models]
    return replace(machine(), models=tuple(curves))


def test_the_library_of_the_trace_is_taken(tmp_path: Path, call: Callable[..., Ended]) -> None:
    made = ping_pong(5, 1000)
    made.trace.library = "MPICH Version:      5.0.2\nMPICH CC: gcc"
    folder = stored(made, tmp_path / "trace")
    here = tmp_path / "here.toml"
    write(of_libraries("mpich-5.0.2", "openmpi-5.0.11"), here)
    words = ("predict", folder, folder, "--machine", here, "--mpi", "openmpi")
    assert "of 2 launches" in call(*words, "--traced-on", here).out
    write(of_libraries("intel-2021.19.0", "openmpi-5.0.11"), here)
    refused = call(*words, "--traced-on", here)
    assert refused.code == 2
    assert "--traced-on MACHINE:LIBRARY" in refused.err


def test_patterns_are_one_at_a_time(call: Callable[..., Ended]) -> None:
    refused = call("predict", "bcast", "barrier", "--machine", "sp2-mpl")
    assert (refused.code, "one word too many" in refused.err) == (2, True)

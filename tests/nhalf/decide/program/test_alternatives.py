"""Libraries, placements and machines of one program in one table, by time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from nhalf.base.errors import FailedError, InputError, Interrupted
from nhalf.decide.program.alternatives import (
    Alternative,
    Alternatives,
    RefusedAlternative,
    predict_alternatives,
)
from nhalf.decide.program.predict import ProgramPrediction, predict_program
from nhalf.decide.program.target import Target
from nhalf.facts.program.program import Program
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import write
from nhalf.machines.message import Messages
from tests.nhalf.decide.program.known_programs import (
    RATE_BPS,
    T0_S,
    curve,
    machine,
    message_s,
    ping_pong,
)
from tests.nhalf.traced_programs import stored
from tests.server import Ended

Call = Callable[..., Ended]


def of_two_libraries(name: str) -> Machine:
    """One library as the known machine, the other with three times the start-up time."""
    curves = tuple(
        msgspec.structs.replace(curve(T0_S * slower * apart, placement), mpi=library)
        for library, slower in (("mpich-5.0.2", 1.0), ("openmpi-5.0.11", 3.0))
        for placement, apart in (("cores", 1.0), ("other-node", 10.0))
    )
    return msgspec.structs.replace(machine(), name=name, models=curves)


def predicted(time_s: float, low_s: float, high_s: float) -> ProgramPrediction:
    usual = predict_program(ping_pong(1, 0), Target(Messages(machine())), Messages(machine()))
    return replace(usual, time_s=time_s, low_s=low_s, high_s=high_s)


def untold(made: Program) -> Program:
    """The same, of a library that is not known: what another one does once is left out."""
    made.trace.library = ""
    return made


def test_libraries_placements_and_machines_are_sorted_by_time(tmp_path: Path, call: Call) -> None:
    run = stored(untold(ping_pong(5, 1000, 0.01)), tmp_path / "run")
    write(of_two_libraries("both"), tmp_path / "both.toml")
    models = (msgspec.structs.replace(machine(2.0).models[0], mpi="intel-2021.19"),)
    one = msgspec.structs.replace(machine(2.0), name="one", models=models)
    write(one, tmp_path / "one.toml")
    machines = f"{tmp_path / 'both.toml'},{tmp_path / 'one.toml'}"
    words = ("predict", run, "--machine", machines, "--mpi", "mpich,openmpi", "--placement")
    told = call(*words, "2x1,1x2", "--json")
    said = json.loads(told.out)
    rows = [(row["machine"], row["mpi"], row["placement"]) for row in said["programs"]]
    assert rows == [
        ("both", "mpich-5.0.2", "1x2"),
        ("both", "openmpi-5.0.11", "1x2"),
        ("both", "mpich-5.0.2", "2x1"),
        ("both", "openmpi-5.0.11", "2x1"),
    ]
    apart_s = 30 * T0_S + 1000 / RATE_BPS
    assert said["programs"][3]["time_s"] == pytest.approx(10 * (0.01 + apart_s))
    over = (0.01 + apart_s) / (0.01 + message_s(1000))
    assert said["programs"][3]["over_fastest"] == pytest.approx(over)
    assert said["programs"][0]["as_fast"] is True
    assert said["programs"][3]["as_fast"] is False
    refused = [(row["mpi"], row["placement"]) for row in said["refused"]]
    assert refused == [("mpich", "2x1"), ("mpich", "1x2"), ("openmpi", "2x1"), ("openmpi", "1x2")]
    assert all("mpich" in row["reason"] or "openmpi" in row["reason"] for row in said["refused"])


def test_all_libraries_of_each_machine(tmp_path: Path, call: Call) -> None:
    run = stored(untold(ping_pong(5, 1000, 0.01)), tmp_path / "run")
    write(of_two_libraries("both"), tmp_path / "both.toml")
    write(msgspec.structs.replace(machine(2.0), name="one"), tmp_path / "one.toml")
    machines = f"{tmp_path / 'both.toml'},{tmp_path / 'one.toml'},nowhere"
    told = call("predict", run, "--machine", machines, "--mpi", "all")
    assert told.code == 0
    lines = [" ".join(line.split()) for line in told.out.splitlines()]
    rows = [line.split()[:2] for line in lines[2:6]]
    assert rows == [
        ["both", "mpich-5.0.2"],
        ["one", "a"],
        ["both", "openmpi-5.0.11"],
        ["nowhere", "–"],
    ]
    assert " refused " in lines[5]
    assert any(line.startswith("nowhere: ") for line in lines)


def test_one_reason_for_all_is_an_error_and_several_are_a_table(tmp_path: Path, call: Call) -> None:
    run = stored(ping_pong(1, 1000), tmp_path / "run")
    write(machine(), tmp_path / "here.toml")
    here = ("predict", run, "--machine", tmp_path / "here.toml", "--placement")
    call(*here, "1x2,2x1", "--mpi", "nobody").is_error(2, "nobody")
    told = call(*here, "1x1,near")
    assert told.code == 1
    assert "room for 1 of 2 ranks" in told.out
    assert "none of 2 can be predicted" in told.err


def test_what_cannot_be_told_apart_is_as_fast() -> None:
    first, near, far = predicted(1.0, 0.9, 1.1), predicted(1.2, 1.1, 1.3), predicted(1.4, 1.2, 1.6)
    found = Alternatives([first, near, far])
    assert [found.is_as_fast(each) for each in found.predictions] == [True, True, False]
    wide = predicted(1.0, 0.01, 100.0)
    assert found.is_as_fast(wide) is None
    assert Alternatives([wide]).fastest is None
    assert Alternatives().fastest is None


def test_without_a_headline_a_prediction_is_last() -> None:
    by_machine = {
        "wide": predicted(0.1, 0.001, 10.0),
        "slow": predicted(2.0, 2.0, 2.0),
        "fast": predicted(1.0, 1.0, 1.0),
    }

    def predict(alternative: Alternative) -> ProgramPrediction:
        if alternative.machine == "absent":
            raise InputError("no such machine")
        return by_machine[alternative.machine]

    found = predict_alternatives(map(Alternative, ("wide", "absent", "slow", "fast")), predict)
    assert [prediction.time_s for prediction in found.predictions] == [1.0, 2.0, 0.1]
    assert [refused.alternative.machine for refused in found.refused] == ["absent"]


def test_an_interrupt_is_no_refusal() -> None:
    def predict(_: Alternative) -> ProgramPrediction:
        raise Interrupted("interrupted")

    with pytest.raises(Interrupted):
        predict_alternatives([Alternative("a")], predict)


def test_nothing_predicted_fails() -> None:
    refused = [RefusedAlternative(Alternative(name), InputError(name)) for name in ("a", "b")]
    assert Alternatives(refused=refused).common_error is None
    with pytest.raises(FailedError, match="none of 2"):
        Alternatives(refused=refused).check()
    same = [RefusedAlternative(Alternative(name), InputError("same")) for name in ("a", "b")]
    assert str(Alternatives(refused=same).common_error) == "same"

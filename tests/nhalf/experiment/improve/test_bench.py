"""Launches that are compared with the plain one."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, InputError
from nhalf.experiment.improve.bench import ProgramBench, SameOutput
from nhalf.experiment.improve.change import PLAIN, Candidate, LaunchChange, Setting
from nhalf.experiment.turns import LaunchFailed
from nhalf.measure.launches.timed import printed_time
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.launch_settings import parse_launch
from tests.nhalf.experiment.improve.listed_tuner import ListedTuner, library
from tests.patience import patience_s

WRONG = (Candidate("wrong", "", "", LaunchChange({"RESULT": "2"})),)
BROKEN = (Candidate("broken", "", "", LaunchChange({"RESULT": None})),)
TEXT = 'test "$RESULT" || exit 3; echo result $RESULT $SPEED'


def bench(folder: Path, how: str, text: str = TEXT) -> ProgramBench:
    launch = parse_launch(["sh", "-c", text], {"PATH": "/usr/bin:/bin", "RESULT": "1"})
    return ProgramBench(launch, SameOutput(how), folder)


def problem_of(launches: ProgramBench, setting: Setting) -> str:
    """Why a launch has no time, '' if it has one."""
    try:
        assert launches(setting, patience_s(10)) > 0
    except LaunchFailed as error:
        return str(error)
    return ""


def test_results_that_differ_are_refused_if_somebody_asks(tmp_path: Path) -> None:
    for number, (how, problem) in enumerate(
        {"": "", "exact": "its output differs", "cmp": "its output differs (exit code 1"}.items()
    ):
        launches = bench(tmp_path / str(number), how)
        assert not problem_of(launches, PLAIN)
        assert not problem_of(launches, PLAIN)
        assert problem_of(launches, WRONG).startswith(problem)
        assert bool(problem_of(launches, WRONG)) == bool(how)
        assert problem_of(launches, BROKEN) == "exit code 3"
        assert [path.name for path in launches.folder.iterdir()] == ["1"]


def test_the_time_that_a_program_prints_counts(tmp_path: Path) -> None:
    launches = bench(tmp_path / "1", "", "test $RESULT = 1 && echo took 7.5 s")
    launches.printed_time = printed_time("took ([0-9.]+)")
    assert launches(PLAIN, patience_s(10)) == 7.5
    silent = bench(tmp_path / "2", "", 'test "$RESULT" = 2 || echo took 7.5 s')
    silent.printed_time = launches.printed_time
    assert not problem_of(silent, PLAIN)
    assert problem_of(silent, WRONG).startswith("no number in the output matches")
    never = bench(tmp_path / "3", "")
    never.printed_time = launches.printed_time
    with pytest.raises(FailedError, match="no number in the output matches"):
        never(PLAIN, patience_s(10))


def test_each_launch_of_a_trial_has_its_own_noise(tmp_path: Path) -> None:
    trial = tmp_path / "nhalf"
    trial.write_text('#!/bin/sh\necho \'{"schema":"try/1","virtual_s":\'$4"}"\n')
    trial.chmod(0o755)
    words = [str(trial), "try", "--seed", "9", "--noise", "5%", "--", "./p"]
    launches = ProgramBench(parse_launch(words, {}), SameOutput(""), tmp_path / "1")
    assert [launches(PLAIN, patience_s(10)) for _ in range(3)] == [1.0, 2.0, 3.0]


def test_a_program_whose_output_differs_by_itself_is_an_error(tmp_path: Path) -> None:
    launches = bench(tmp_path / "1", "exact", "echo $$")
    launches(PLAIN, patience_s(10))
    with pytest.raises(InputError, match="two launches of the plain program differ"):
        launches(PLAIN, patience_s(10))


@pytest.mark.parametrize("how", ["'", "/nowhere/compare"])
def test_a_comparison_that_cannot_be_made_is_an_error(tmp_path: Path, how: str) -> None:
    with pytest.raises(InputError):
        launches = bench(tmp_path / "1", how)
        launches(PLAIN, patience_s(10))
        launches(WRONG, patience_s(10))


def test_rules_are_in_a_file_while_the_launch_runs(tmp_path: Path) -> None:
    rule = Rule("allreduce", 2, 2, 8, 8, "ring")
    tuner = ListedTuner(library("mpich"))
    ruled = (Candidate("ruled", "", "", LaunchChange(rules=(rule,), tuner=tuner)),)
    launches = bench(tmp_path / "1", "exact", "cat ${RULES-/dev/null} | grep -c ring || true")
    assert not problem_of(launches, PLAIN)
    assert problem_of(launches, ruled) == "its output differs"
    assert [path.name for path in launches.folder.iterdir()] == ["1"]

"""Which form a file has, and what each form cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.experiment.improve.change import LaunchChange
from nhalf.experiment.improve.forms import form_for, forms
from tests.nhalf.experiment.improve.forms.winners import SMALL, ruled, variables, winner

MODULES = ("lmod", "tcl")


@pytest.mark.parametrize(
    ("file", "form"),
    [
        *(("x.sh", "script"), ("x", "script"), ("x.txt", "script"), ("x.lua", "lmod")),
        *(("x.tcl", "tcl"), ("x.sbatch", "slurm"), ("x.slurm", "slurm"), ("x.rules", "tuning")),
        *(("x.json", "tuning"), ("x.env", "tuning")),
    ],
)
def test_the_ending_chooses_the_form(file: str, form: str) -> None:
    assert form_for(Path(file)) == form


def test_a_form_that_is_asked_for_wins() -> None:
    assert form_for(Path("improved/1.0"), "tcl") == "tcl"
    with pytest.raises(InputError, match=r"is not read as lmod.*"):
        form_for(Path("improved/1.0"), "lmod")
    with pytest.raises(InputError, match="form"):
        form_for(Path("x"), "word")


def test_scripts_hold_everything() -> None:
    for form in ("script", "slurm"):
        assert forms()[form].problem(variables()) == ""
        assert (
            forms()[form].problem(winner("mpiexec ./p", LaunchChange(options=("-bind-to",)))) == ""
        )


@pytest.mark.parametrize("form", MODULES)
@pytest.mark.parametrize(
    ("words", "change", "problem"),
    [
        ("mpiexec ./p", LaunchChange({"A": "1"}), ""),
        ("mpiexec ./p", LaunchChange({}, ("bind-to",), ("-bind-to", "core")), "options"),
        ("mpiexec -genv A 1 ./p", LaunchChange({"A": None}), "options"),
        ("env A=1 mpiexec ./p", LaunchChange({"A": None}), "options"),
        ("mpiexec ./p", LaunchChange({"LD_PRELOAD": "/x.so"}), "LD_PRELOAD for every program"),
        ("mpiexec ./p", LaunchChange(launcher=("/x/mpiexec",)), ""),
        ("mpiexec ./p", LaunchChange(launcher=("/x/mpirun",)), "which launcher"),
        ("/y/mpiexec ./p", LaunchChange(launcher=("/x/mpiexec",)), "which launcher"),
    ],
)
def test_modules_hold_variables(form: str, words: str, change: LaunchChange, problem: str) -> None:
    answer = forms()[form].problem(winner(words, change))
    assert problem in answer
    assert bool(answer) == bool(problem)


def test_tuning_files_hold_rules_alone() -> None:
    tuning = forms()["tuning"]
    assert "cannot hold 'it'" in tuning.problem(variables())
    assert "cannot hold 'more'" in tuning.problem(
        ruled(SMALL, changes={"more": LaunchChange({"A": "1"})})
    )

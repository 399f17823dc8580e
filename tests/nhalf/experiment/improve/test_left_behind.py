"""The files that a search leaves, by form and by what was proven."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.experiment.improve.change import Candidate, LaunchChange
from nhalf.experiment.improve.left_behind import LeftBehind, leave
from nhalf.experiment.improve.situation import Situation
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.launch_settings import parse_launch
from tests.nhalf.experiment.improve.forms.winners import LARGE, SMALL
from tests.nhalf.experiment.improve.listed_tuner import ListedTuner, library

MPICH = library("mpich")
SHOWN = 'echo "$RULES" "$ADDED"; cat "$RULES"'


def candidates(*changes: LaunchChange) -> list[Candidate]:
    return [Candidate(f"change {n}", "text", "undo", change) for n, change in enumerate(changes)]


def ruled(*rules: Rule) -> LaunchChange:
    return LaunchChange(rules=rules, tuner=ListedTuner(MPICH))


def left(out: Path | None, *changes: LaunchChange, form: str = "") -> LeftBehind:
    launch = parse_launch(["sh", "-c", SHOWN], {"PATH": "/usr/bin:/bin"})
    return leave(out, form, Situation(launch, MPICH), candidates(*changes), ["faster"])


def shown_by(words: list[str], **environment: str) -> list[str]:
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["better.sh", "better.sbatch", "better.lua", "better.tcl"])
def test_rules_are_in_a_file_beside_it(name: str, tmp_path: Path) -> None:
    done = left(tmp_path / name, ruled(SMALL), ruled(LARGE), LaunchChange({"ADDED": "1"}))
    rules = tmp_path / "better-listed.rules"
    assert (done.file, done.tuning_file, done.note) == (tmp_path / name, rules, "")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / name, rules])
    assert ListedTuner(MPICH).read(rules) == [SMALL, LARGE]
    assert str(rules) in (tmp_path / name).read_text()
    if done.form in ("script", "slurm"):
        shown = shown_by([str(done.file)], PATH="/usr/bin:/bin")
        assert shown == [f"{rules} 1", *rules.read_text().splitlines()]


def test_a_tuning_file_is_all_that_is_left_of_rules(tmp_path: Path) -> None:
    file = tmp_path / "better.rules"
    done = left(file, ruled(SMALL))
    assert (done.file, done.form, done.tuning_file) == (file, "tuning", file)
    assert done.winner.variable_lines == [f"export RULES={file}"]
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text().endswith("# faster\n")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("x.rules", LaunchChange({"ADDED": "1"})),
        ("x.lua", LaunchChange({"LD_PRELOAD": "/nowhere.so"})),
    ],
)
def test_what_a_form_cannot_hold_becomes_a_script(
    name: str, change: LaunchChange, tmp_path: Path
) -> None:
    launch = parse_launch(["mpiexec", "true"], {}, "hydra")
    done = leave(tmp_path / name, "", Situation(launch, None), candidates(change), [])
    assert (done.form, done.file) == ("script", tmp_path / f"{name}.sh")
    assert done.note.startswith(f"{tmp_path / name} became {name}.sh, a script: ")
    assert list(tmp_path.iterdir()) == [tmp_path / f"{name}.sh"]


def test_without_a_name_only_the_file_of_rules_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert left(None, LaunchChange({"ADDED": "1"})).tuning_file is None
    assert list(tmp_path.iterdir()) == []
    for name in ("improved-listed.rules", "improved-2-listed.rules"):
        done = left(None, ruled(SMALL))
        assert (done.file, done.form, done.tuning_file) == (None, "", Path(name))
        assert done.winner.variable_lines == [f"export RULES={tmp_path / name}"]


def test_variables_that_need_no_file_leave_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ListedTuner, "activate", lambda self, path: {"RULES": path.read_text()})
    done = left(tmp_path / "better.sh", ruled(SMALL))
    assert done.tuning_file is None
    assert list(tmp_path.iterdir()) == [tmp_path / "better.sh"]


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.sh")
    with pytest.raises(MissingError, match="no regular file"):
        left(tmp_path / "pipe.sh", LaunchChange({"ADDED": "1"}))

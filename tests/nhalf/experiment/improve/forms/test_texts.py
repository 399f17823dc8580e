"""What each form's file does, read by what it is for: a shell, Tcl, Lua, modules, tuners."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.experiment.improve.change import LaunchChange
from nhalf.experiment.improve.forms import Winner, forms
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.launch_settings import parse_launch
from nhalf.mpi.vendors import vendors
from tests.nhalf.experiment.improve.forms.winners import (
    LARGE,
    SMALL,
    STRANGE,
    ruled,
    variables,
    winner,
)
from tests.nhalf.experiment.improve.listed_tuner import NOWHERE, ListedTuner, library

SHOWN = ("ADDED", "GONE", "EMPTY", "KEPT", "LD_LIBRARY_PATH")
AFTER = {"ADDED": STRANGE, "EMPTY": "", "KEPT": "1", "LD_LIBRARY_PATH": "/a:/b:/elsewhere"}
"""The variables of a shell in which there was another path before."""
BEFORE = {"GONE": "x", "PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "/elsewhere"}
LMOD = Path("/usr/share/lmod/lmod/init/bash")
MODULECMD = Path("/usr/lib/x86_64-linux-gnu/modulecmd.tcl")
IN_TCL = """
proc setenv {name value} {puts [list setenv $name $value]}
proc unsetenv {name} {puts [list unsetenv $name]}
proc prepend-path {name value} {puts [list prepend $name $value]}
proc module-whatis {text} {}
source [lindex $argv 0]
"""
IN_LUA = """
function setenv(name, value) print("setenv", name, value) end
function unsetenv(name) print("unsetenv", name) end
function prepend_path(name, value) print("prepend", name, value) end
function whatis(text) end
dofile(arg[1])
"""
LUAS = ("lua5.4", "lua5.3", "lua", "luajit", "texlua")


def written(form: str, won: Winner, folder: Path) -> Path:
    file = folder / {"lmod": "mod.lua", "tcl": "mod"}.get(form, f"file.{form}")
    file.write_text(forms()[form].text(won))
    return file


def printed(words: Sequence[str], environment: dict[str, str] = BEFORE) -> str:
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize(("form", "shell"), [("script", "sh"), ("slurm", "bash")])
def test_scripts_start_what_was_proven(form: str, shell: str, tmp_path: Path) -> None:
    words = ["sh", "-c", 'echo "$RESULT" "$ADDED" "$GONE" "$@"', "sh", "it's"]
    plain = parse_launch(words, {"GONE": "x", "RESULT": "1", "SETTING": "on"})
    change = LaunchChange({"GONE": None, "RESULT": "$(2)", "ADDED": STRANGE})
    won = replace(variables(), plain=plain, improved=change.applied(plain), settings=("SETTING",))
    file = written(form, won, tmp_path)
    assert "\nexport SETTING=on\n" in file.read_text()
    assert "# twice as fast or [more] {sic} \\\n" in file.read_text()
    assert printed([shell, str(file), "more"]) == f"$(2) {STRANGE}  it's more\n"


def test_a_job_has_the_nodes_and_ranks_of_the_trace() -> None:
    slurm = forms()["slurm"]
    lines = slurm.text(variables()).splitlines()
    assert lines[:4] == [
        *("#!/bin/bash", "#SBATCH --job-name=program", "#SBATCH --nodes=2", "#SBATCH --ntasks=8"),
    ]
    unknown = replace(variables(), ranks=0, hosts=0, in_batch={"KEPT": "2", "PMI": "1"})
    text = slurm.text(unknown)
    assert "--nodes" not in text
    assert "--ntasks" not in text
    assert "export PMI=1\n" in text
    assert "KEPT=2" not in text
    trial = parse_launch(["nhalf", "try", "--ranks", "8", "--", "./program"], {})
    text = slurm.text(replace(variables(), plain=trial, improved=trial))
    assert "--ntasks=1\n" in text


def test_tcl_does_what_the_module_says(tmp_path: Path) -> None:
    file = written("tcl", variables(), tmp_path)
    assert file.read_text().startswith("#%Module")
    reader = tmp_path / "reader.tcl"
    reader.write_text(IN_TCL)
    if shutil.which("tclsh") is None:
        pytest.skip("no Tcl here: apt-get install tcl")
    lines = printed(["tclsh", str(reader), str(file)]).splitlines()
    assert [line.split()[:2] for line in lines] == [
        *(["unsetenv", "GONE"], ["setenv", "ADDED"], ["setenv", "EMPTY"], ["setenv", "KEPT"]),
        ["prepend", "LD_LIBRARY_PATH"],
    ]
    assert lines[2] == "setenv EMPTY {}"
    assert lines[4] == "prepend LD_LIBRARY_PATH /a:/b"


def test_lua_does_what_the_module_says(tmp_path: Path) -> None:
    file = written("lmod", variables(), tmp_path)
    lua = next(filter(None, map(shutil.which, LUAS)), None)
    if lua is None:
        pytest.skip("no Lua here: apt-get install lua5.4")
    reader = tmp_path / "reader.lua"
    reader.write_text(IN_LUA)
    assert printed([lua, str(reader), str(file)]).splitlines() == [
        *("unsetenv\tGONE", f"setenv\tADDED\t{STRANGE}", "setenv\tEMPTY\t", "setenv\tKEPT\t1"),
        "prepend\tLD_LIBRARY_PATH\t/a:/b",
    ]


def test_a_module_in_lua_is_written_as_lua_reads_it() -> None:
    lines = forms()["lmod"].text(variables()).splitlines()
    assert lines[0] == "-- twice as fast or [more] {sic} \\"
    assert lines[2] == 'whatis("twice as fast or [more] {sic} \\\\")'
    assert lines[4:] == [
        """setenv("ADDED", "a 'b' \\"c\\" $HOME `id` [exit 3] {d} \\\\ ; # % *")""",
        *('setenv("EMPTY", "")', 'setenv("KEPT", "1")'),
        'prepend_path("LD_LIBRARY_PATH", "/a:/b")',
    ]


def test_another_library_is_found_first() -> None:
    change = LaunchChange({"LD_LIBRARY_PATH": "/x/lib"}, launcher=("/x/bin/mpiexec",))
    text = forms()["lmod"].text(winner("mpiexec ./p", change))
    assert 'prepend_path("PATH", "/x/bin")\nprepend_path("LD_LIBRARY_PATH", "/x/lib")' in text


def loaded(setup: str, load: str) -> dict[str, str]:
    """The variables of a shell after a module was loaded."""
    show = "; ".join(f'[ -z "${{{name}+x}}" ] || printf "%s\\0%s\\0" {name} "${name}"'
                     for name in SHOWN)  # fmt: skip
    text = printed(["bash", "-c", f"{setup}; {load}; {show}; true"])
    words = text.split("\0")
    return dict(zip(words[::2], words[1::2], strict=False))


@pytest.mark.full
@pytest.mark.skipif(not LMOD.exists(), reason="no Lmod here: apt-get install lmod")
@pytest.mark.parametrize("form", ["lmod", "tcl"])
def test_lmod_loads_it(form: str, tmp_path: Path) -> None:
    written(form, variables(), tmp_path)
    environment = loaded(f". {LMOD}; module use {tmp_path}", "module load mod")
    # Lmod has no variable that is empty.
    assert {"EMPTY": "", **environment} == AFTER


@pytest.mark.full
@pytest.mark.skipif(
    not MODULECMD.exists(), reason="no modules here: apt-get install environment-modules"
)
def test_environment_modules_load_it(tmp_path: Path) -> None:
    file = written("tcl", variables(), tmp_path)
    assert loaded(":", f'eval "$(tclsh {MODULECMD} bash load {file})"') == AFTER


def test_tuning_files_have_all_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tuning = forms()["tuning"]
    file = written("tuning", ruled(SMALL, LARGE), tmp_path)
    assert ListedTuner(library("mpich")).read(file) == [SMALL, LARGE]
    assert file.read_text().endswith("# to undo: nothing \\\n")
    monkeypatch.setattr(
        type(vendors()["mpich"]), "tuner", lambda self, library, form: ListedTuner(library, form)
    )
    everywhere = Rule("allreduce", 0, math.inf, 0, math.inf, NOWHERE)
    assert tuning.problem(ruled(everywhere)) == ""
    assert f" {NOWHERE}\n" in tuning.text(ruled(everywhere))
    narrow = replace(everywhere, to_bytes=8)
    assert "no file of the library" in tuning.problem(ruled(narrow))


def test_json_has_no_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ListedTuner, "text", lambda self, rules: json.dumps({"rules": 1}) + "\n")
    assert json.loads(forms()["tuning"].text(ruled(SMALL))) == {"rules": 1}

"""What a library says of itself, by the name that people use."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.mpi import identify as module
from nhalf.mpi.identify import TITLE_MAX, LibraryIdentity, identify, library_title, parse_version

Script = Callable[[Path, str], Path]

HYDRA = "HYDRA build details:\n    Version:        4.0.2\n    Release Date:  Thu Apr 7\n"
INTEL = "Intel(R) MPI Library for Linux* OS, Version 2021.19.0 Build 20260626 (id: b44796a)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "mpiexec (Open MPI) 5.0.11\n\nReport bugs",
            LibraryIdentity("openmpi", "5.0.11", "openmpi"),
        ),
        ("mpirun (Open MPI) 4.1.4", LibraryIdentity("openmpi", "4.1.4", "openmpi")),
        ("mpiexec.openmpi (OpenRTE) 4.1.4", LibraryIdentity("openmpi", "4.1.4", "openmpi")),
        ("mpirun (Open MPI) v5.1.0a1.", LibraryIdentity("openmpi", "5.1.0a1", "openmpi")),
        (HYDRA, LibraryIdentity("mpich", "4.0.2", "hydra")),
        (INTEL, LibraryIdentity("intel", "2021.19.0", "hydra")),
        (f"module loaded\n*** welcome ***\n{HYDRA}bye", LibraryIdentity("mpich", "4.0.2", "hydra")),
    ],
)
def test_known_answers(text: str, expected: LibraryIdentity) -> None:
    assert parse_version(text) == expected


@pytest.mark.parametrize("text", ["", "\n \n", "mpiexec 0.84 of OSC", "Version: 1.2", "(Open MPI)"])
def test_other_answers_are_reasons(text: str) -> None:
    identity = parse_version(text)
    assert (identity.vendor, identity.version) == ("unknown", "")
    assert identity.reason


def counted(folder: Path, answer: str, script: Script) -> Path:
    """An mpiexec that notes each of its starts."""
    body = f"echo x >> {folder}/starts\n{answer}"
    return script(folder / "bin" / "mpiexec", body)


def starts(folder: Path) -> int:
    noted = folder / "starts"
    return len(noted.read_text().split()) if noted.exists() else 0


ANSWER = "echo 'mpiexec (Open MPI) 5.0.11'"


def test_asks_once_and_again_when_the_file_changes(empty_machine: Path, script: Script) -> None:
    mpiexec = counted(empty_machine, ANSWER, script)
    for _ in range(3):
        assert identify({mpiexec: {}})[mpiexec].version == "5.0.11"
    assert starts(empty_machine) == 1
    counted(empty_machine, "echo 'mpiexec (Open MPI) 5.0.12'", script)
    os.utime(mpiexec, ns=(1, 1))
    assert identify({mpiexec: {}})[mpiexec].version == "5.0.12"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '{"version": 99}', '{"version": 1, "identities": {"a": 1}}', "\0"],
)
def test_a_damaged_cache_is_an_empty_one(content: str, empty_machine: Path, script: Script) -> None:
    mpiexec = counted(empty_machine, ANSWER, script)
    identify({mpiexec: {}})
    (empty_machine / "cache/nhalf/mpi-identities.json").write_text(content)
    assert identify({mpiexec: {}})[mpiexec].version == "5.0.11"


@pytest.mark.parametrize("entry", [{}, {"vendor": 3, "version": 4}, {"foreign": "x"}])
def test_a_foreign_entry_is_asked_again(
    entry: dict[str, object], empty_machine: Path, script: Script
) -> None:
    mpiexec = counted(empty_machine, ANSWER, script)
    identify({mpiexec: {}})
    file = empty_machine / "cache/nhalf/mpi-identities.json"
    content = json.loads(file.read_text())
    content["identities"] = dict.fromkeys(content["identities"], entry)
    file.write_text(json.dumps(content))
    assert identify({mpiexec: {}})[mpiexec].version == "5.0.11"
    assert starts(empty_machine) == 2


def test_a_cache_that_cannot_be_written_is_no_error(empty_machine: Path, script: Script) -> None:
    (empty_machine / "cache").write_text("a file, not a folder")
    mpiexec = counted(empty_machine, ANSWER, script)
    assert identify({mpiexec: {}})[mpiexec].version == "5.0.11"


def test_failures_are_remembered_for_a_while_only(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpiexec = counted(empty_machine, "echo broken >&2; exit 3", script)
    for _ in range(2):
        assert "exit code 3: broken" in identify({mpiexec: {}})[mpiexec].reason
    assert starts(empty_machine) == 1
    identify({mpiexec: {}}, ask_failed_again=True)
    assert starts(empty_machine) == 2
    monkeypatch.setattr(module, "FAILURE_KEPT_S", 0.0)
    identify({mpiexec: {}})
    assert starts(empty_machine) == 3


def test_many_that_hang_are_asked_at_the_same_time(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each waits for the others to have started: asked one after the other, all would hang.
    body = f"touch {empty_machine}/begun.$$\nuntil [ $(ls {empty_machine}/begun.* | wc -l) = 4 ]\n"
    body += f"do /bin/sleep 0.02; done\n{ANSWER}"
    folders = [empty_machine / str(number) for number in range(4)]
    paths = [script(one / "mpiexec", f"PATH=/usr/bin:/bin\n{body}") for one in folders]
    found = identify({path: {} for path in paths})
    assert [found[path].version for path in paths] == ["5.0.11"] * 4


def test_nothing_to_ask(empty_machine: Path) -> None:
    assert identify({}) == {}
    assert not (empty_machine / "cache").exists()


DEBIAN = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022"
CRAY = "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (DEBIAN, "Open MPI 4.1.4"),
        ("Open MPI v5.0.7rc2, package: Open MPI me@here Distribution", "Open MPI 5.0.7rc2"),
        ("MPICH Version:      5.0.2 MPICH Release date: Mon Nov", "MPICH 5.0.2"),
        ("Intel(R) MPI Library 2021.19 for Linux* OS", "Intel MPI 2021.19"),
        (CRAY, "Cray MPICH 8.1.25.17"),
        ("MVAPICH Version:      4.0", "MVAPICH 4.0"),
        ("ParaStation MPI 5.11.0-1", "ParaStation MPI 5.11.0"),
        ("Open MPI", "Open MPI"),
        ("House MPI 1.2, built here", "House MPI 1.2"),
        ("mpich-5.0.2", "MPICH 5.0.2"),
        ("x" * 300, "x" * (TITLE_MAX - 1) + "…"),
        ("", ""),
    ],
)
def test_a_version_text_is_a_name_and_a_number(text: str, title: str) -> None:
    assert library_title(text) == title

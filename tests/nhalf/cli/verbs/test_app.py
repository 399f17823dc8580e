"""`nhalf app` as a user calls it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import FailedError
from nhalf.cli.verbs.app import check_verified
from nhalf.mpi.discover import libraries, newest
from tests.nhalf.mpi.hasty import hasty
from tests.probes import is_built
from tests.server import Ended

needs_program = pytest.mark.skipif(not is_built("npb-openmp"), reason="npb-openmp is not built")
STANDARD = [library for library in newest(libraries()) if library.abi and library.compiler]
WHOLE = ("--json", "--report")
QUICK = ("--class", "S", "--program", "openmp", "--launches", "1")


def test_applications_are_listed(call: Callable[..., Ended]) -> None:
    done = call("app", "--list", "--json")
    assert done.code == 0, done.err
    assert [one["name"] for one in json.loads(done.out)["applications"]] == ["npb", "sdes"]


@needs_program
def test_a_kernel_runs_and_is_kept_as_any_run(call: Callable[..., Ended], tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = call("app", "npb", "--kernel", "ep", *QUICK, "--threads", "2", "--out", out, *WHOLE)
    assert done.code == 0, done.err
    assert "Applications: time in communication" in (out / "report.html").read_text()
    assert json.loads(done.out)["traffic"] == []
    (row,) = json.loads(done.out)["rows"]
    assert (row["kernel"], row["class"], row["program"]) == ("ep", "S", "openmp")
    assert (row["ranks"], row["threads"], row["verified"]) == (1, 2, True)
    assert row["time_s"] > 0
    assert row["mops"] > 0
    rows = call("show", "--sql", "select pattern, axes from points", out, "--json")
    assert "npb-ep" in rows.out
    assert "class=S" in rows.out


@needs_program
def test_sdes_is_an_application(call: Callable[..., Ended], tmp_path: Path) -> None:
    asked = ("--kernel", "cast,for-all", "--class", "64", "--program", "threads", "--ranks", "1,2")
    out = ("--launches", "1", "--out", tmp_path / "run", "--json")
    done = call("app", "sdes", *asked, *out)
    assert done.code == 0, done.err
    rows = json.loads(done.out)["rows"]
    assert {(row["kernel"], row["threads"]) for row in rows} == {
        *(("cast", 1), ("cast", 2), ("for-all", 1), ("for-all", 2)),
    }
    assert {(row["app"], row["class"], row["program"], row["verified"]) for row in rows} == {
        ("sdes", "64", "threads", True)
    }
    assert all(row["speedup"] for row in rows)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--class", "A"), "S-DES has no class A"),
        (("--kernel", "cg"), "unknown kernel 'cg'"),
        (("--program", "java"), "unknown program 'java'"),
        (("--barrier", "tournament"), "no collective operations"),
        (("--machine", "sunfire-link"), "no program for simulated machines"),
    ],
)
def test_what_sdes_does_not_have_is_refused(
    more: tuple[str, str], words: str, call: Callable[..., Ended]
) -> None:
    done = call("app", "sdes", *more)
    assert done.code != 0
    assert words in done.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--program", "openmp"), "only message passing is simulated"),
        (("--barrier", "tournament"), "--barrier is not for simulated machines"),
        (("--computing-factor", "0"), "computing takes 0"),
        (("--machine", "sunfire-lonk"), "sunfire-lonk"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    more: tuple[str, str], words: str, call: Callable[..., Ended]
) -> None:
    done = call("app", "npb", "--machine", "sunfire-link", *more)
    assert done.code == 2
    assert words in done.err


def test_no_application_is_a_clear_error(call: Callable[..., Ended]) -> None:
    assert call("app").code == 2
    done = call("app", "nbp")
    assert done.code == 2
    assert "did you mean npb" in done.err


def test_a_wrong_result_is_an_error_with_both_numbers() -> None:
    row = {"kernel": "cg", "class": "A", "mpi": "", "program": "openmp", "ranks": 1}
    wrong = {**row, "verified": False, "computed": 17.5, "official": 17.130235054029}
    check_verified([{**row, "verified": True}])
    with pytest.raises(FailedError, match=r"computed 17\.5, official 17\.130235054029"):
        check_verified([wrong])


@pytest.mark.slow
@pytest.mark.skipif(not STANDARD, reason="no library of the standard ABI here")
@pytest.mark.skipif(not is_built("npb-mpi-abi"), reason="npb-mpi-abi is not built")
def test_a_wrong_result_is_said_first(
    call: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = STANDARD[0]
    monkeypatch.setenv("LD_PRELOAD", str(hasty(library, tmp_path)))
    monkeypatch.setenv("HASTY_UNDER", "HASTY_BYTES=1")
    monkeypatch.setenv("HASTY_BYTES", "1")
    asked = ("npb", "--kernel", "ep", "--class", "S", "--program", "mpi", "--ranks", "2")
    done = call("app", *asked, "--mpi", library.name, "--launches", "1", "--out", tmp_path / "run")
    assert done.out.startswith("WRONG DATA: MPICH"), done
    assert done.code == 1
    assert "official" in done.err
    shown = call("show", tmp_path / "run")
    assert shown.out.startswith("WRONG DATA: MPICH"), shown
    assert shown.code == 1

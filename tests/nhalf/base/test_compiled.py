"""Programs compiled once are run from the cache only if nobody else could have put them there."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.base.compiled import (
    CompiledProgram,
    compile_ahead,
    compiled,
    is_compiled,
    reporting_compilation,
)
from nhalf.base.errors import MissingError
from tests.conftest import write_script
from tests.shared_place import STRANGER, needs_root


@pytest.fixture
def program(tmp_path: Path, shared_place: Path, monkeypatch: pytest.MonkeyPatch) -> CompiledProgram:
    """One that compiles at once, into a cache that neighbours see."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include/source.cpp").touch()
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_place / "me"))
    body = 'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made >"$2"; shift; done; exit 0'
    compiler = write_script(tmp_path / "compiler", body)
    return CompiledProgram(
        "a program", "name", "programs/one", "source.cpp", [str(compiler)], lambda _: ""
    )


def meeting(program: CompiledProgram, folder: Path, number: int) -> list[CompiledProgram]:
    """Programs whose compilers wait for each other, so that they have to run at once."""
    body = (
        f'touch "{folder}/here-$1"; until [ $(ls {folder} | grep -c here-) = {number} ]; '
        'do sleep 0.01; done; while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made >"$2"; shift; done'
    )
    compiler = str(write_script(folder / "meeting", body))
    return [replace(program, title=str(n), command=[compiler, str(n)]) for n in range(number)]


def test_sources_are_compiled_side_by_side_and_linked(
    program: CompiledProgram, tmp_path: Path
) -> None:
    (tmp_path / "include/second.cpp").touch()
    body = (
        f'echo "$*" >>"{tmp_path}/calls"; case "$*" in *" -c "*) touch "{tmp_path}/here-$$"; '
        f"until [ $(ls {tmp_path} | grep -c here-) = 2 ]; do sleep 0.01; done;; esac; "
        'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made >"$2"; shift; done'
    )
    compiler = str(write_script(tmp_path / "both", body))
    both = replace(program, command=[compiler, "-O3", "-lm"], further={"second.cpp": ["-O1"]})
    assert compiled(both).is_file()
    calls = (tmp_path / "calls").read_text().splitlines()
    units, linked = sorted(calls[:2], key=lambda call: "second.cpp" in call), calls[2]
    assert ["-O1" in unit for unit in units] == [False, True]
    assert "source.o" in linked and "second.o" in linked and " -lm -o " in linked
    assert not is_compiled(replace(both, further={"second.cpp": ["-O2"]}))


def test_one_source_of_several_that_does_not_compile_is_named(
    program: CompiledProgram, tmp_path: Path
) -> None:
    (tmp_path / "include/second.cpp").touch()
    body = 'case "$*" in *" -c "*second.cpp*) echo "second.cpp: error: why" >&2; exit 1;; esac'
    compiler = str(write_script(tmp_path / "failing", body))
    with pytest.raises(MissingError, match=r"second\.cpp: error: why"):
        compiled(replace(program, command=[compiler], further={"second.cpp": []}))


def test_it_is_compiled_once_into_a_private_folder(
    program: CompiledProgram, shared_place: Path
) -> None:
    assert not is_compiled(program)
    path = compiled(program)
    assert is_compiled(program)
    assert path.read_text() == "made\n"
    assert (shared_place / "me").stat().st_mode & 0o777 == 0o700


class TestAhead:
    def test_several_are_compiled_at_once_and_numbered(
        self, program: CompiledProgram, tmp_path: Path
    ) -> None:
        programs = meeting(program, tmp_path, 3)
        reports: list[str] = []
        with reporting_compilation(reports.append):
            compile_ahead([*programs, programs[0]], at_once=3)
            compile_ahead(programs[:0], at_once=3)
        assert sorted(reports)[:3] == [
            "compiled 0 in 0 s",
            "compiled 1 in 0 s",
            "compiled 2 in 0 s",
        ]
        assert sorted(reports)[3:] == [f"compiling {n} ({n + 1} of 3)" for n in range(3)]
        assert all(map(is_compiled, programs))

    def test_one_that_fails_is_reported_once_and_raises_where_it_is_needed(
        self, program: CompiledProgram, tmp_path: Path
    ) -> None:
        calls = tmp_path / "calls"
        body = f"echo x >> {calls}; echo 'a.cpp:1: error: no such type' >&2; exit 1"
        bad = replace(program, title="bad", command=[str(write_script(tmp_path / "bad", body))])
        reports: list[str] = []
        with reporting_compilation(reports.append):
            compile_ahead([bad, program], at_once=2)
        (failure,) = [line for line in reports if line.startswith("bad")]
        assert failure.startswith("bad does not compile: a.cpp:1: error: no such type; the log is")
        assert is_compiled(program)
        with pytest.raises(MissingError, match="bad does not compile"):
            compiled(bad)
        assert calls.read_text().split() == ["x"], "it was not compiled again"
        with pytest.raises(MissingError, match="bad does not compile"):
            compiled(bad)
        assert calls.read_text().split() == ["x", "x"], "the next time it is tried again"

    def test_one_that_does_not_end_is_stopped_and_reported(
        self, program: CompiledProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("nhalf.base.compiled.COMPILE_TIMEOUT_S", 0.2)
        slow = replace(program, command=[str(write_script(tmp_path / "slow", "exec sleep 60"))])
        reports: list[str] = []
        with reporting_compilation(reports.append):
            compile_ahead([slow], at_once=1)
        assert "does not compile: no end within 0.2 s" in reports[1]

    def test_an_interruption_stops_all_compilers(
        self, program: CompiledProgram, tmp_path: Path, request: pytest.FixtureRequest
    ) -> None:
        # Workers of pytest-xdist ignore interruptions.
        usual = signal.signal(signal.SIGINT, signal.default_int_handler)
        request.addfinalizer(lambda: signal.signal(signal.SIGINT, usual))
        started = tmp_path / "started"
        body = f"touch {started}; exec sleep 60"
        slow = replace(program, command=[str(write_script(tmp_path / "slow", body))])

        def interrupt() -> None:
            deadline_s = time.monotonic() + 10
            while not started.exists() and time.monotonic() < deadline_s:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        reports: list[str] = []
        with reporting_compilation(reports.append), pytest.raises(KeyboardInterrupt):
            threading.Thread(target=interrupt).start()
            compile_ahead([replace(slow, title="a"), replace(slow, title="b", parts=["b"])], 2)
        assert not any("does not compile" in line for line in reports)


@needs_root
def test_variables_that_only_running_needs_do_not_compile_it_again(
    program: CompiledProgram,
) -> None:
    program = replace(program, neutral=["OPAL_PREFIX"])
    path = compiled(program)
    assert compiled(replace(program, variables={"OPAL_PREFIX": "/opt"})) == path
    assert compiled(replace(program, variables={"CC": "c"})) != path


@pytest.mark.parametrize("depth", [0, 4])
def test_one_that_a_neighbour_put_there_is_not_run(program: CompiledProgram, depth: int) -> None:
    path = compiled(program)
    path.parents[3].chmod(0o755)
    os.chown((path, *path.parents)[depth], STRANGER, STRANGER)
    for ask in (is_compiled, compiled):
        with pytest.raises(MissingError, match="is not used"):
            ask(program)


def test_one_that_anybody_may_overwrite_is_not_run(program: CompiledProgram) -> None:
    path = compiled(program)
    path.parents[3].chmod(0o755)
    path.chmod(0o777)
    with pytest.raises(MissingError, match="anybody may write to it"):
        compiled(program)

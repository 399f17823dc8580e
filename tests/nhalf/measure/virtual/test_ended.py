"""Programs on the virtual network that are ended from outside: one line, and nothing is left."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, command_of, tried
from tests.patience import patience_s

MARK = "NHALF_TEST_OF_ENDS"
SHARED = "/dev/shm/"
LIMIT_S = 30.0
vendors = pytest.mark.parametrize(
    "vendor",
    [
        "mpich",
        pytest.param("intel", marks=pytest.mark.full),
        pytest.param("openmpi", marks=pytest.mark.full),
    ],
)
Starts = Callable[[str], "Begun"]


class Begun:
    """A program of 3 ranks that goes on without end, once it has begun."""

    def __init__(self, vendor: str, programs: Path) -> None:
        self.mark = f"{MARK}={secrets.token_hex(8)}"
        self.program = built(vendor, "habits", programs)
        variables = dict([self.mark.split("=")])
        self.nhalf = subprocess.Popen(
            command_of("altix-bx2", vendor, 3, self.program, "on"),
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.nhalf.stdout is not None
        assert self.nhalf.stdout.readline() == "begun\n"
        self.segments = [path for rank in self.ranks for path in _segments(rank)]

    @property
    def processes(self) -> dict[int, Path]:
        """The programs of all processes but nhalf itself, by their numbers."""
        programs = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if self.mark.encode() in (folder / "environ").read_bytes():
                    programs[int(folder.name)] = (folder / "exe").readlink()
        programs.pop(self.nhalf.pid, None)
        return programs

    @property
    def ranks(self) -> list[int]:
        return [number for number, path in self.processes.items() if path == self.program]

    @property
    def launcher(self) -> int:
        children = Path(f"/proc/{self.nhalf.pid}/task/{self.nhalf.pid}/children").read_text()
        names = {int(word): self.processes[int(word)].name for word in children.split()}
        return next(number for number, name in names.items() if not name.startswith("python"))

    def end(self) -> tuple[int, str]:
        """The exit code and what was printed but for compiling; nothing is left then."""
        _, printed = self.nhalf.communicate(timeout=patience_s(LIMIT_S))
        deadline_s = time.monotonic() + patience_s(LIMIT_S)
        while self.left and time.monotonic() < deadline_s:
            time.sleep(0.02)
        assert self.left == []
        lines = printed.splitlines(keepends=True)
        return self.nhalf.returncode, "".join(line for line in lines if "compil" not in line)

    @property
    def left(self) -> list[str]:
        """Processes and shared memory."""
        paths = [str(path) for path in self.segments if path.exists()]
        return [*map(str, self.processes.values()), *paths]

    def kill(self) -> None:
        for number in [*self.processes, self.nhalf.pid]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self.nhalf.communicate()


def _segments(rank: int) -> set[Path]:
    lines = Path(f"/proc/{rank}/maps").read_text().splitlines()
    return {Path(line[line.index(SHARED) :]) for line in lines if SHARED in line}


@pytest.fixture
def starts(programs: Path) -> Iterator[Starts]:
    """Starts a vendor's program, which is ended with the test."""
    begun = []

    def start(vendor: str) -> Begun:
        begun.append(Begun(vendor, programs))
        return begun[-1]

    yield start
    for program in begun:
        program.kill()


@vendors
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGKILL, id="SIGKILL"),
        pytest.param(signal.SIGHUP, id="SIGHUP", marks=pytest.mark.full),
    ],
)
def test_nothing_is_left_of_a_program_whose_nhalf_is_ended(
    vendor: str, number: signal.Signals, starts: Starts
) -> None:
    program = starts(vendor)
    assert len(program.ranks) == 3
    assert len(program.segments) >= 3 or vendor != "mpich"
    program.nhalf.send_signal(number)
    code, printed = program.end()
    if number == signal.SIGKILL:
        assert (code, printed) == (-signal.SIGKILL, "")
    else:
        assert (code, printed) == (130, "nhalf: asked to end by SIGHUP\n")


@vendors
def test_a_launcher_that_is_killed_is_named(vendor: str, starts: Starts) -> None:
    program = starts(vendor)
    launcher = program.launcher
    os.kill(launcher, signal.SIGKILL)
    code, printed = program.end()
    assert code == 1
    assert printed == (
        f"nhalf: error: the launcher (process {launcher}) was ended by signal 9 (SIGKILL)\n"
    )


@pytest.mark.full
@vendors
def test_a_reader_that_has_seen_enough_is_no_error(vendor: str, programs: Path) -> None:
    command = command_of("altix-bx2", vendor, 2, built(vendor, "habits", programs), "chatter")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as nhalf:
        assert nhalf.stdout is not None
        assert nhalf.stderr is not None
        assert nhalf.stdout.readline() == b"line 0\n"
        nhalf.stdout.close()
        printed = nhalf.stderr.read().decode()
    assert nhalf.returncode == 0
    assert "nhalf: error" not in printed


@pytest.mark.full
@pytest.mark.parametrize("vendor", ["mpich", "intel"])
def test_a_closed_standard_input_is_an_empty_one(vendor: str, programs: Path) -> None:
    program = built(vendor, "habits", programs)
    command = f"{shlex.join(command_of('altix-bx2', vendor, 2, program))} <&-"
    ended = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, timeout=patience_s(LIMIT_S), check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "vendor",
    [
        "intel",
        pytest.param("mpich", marks=pytest.mark.full),
        pytest.param("openmpi", marks=pytest.mark.full),
    ],
)
def test_an_error_of_the_library_names_its_rank(vendor: str, programs: Path) -> None:
    """Launchers end all ranks then, in any order."""
    outcome = tried("altix-bx2", vendor, 3, built(vendor, "habits", programs), "wrong")
    assert outcome.exit_code == 1
    assert outcome.stderr.splitlines()[-1] == (
        "nhalf: error: the MPI library of rank 1 ended the program, and says why above"
    )
    assert re.search("rank", outcome.stderr.partition("nhalf:")[0])

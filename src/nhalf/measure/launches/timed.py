"""Run a launch once, from start to end: its time, its output and how it ended.

The time is the wall clock's, from the start of the launcher to its end, which is what a user waits
for; of `nhalf try` it is the time on the simulated machine. Whatever happens, no process
and no shared memory of the launch is left.
"""

import math
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import msgspec

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.launch.launch import Launch, Streams, unheard_mark
from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.mpi.launch_words import TRIAL

OUT, ERR = "stdout", "stderr"
ENDED = 128 + signal.SIGTERM
"""The exit code of what was ended from outside."""
TAIL_BYTES = 4096
FREE_BYTES_LEAST = 4096
OBJECT = b'{"schema":'
"""The begin of what `nhalf try --json` prints."""


class _Virtual(msgspec.Struct):
    """What `nhalf try --json` says at the end, as far as it is needed."""

    virtual_s: float


@dataclass(frozen=True)
class TimedLaunch:
    """One launch: seconds, exit code as shells give it, and the folder with its output.

    `stopped` says why it was ended from outside, '' if it ended by itself.
    """

    time_s: float
    exit_code: int
    folder: Path
    stopped: str = ""

    @property
    def stdout(self) -> Path:
        """The file with its standard output."""
        return self.folder / OUT

    @property
    def stderr(self) -> Path:
        """The file with its errors."""
        return self.folder / ERR

    @property
    def problem(self) -> str:
        """Why there is no time that counts, with the last line it wrote; '' if it succeeded."""
        if self.stopped:
            return self.stopped
        if self.exit_code == 0:
            return ""
        line = _last_line(self.stderr) or _last_line(self.stdout)
        return f"exit code {self.exit_code}" + (f": {line}" if line else "")


def run_timed(launch: LaunchCommand, folder: Path, limit_s: float) -> TimedLaunch:
    """Run a launch with its output in a folder, which is made; it is ended after a time.

    Raises InputError if it cannot be started, and MissingError if there is no space for its output.
    """
    folder.mkdir(parents=True)
    with _started(_asking_for_time(launch), folder) as process:
        code = process.wait(limit_s)
        time_s = math.nan if code is None else time.monotonic() - process.began_s
    if shutil.disk_usage(folder).free < FREE_BYTES_LEAST:
        raise MissingError(
            f"no space is left in {folder.parent} for what launches print",
            "free some, or name another folder for temporary files with TMPDIR",
        )
    if code == 0 and launch.family == TRIAL:
        time_s = _virtual_time_s(folder / OUT)
    stopped = f"no end within {limit_s:.3g} s" if code is None else ""
    return TimedLaunch(time_s, process.exit_code if code is not None else ENDED, folder, stopped)


def _started(launch: LaunchCommand, folder: Path) -> Launch:
    """The process of a launch; at the end nothing that it started is left."""
    with (folder / OUT).open("wb") as out, (folder / ERR).open("wb") as err, _stdin() as stdin:
        try:
            return Launch(
                launch.words,
                launch.environment,
                streams=Streams(stdin or subprocess.DEVNULL, out, err),
                mark=unheard_mark(),
            )
        except OSError as error:
            raise InputError(
                f"cannot start {launch.words[0]}: {error.strerror or error}",
                "give the command after --",
            ) from error


@contextmanager
def _stdin() -> Iterator[BinaryIO | None]:
    """The file on standard input from its beginning, for each launch again; None for others."""
    with suppress(OSError, ValueError):
        if stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode):
            with open(f"/proc/self/fd/{sys.stdin.fileno()}", "rb") as file:
                yield file
            return
    yield None


def is_stdin_lost() -> bool:
    """Whether something is on standard input that launches do not get, since it comes once."""
    with suppress(OSError, ValueError):
        mode = os.fstat(sys.stdin.fileno()).st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    return False


def _asking_for_time(launch: LaunchCommand) -> LaunchCommand:
    """The launch; `nhalf try` also prints its time."""
    if launch.family != TRIAL or "--json" in launch.options:
        return launch
    return replace(launch, options=("--json", *launch.options))


def _virtual_time_s(path: Path) -> float:
    """Take the object that `nhalf try` printed last off a file; returns the time in it."""
    content = path.read_bytes()
    begin = max(0, content.rfind(OBJECT))
    try:
        time_s = msgspec.json.decode(content[begin:], type=_Virtual).virtual_s
    except msgspec.MsgspecError as error:
        raise FailedError("nhalf try printed no time", "run it by hand with --json") from error
    path.write_bytes(content[:begin])
    return time_s


def _last_line(path: Path) -> str:
    """The last line with content of a file, cut to what fits on a line."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        text = file.read().decode(errors="replace").replace("\0", "")
        lines = [line.strip() for line in text.splitlines()]
        return next((line[:160] for line in reversed(lines) if line.strip(" -=*")), "")
    return ""


OUTPUT_BYTES_MAX = 1 << 24
"""No more than this of the end of an output is searched."""


@dataclass(frozen=True)
class PrintedTime:
    """A pattern whose first group is the time in seconds."""

    pattern: re.Pattern[str]

    def of(self, launch: TimedLaunch) -> float:
        """The last time that a launch printed, seconds, in standard output before errors.

        Raises FailedError if it printed none.
        """
        for path in (launch.stdout, launch.stderr):
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - OUTPUT_BYTES_MAX))
                text = file.read().decode(errors="replace")
            matches = list(self.pattern.finditer(text))
            with suppress(IndexError, ValueError, TypeError):
                return float(matches[-1][1])
        raise FailedError(
            f"no number in the output matches {self.pattern.pattern!r}",
            "see what the program prints, and name its time by --seconds",
        )


def counted_s(launch: TimedLaunch, printed: PrintedTime | None) -> float:
    """The time of a launch that counts, seconds: the printed one if there is a pattern.

    Raises FailedError if it printed none.
    """
    return launch.time_s if printed is None else printed.of(launch)


def printed_time(text: str) -> PrintedTime | None:
    """The pattern of an option --seconds; None for ''. Raises InputError if it is no pattern."""
    if not text:
        return None
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise InputError(f"--seconds {text!r} is no pattern: {error}", "see Python's re") from error
    if pattern.groups == 0:
        raise InputError(
            f"--seconds {text!r} has no group for the number",
            "put it in parentheses: 'time = ([0-9.]+)'",
        )
    return PrintedTime(pattern)

# SPDX-License-Identifier: Apache-2.0
"""Run a program that may fail, hang or flood its output, and always return."""

from __future__ import annotations

import os
import select
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.session_folders import remove_session_folders, used_session_folders

OUTPUT_BYTES_MAX = 1 << 20
GRACE_S = 2.0
POLL_S = 0.1
LEFTOVER_GRACE_S, LEFTOVER_POLL_S = 5.0, 0.01
"""How long what a launcher leaves behind may take to end, and how often it is looked for."""
PARENT, GROUP, SESSION = 1, 2, 3
"""Places of a process's parent, group and session in its status."""


@dataclass(frozen=True)
class ProgramOutcome:
    """How a program ended: `exit_code` is None if it was stopped, and `stopped` says why."""

    exit_code: int | None
    stdout: str
    stderr: str
    stopped: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether the program exited by itself with status 0."""
        return self.exit_code == 0

    @property
    def reason(self) -> str:
        """Why the program failed, in one line, with the first line of its output."""
        text = self.stopped
        if not text:
            code = self.exit_code or 0
            text = f"died of signal {-code}" if code < 0 else f"exit code {code}"
        first_line = next((line.strip() for line in _lines(self.stderr, self.stdout)), "")
        return f"{text}: {first_line[:200]}" if first_line else text


def run(
    command: Sequence[str],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    text: str = "",
    cancelled: threading.Event | None = None,
) -> ProgramOutcome:
    """Run a command in its own process group, with `text` on its standard input.

    `environment` is added to the current one; the command is stopped once `cancelled` is set. No
    behaviour of the program raises: if it cannot be started, exceeds `timeout_s` or prints more
    than a megabyte, the outcome says so.
    """
    try:
        # A file, because a pipe blocks after 64 KiB if the program does not read.
        with tempfile.TemporaryFile() as stdin_file:
            stdin_file.write(text.encode())
            stdin_file.seek(0)
            process = subprocess.Popen(
                list(command),
                stdin=stdin_file if text else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
    except OSError as error:
        return ProgramOutcome(None, "", "", f"cannot be started: {error.strerror or error}")
    with process:
        try:
            return _collect(process, timeout_s, cancelled or threading.Event())
        finally:
            stop_group(process)


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group: SIGTERM first, so that a launcher can end its ranks."""
    members, used = [process.pid], set[Path]()
    if process.poll() is None:
        members += _members(process.pid, GROUP)
        used = used_session_folders(members)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    # The leader may have exited while children in its group are still running.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    remove_session_folders(members, used)


def stop_session(process: subprocess.Popen[bytes]) -> None:
    """Kill all that a process started with `start_new_session` has begun, in any group."""
    for member in _members(process.pid, SESSION):
        with suppress(OSError):
            os.kill(member, signal.SIGKILL)


def let_session_end(process: subprocess.Popen[bytes]) -> None:
    """Wait until all have ended that a process started with `start_new_session` has begun, or for
    LEFTOVER_GRACE_S.

    An srun that a launcher has started tells Slurm that its step is over after the launcher has
    ended. Killed before, it leaves a step that the next one waits for.
    """
    deadline_s = time.monotonic() + LEFTOVER_GRACE_S
    while any(map(is_running, _members(process.pid, SESSION))) and time.monotonic() < deadline_s:
        time.sleep(LEFTOVER_POLL_S)


def _members(leader: int, place: int) -> list[int]:
    """The processes of a group or session, by the place of that in their status."""
    members = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(_status(folder)[place]) == leader:
                members.append(int(folder.name))
    return members


def family(leader: int) -> list[int]:
    """A process, its children, and theirs: ranks may be in sessions of their own."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            children.setdefault(int(_status(folder)[PARENT]), []).append(int(folder.name))
    members = [leader]
    for member in members:
        members += children.get(member, [])
    return members


def has_no_reader(file: int) -> bool:
    """Whether a file is a pipe of which nobody reads the other end any more, as after `| head`."""
    pipe = select.poll()
    pipe.register(file, 0)
    return any(event & select.POLLERR for _, event in pipe.poll(0))


def is_running(process: int) -> bool:
    """Whether a process has not ended; one that ended may wait for its parent to notice."""
    with suppress(OSError):
        return _status(Path("/proc") / str(process))[0] not in "ZX"
    return False


def _status(folder: Path) -> list[str]:
    """The state, parent, group, session… of a process; its name before may have blanks."""
    return (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()


class _Outputs:
    """Both output streams of a program, read as they arrive."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and process.stderr is not None
        self.stdout = bytearray()
        self.stderr = bytearray()
        self._open: dict[int, bytearray] = {
            process.stdout.fileno(): self.stdout,
            process.stderr.fileno(): self.stderr,
        }

    def read(self, wait_s: float) -> bool:
        """Read what arrives within a time; False if nothing did."""
        with selectors.DefaultSelector() as selector:
            for descriptor in self._open:
                selector.register(descriptor, selectors.EVENT_READ)
            ready = [key.fd for key, _ in selector.select(max(0.0, wait_s))]
        for descriptor in ready:
            chunk = os.read(descriptor, 65536)
            self._open[descriptor] += chunk
            if not chunk:
                del self._open[descriptor]
        return bool(ready)

    @property
    def ended(self) -> bool:
        """Whether all writers have closed the streams."""
        return not self._open

    @property
    def size_bytes(self) -> int:
        """Bytes read from both streams together."""
        return len(self.stdout) + len(self.stderr)


def _collect(
    process: subprocess.Popen[bytes], timeout_s: float, cancelled: threading.Event
) -> ProgramOutcome:
    """Read both streams until the program ends, the timeout expires or the output is too long."""
    outputs = _Outputs(process)
    deadline_s = time.monotonic() + timeout_s
    stopped = ""
    while not stopped:
        remaining_s = deadline_s - time.monotonic()
        # Checked before reading, so that output written just before the exit is still read.
        is_over = process.poll() is not None
        has_output = not outputs.ended and outputs.read(min(remaining_s, POLL_S))
        if outputs.ended:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, remaining_s))
        # A child may keep the streams open after the program exits: what has arrived is enough.
        if is_over and not has_output:
            break
        if outputs.size_bytes > OUTPUT_BYTES_MAX:
            stopped = "says more than a megabyte"
        elif remaining_s <= 0:
            stopped = f"no end within {timeout_s:g} s"
        elif cancelled.is_set():
            stopped = "cancelled"
    exit_code = None if stopped else process.returncode
    stdout, stderr = (
        bytes(stream).decode(errors="replace") for stream in (outputs.stdout, outputs.stderr)
    )
    return ProgramOutcome(exit_code, stdout, stderr, stopped)


def _lines(*texts: str) -> list[str]:
    """The lines with content: neither blank nor a ruler."""
    return [line for text in texts for line in text.splitlines() if line.strip(" -=*\t")]

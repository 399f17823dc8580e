"""A program that was launched: no wait for it is endless, and nothing of it is left.

All that nhalf launches is run by this class, so that a repair for one holds for all.
"""

import math
import os
import secrets
import select
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple, Self

from nhalf.base.launch.process_table import family, session_members
from nhalf.base.launch.survivor import GRACE_S, LIFE_LINE, Launched, Survivor
from nhalf.base.open_files import remove_session_folders, used_session_folders

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C, and what else this program hears as a wish to end, until the block is over.

    Python interrupts the main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    # What is ignored, as in the background, or ends this program at once stays so.
    heard = [number for number in INTERRUPTIONS if callable(signal.getsignal(number))]
    before = {number: signal.signal(number, lambda late, _: came.append(late)) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


KILL_S = 10.0
"""How long one may take that is killed, which the kernel may hold up."""
LEFTOVER_GRACE_S, LEFTOVER_POLL_S = 5.0, 0.01
"""How long what a launcher leaves behind may take to end, and how often it is looked for. An srun
that a launcher has started tells Slurm that its step is over after the launcher has ended. Killed
before, it leaves a step that the next one waits for."""
Stream = IO[bytes] | int | None


class Streams(NamedTuple):
    """Standard streams of a program: files, or as subprocess names them."""

    stdin: Stream = None
    stdout: Stream = None
    stderr: Stream = None


INHERITED = Streams()


def unheard_mark() -> str:
    """A variable that marks the processes of one launch, whose life lines nobody holds."""
    return f"{LIFE_LINE}=nhalf-{secrets.token_hex(16)}"


class Launch:
    """A program in its own session, and all that it starts, until nothing of it is left.

    With a `mark`, a variable NAME=value of all its processes, that holds for those in other
    sessions too, for their shared memory and files, and if this program is killed. A program with
    an exit code of 0 that `is_whole` has removed these itself.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        streams: Streams = INHERITED,
        mark: str = "",
        is_polite: bool = True,
        keeps_terminal: bool = False,
    ) -> None:
        """Start it. Raises OSError if it cannot be started.

        One that `is_polite` may tidy up when it is to end, else it is killed at once. One that
        `keeps_terminal` shares this program's session, and hears of Ctrl-C by itself.
        """
        self._is_polite, self._is_alone = is_polite, not keeps_terminal
        self.is_whole = True
        self._launched = Launched.now(mark, is_polite) if mark else None
        self._end_file = -1
        self._is_over = True
        try:
            with uninterrupted():
                self.began_s = time.monotonic()
                self.process = subprocess.Popen(
                    list(words),
                    env={**environment, **dict([mark.split("=", 1)] if mark else [])},
                    stdin=streams.stdin,
                    stdout=streams.stdout,
                    stderr=streams.stderr,
                    start_new_session=self._is_alone,
                )
                self._is_over = False
                with suppress(OSError, AttributeError):  # before Linux 5.3
                    self._end_file = os.pidfd_open(self.process.pid)
                if self._launched:
                    self._launched = replace(self._launched, process=self.process.pid)
                    Survivor.own().begin(self._launched)
        except BaseException:
            self.end()
            raise

    @property
    def exit_code(self) -> int:
        """The exit code as shells give it: 128 and the signal if one ended the program; that of
        SIGTERM while it runs.
        """
        code = self.process.poll()
        return 128 + signal.SIGTERM if code is None else 128 - code if code < 0 else code

    @property
    def killed_by(self) -> str:
        """The signal that ended the program, in words; '' if none did."""
        code = self.process.poll()
        if code is None or code >= 0:
            return ""
        names = (name for name, value in signal.Signals.__members__.items() if value == -code)
        name = next((f" ({name})" for name in names), "")
        return f"the launcher (process {self.process.pid}) was ended by signal {-code}{name}"

    def report_end(self, selector: selectors.BaseSelector) -> None:
        """Let a selector wake when the program ends, where the kernel can tell."""
        if self._end_file >= 0:
            selector.register(self._end_file, selectors.EVENT_READ)

    def wait(self, limit_s: float = math.inf) -> int | None:
        """Wait for the program's end, though not for what it started; its exit code, negative for a
        signal. None if it goes on after the limit.
        """
        timeout_s = None if math.isinf(limit_s) else max(0.0, limit_s)
        if self._end_file >= 0:
            # The kernel tells at once: to look now and then would be late.
            end = select.poll()
            end.register(self._end_file, select.POLLIN)
            if not end.poll(timeout_s if timeout_s is None else math.ceil(timeout_s * 1000)):
                return None
            timeout_s = None
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(timeout_s)
        return None

    def note(self, members: Iterable[int]) -> None:
        """Note what these of its processes use while they live, to clear it away."""
        if self._launched and (segments := self._launched.segments_of(members)):
            self._launched = replace(self._launched, segments=segments)
            Survivor.own().begin(self._launched)

    def send_signal(self, number: int) -> None:
        """Send a signal to the program, with its group if that is its own."""
        with suppress(ProcessLookupError, PermissionError):
            if self._is_alone:
                os.killpg(self.process.pid, number)
            elif self.process.poll() is None:
                os.kill(self.process.pid, number)

    def end(self) -> None:
        """End what still runs, and clear away what is left, in a limited time; safe to call twice.

        A program may ignore SIGTERM. Interruptions come after the end.
        """
        if self._is_over:
            return
        with uninterrupted():
            self._is_over = True
            members, folders = [self.process.pid], set[Path]()
            if self.process.poll() is None:
                members = family(self.process.pid)
                self.note(members)
                folders = used_session_folders(members)
                if self._is_polite:
                    self.send_signal(signal.SIGTERM)
                    self.wait(GRACE_S)
            if self.process.poll() is None:
                self.send_signal(signal.SIGKILL)
                self.wait(KILL_S)
            members += self._ended_session() if self._is_alone else []
            if self._launched:
                if self.process.returncode != 0 or not self.is_whole:
                    self._launched.clear()
                Survivor.own().end(self._launched)
            remove_session_folders(members, folders)
            self._close()

    def _ended_session(self) -> list[int]:
        """Let what is left of the session end by itself, then kill it, in whatever group it is.

        Returns the processes that were left.
        """
        patient_s = time.monotonic() + (LEFTOVER_GRACE_S if self._is_polite else 0.0)
        leftovers: set[int] = set()
        while members := session_members(self.process.pid):
            leftovers.update(members)
            now_s = time.monotonic()
            if now_s > patient_s + KILL_S:
                break
            for member in members if now_s >= patient_s else ():
                with suppress(OSError):
                    os.kill(member, signal.SIGKILL)
            time.sleep(LEFTOVER_POLL_S)
        return sorted(leftovers)

    def _close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if self._end_file >= 0:
            os.close(self._end_file)
        self._end_file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

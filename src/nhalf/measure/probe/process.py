"""One launch of a probe: start, measure point by point, end or kill; every wait is limited."""

import contextlib
import ctypes
import json
import os
import selectors
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from nhalf.base.launch.launch import Launch, Streams
from nhalf.measure.probe.rank_watch import RankWatch, ended_rank, own_words
from nhalf.sites.health import Examiner

END_TIMEOUT_S = 10.0
"""How long the processes may take to end after their last point."""
LINE_BYTES_MAX = 1 << 24
"""Longer lines are not records, whose number of samples is limited."""
ERRORS_BYTES_MAX = 1 << 24
"""Beyond this size, only the end of a launcher's standard error is kept."""
WORDS_BYTES = 8192
"""How much of that end is read."""
LOOK_S = 1.0
"""How often the length of standard error is checked while nothing else happens."""
NOISE_LETTERS_MAX = 300
TABLE_LINES_MAX = 1000
NOBODY = Examiner()
"""Examiner of a launch on this machine."""
_PUNCH_HOLE = 3
"""FALLOC_FL_PUNCH_HOLE, and FALLOC_FL_KEEP_SIZE that it needs."""
_libc = ctypes.CDLL(None, use_errno=True)


class LaunchError(Exception):
    """The processes did not start, died, or stopped answering; the text says which and why.

    `dead` maps the hosts that caused this to the reason.
    """

    is_final: ClassVar[bool] = False
    """Whether another attempt would end alike."""

    def __init__(self, text: str, dead: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.dead = dict(dead or {})


class Probe:
    """A running launch. Lines that are not records are noise; the last ones explain failures."""

    def __init__(
        self,
        tokens: Sequence[str],
        environment: Mapping[str, str],
        timeout_s: float,
        examiner: Examiner = NOBODY,
        around: Mapping[str, str] | None = None,
    ) -> None:
        """Start the processes and wait for the record that opens the launch.

        `examiner` finds out why if they stop answering or end; `environment` comes on top of the
        variables `around`, those of this process by default. Raises LaunchError if the record does
        not come within `timeout_s` seconds.
        """
        self._examiner = examiner
        self.launch: dict[str, Any] = {}
        self._noise: deque[str] = deque(maxlen=20)
        self.tables: deque[str] = deque(maxlen=TABLE_LINES_MAX)
        """Lines of tables that a library printed, between bars."""
        self._lines: deque[bytes] = deque()
        self._partial = bytearray()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by kill)
        self._selector = selectors.DefaultSelector()
        self._ranks = RankWatch(self._selector)
        surroundings = os.environ if around is None else around
        try:
            self._processes = Launch(
                tokens,
                {**surroundings, **_launched(), **environment},
                streams=Streams(subprocess.PIPE, subprocess.PIPE, self._errors),
                mark=self._ranks.mark,
            )
        except OSError as error:
            self._close()
            raise LaunchError(f"{tokens[0]} cannot be started: {error.strerror}") from error
        stdin, stdout = self._processes.process.stdin, self._processes.process.stdout
        assert stdin is not None and stdout is not None
        self._stdin, self._stdout = stdin, stdout.fileno()
        os.set_blocking(self._stdout, False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        try:
            opening = self.receive(timeout_s, "launch")
            start_s = time.monotonic() - self._processes.began_s
            self.launch = {**opening, "start_s": start_s}
            self._processes.note(self._ranks.begin(self.launch.get("placement", [])))
        except BaseException:
            self.kill()
            raise

    def send(self, line: str) -> None:
        """Ask for a point; raises LaunchError if the processes no longer listen."""
        try:
            self._stdin.write(line.encode() + b"\n")
            self._stdin.flush()
        except OSError as error:
            raise self._ended() from error

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        """Return the next record, of one kind or with one identity where given.

        Raises LaunchError after `timeout_s` seconds or if the processes end.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            while self._lines:
                record = self._parse(self._lines.popleft())
                if record is None or (kind and record["nhalf"] != kind):
                    continue
                if not identity or record.get("id") == identity:
                    return record
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise self._silent(timeout_s)
            self._read(left_s)

    def _read(self, timeout_s: float) -> None:
        """Split arrived data into complete lines."""
        status = os.fstat(self._errors.fileno())
        if status.st_blocks * 512 > ERRORS_BYTES_MAX:
            before_end = ctypes.c_int64(status.st_size - WORDS_BYTES)
            _libc.fallocate(self._errors.fileno(), _PUNCH_HOLE, ctypes.c_int64(0), before_end)
        ready = self._look(timeout_s)
        if self._ranks.is_overdue:
            raise LaunchError(self._overdue())
        if self._stdout not in ready:
            return
        data = os.read(self._stdout, 1 << 20)
        if not data:
            raise self._ended()
        self._partial += data
        if b"\n" in data:
            whole, _, incomplete = self._partial.rpartition(b"\n")
            self._lines.extend(bytes(whole).split(b"\n"))
            self._partial = bytearray(incomplete)
        elif len(self._partial) > LINE_BYTES_MAX:
            self._partial.clear()

    def _look(self, timeout_s: float) -> list[int]:
        """Wait up to a second for readable files, and return them; note ranks that ended."""
        ready = [key.fd for key, _ in self._selector.select(min(timeout_s, LOOK_S))]
        self._ranks.note(ready)
        return ready

    def _parse(self, line: bytes) -> dict[str, Any] | None:
        """Return the record in a line, which may be surrounded by noise; None if there is none."""
        text = line.decode(errors="replace")
        begin = text.find('{"nhalf":')
        if begin >= 0:
            with contextlib.suppress(ValueError, RecursionError):
                record: dict[str, Any] = json.JSONDecoder().raw_decode(text, begin)[0]
                return record
        self._noise.append(text.strip()[:NOISE_LETTERS_MAX])
        if text.rstrip().endswith("|"):
            self.tables.append(text[:NOISE_LETTERS_MAX])
        return None

    def _silent(self, timeout_s: float) -> LaunchError:
        """Return the error for a missing answer, with the reason found while the processes live."""
        diagnosis = self._examiner.diagnose(self.launch.get("placement", []), self._words())
        why = f": {diagnosis.text}" if diagnosis.text else self._last_words()
        return LaunchError(f"no answer within {timeout_s:.3g} s{why}", diagnosis.dead)

    def _ended(self) -> LaunchError:
        """Return the error for ended processes, with the culprit or their last words."""
        code = self._processes.wait(END_TIMEOUT_S)
        how = "the processes closed their output"
        if code is not None:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            how = f"the processes ended with {how}"
        self._look(0)
        diagnosis = self._examiner.diagnose_messages(self._words())
        text = diagnosis.text or self._ended_rank()
        return LaunchError(
            f"{how}: {text}" if text else f"{how}{self._last_words()}", diagnosis.dead
        )

    def _ended_rank(self) -> str:
        """Return the rank that ended before the others, in words; '' if unknown."""
        placement = self.launch.get("placement", [])
        is_sure = bool(placement) and self._ranks.is_sure(len(placement))
        return ended_rank(self._words(), placement, self._ranks.first, is_sure=is_sure)

    def _overdue(self) -> str:
        """Describe the rank that ended while others go on; unknown before the launch answered."""
        who = self._ended_rank()
        if who:
            return f"{who}, which did not end by themselves"
        when = "before the others" if self.launch else "before the launch had answered"
        return f"a rank (process {self._ranks.first_process}) ended {when}{self._last_words()}"

    def _words(self) -> list[str]:
        """Return the last lines with any text that the launcher and the processes wrote."""
        errors = self._errors.fileno()
        # The file position is shared with the processes that write, so read without moving it.
        begin = max(0, os.fstat(errors).st_size - WORDS_BYTES)
        lines = os.pread(errors, 2 * WORDS_BYTES, begin).decode(errors="replace").splitlines()
        words = (line.strip("\0 \t\r") for line in [*lines, *self._noise])
        return [line for line in words if any(map(str.isalnum, line))]

    def _last_words(self) -> str:
        """Return the most informative line as ': …', preferring those of ranks; '' without any."""
        words = self._words()
        own = own_words(words, self._ranks.first)
        telling = own or [line for line in words if "error" in line.lower() or "not enough" in line]
        chosen = (telling or words or [""])[0]
        return f": {chosen[:NOISE_LETTERS_MAX]}" if chosen else ""

    def end(self) -> None:
        """Close the list of points and wait for the processes to end by themselves."""
        with contextlib.suppress(OSError):
            # An explicit word, because not every launcher passes on the end of its input.
            self._stdin.write(b"end\n")
            self._stdin.close()
        self._processes.wait(END_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """End every process of the launch, with SIGTERM first; safe to call twice."""
        self._processes.end()
        self._close()

    def _close(self) -> None:
        self._ranks.close()
        self._selector.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, /, *cause: Any) -> None:
        if kind is None:
            self.end()
        else:
            self.kill()


def _launched() -> dict[str, str]:
    """Return the variable that tells ranks of this host when the launcher was called."""
    try:
        host = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return {}
    return {"NHALF_LAUNCHED": f"{host}:{time.clock_gettime(time.CLOCK_MONOTONIC):.9f}"}

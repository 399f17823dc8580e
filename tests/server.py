"""Processes of nhalf, forked by a Python that has the libraries already (see start_server.py)."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nhalf.base.processes import ProgramOutcome
from tests.patience import patience_s

HERE = Path(__file__).resolve().parent
READ_WHEN_PYTHON_STARTS = ("PYTHON", "LC_", "LANG", "OPENBLAS_", "OMP_")
"""Variables that a process forked by the server would know too late."""
CALL_S = 240.0
"""No call of a test takes longer on a quiet machine."""
OF_THIS_TREE = {"PYTHONPATH": os.pathsep.join(sys.path)}


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    code: int
    out: str
    err: str

    def is_error(self, code: int, *words: str) -> None:
        """One clear line on standard error, nothing on standard output."""
        assert self.code == code, self.err
        assert self.out == ""
        assert self.err.startswith("nhalf: error: "), self.err
        assert self.err.count("\n") == 1, self.err
        for word in words:
            assert word in self.err, self.err


class Started:
    """A process of nhalf: as much of `subprocess.Popen` as tests use."""

    def __init__(self, answer: int, out: int, err: int) -> None:
        self._answer = os.fdopen(answer)
        self.pid = int(self._answer.readline())
        self.returncode: int | None = None
        self._said: list[bytes] = [b"", b""]
        self._listeners = [
            threading.Thread(target=self._listen, args=(place, end), daemon=True)
            for place, end in enumerate((out, err))
        ]
        self._listeners.append(threading.Thread(target=self._await_end, daemon=True))
        for one in self._listeners:
            one.start()

    def _listen(self, place: int, end: int) -> None:
        with os.fdopen(end, "rb") as stream:
            self._said[place] = stream.read()

    def _await_end(self) -> None:
        with self._answer:
            self.returncode = int(self._answer.readline())

    def poll(self) -> int | None:
        """The exit code, below 0 for a signal, None before the end."""
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Nothing is sent to a process that has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """What it said, when all who might say something have ended; a slow machine has longer."""
        deadline_s = time.monotonic() + patience_s(timeout)
        for one in self._listeners:
            one.join(max(deadline_s - time.monotonic(), 0.0))
        if any(one.is_alive() for one in self._listeners):
            self.send_signal(signal.SIGKILL)
            raise TimeoutError(f"process {self.pid} has not ended after {timeout} s")
        out, err = (part.decode(errors="replace") for part in self._said)
        return out, err


class Server:
    """The Python that becomes nhalf when asked, and its answers."""

    def __init__(self) -> None:
        self._ask, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with asked:
            self._process = subprocess.Popen(
                [sys.executable, HERE / "start_server.py", str(asked.fileno())],
                # One thread of OpenBLAS: others would not be there after a fork.
                env={**os.environ, **OF_THIS_TREE, "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[asked.fileno()],
            )

    def start(
        self,
        *words: str | Path,
        folder: Path,
        session: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Started:
        """`nhalf WORDS` in a folder, with variables added; perhaps in its own session."""
        late = [n for n in environment or () if n.startswith(READ_WHEN_PYTHON_STARTS)]
        assert not late, f"{late} must be there when Python starts"
        wanted = {
            "words": [str(word) for word in words],
            "folder": str(folder),
            "session": session,
            "environment": {**os.environ, **OF_THIS_TREE, **(environment or {})},
        }
        pipes = [os.pipe() for _ in range(3)]
        theirs = [write for _, write in pipes]
        socket.send_fds(self._ask, [json.dumps(wanted).encode()], theirs)
        for end in theirs:
            os.close(end)
        out, err, answer = (read for read, _ in pipes)
        return Started(answer, out, err)

    def close(self) -> None:
        """End it; what it started is not touched."""
        self._ask.close()
        self._process.wait()


@cache
def server() -> Server:
    """The server of these tests, from the first that needs it to their end."""
    begun = Server()
    atexit.register(begun.close)
    return begun


def nhalf(
    *words: str | Path,
    environment: Mapping[str, str] | None = None,
    session: bool = False,
    timeout_s: float = CALL_S,
) -> ProgramOutcome:
    """The outcome of `nhalf WORDS` in this folder, with variables added; a slow machine has longer.

    Raises TimeoutError if it has not ended by then.
    """
    started = server().start(*words, folder=Path.cwd(), session=session, environment=environment)
    out, err = started.communicate(timeout_s)
    return ProgramOutcome(started.returncode, out, err)

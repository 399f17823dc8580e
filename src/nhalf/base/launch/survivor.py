"""What is left of launches when this program is killed, which it cannot clear away any more.

Another process waits for the end of this one, in its own session, so that neither a closed terminal
nor Ctrl-C ends it too. It knows the launches that have not ended, kills their
processes, known by the variable that all of them inherit, and removes the files that they leave.
"""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from json import dumps, loads
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Self

from nhalf.base.launch.left_behind import SegmentsLeft, TopologyLeft
from nhalf.base.launch.process_table import with_variable
from nhalf.base.open_files import remove_session_folders, used_session_folders

LIFE_LINE = "NHALF_LIFE_LINE"
"""The variable that all processes of a launch inherit: where ranks hold their life lines."""
GRACE_S = 3.0
"""How long a program may take to end that is asked to."""
PATIENCE_S = 5.0
"""How long killed processes may take to end."""
POLL_S = 0.02
_OF_LAUNCHES = (LIFE_LINE, "LD_PRELOAD")
"""Variables by which this program may itself belong to a launch, with which it would be ended."""


@dataclass(frozen=True)
class Launched:
    """A launch: the launcher's process, a variable of all its processes, and when it began.

    `segments_before` are the names of shared memory that are not its own, `segments` those that its
    ranks were seen to use. One that `is_polite` ends its ranks itself when it is asked to end.
    """

    process: int
    variable: str
    began_s: float
    segments_before: list[str]
    segments: list[str] = field(default_factory=list)
    is_polite: bool = False

    @classmethod
    def now(cls, variable: str, is_polite: bool) -> Self:
        """One that is about to begin, and has no process yet."""
        return cls(0, variable, time.time(), sorted(SegmentsLeft().before), is_polite=is_polite)

    def segments_of(self, members: Iterable[int]) -> list[str]:
        """All segments that it was seen to use, if these processes of it use further ones."""
        segments = SegmentsLeft(before=self.segments_before, own=self.segments)
        segments.look(members)
        return sorted(segments.own) if segments.own != set(self.segments) else []

    def clear(self) -> None:
        """End its processes, and remove what they leave."""
        segments = SegmentsLeft(before=self.segments_before, own=self.segments)
        folders = used_session_folders([self.process])
        kill_s = time.monotonic() + self._ask_to_end()
        while members := list(with_variable(self.variable)):
            segments.look(members)
            if (now_s := time.monotonic()) > kill_s + PATIENCE_S:
                break
            for process in members if now_s >= kill_s or self.process not in members else ():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(POLL_S)
        segments.remove()
        TopologyLeft(began_s=self.began_s).remove()
        remove_session_folders([self.process], folders)

    def _ask_to_end(self) -> float:
        """Ask a launcher that runs to end its ranks; the time that it gets for it, seconds."""
        if self.is_polite and self.process in with_variable(self.variable):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.process, signal.SIGTERM)
                return GRACE_S
        return 0.0


class Survivor:
    """The process that outlives this one; nothing where it cannot be started."""

    _own: ClassVar[Self | None] = None

    def __init__(self) -> None:
        """Start it."""
        self.parent = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-c", _PROGRAM, str(Path(__file__).parents[3])],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={name: os.environ[name] for name in os.environ if name not in _OF_LAUNCHES},
                cwd="/",
            )

    @classmethod
    def own(cls) -> Self:
        """That of this process, which ends with it."""
        if cls._own is None or cls._own.parent != os.getpid():
            cls._own = cls()
            atexit.register(cls._own.close)
        return cls._own

    def begin(self, launched: Launched) -> None:
        """Clear this launch away if this process is killed before `end`."""
        self._tell(asdict(launched))

    def end(self, launched: Launched) -> None:
        """It has ended, and nothing of it is left."""
        self._tell({"ended": launched.variable})

    @contextmanager
    def holding(self, folder: TemporaryDirectory[str]) -> Iterator[str]:
        """A temporary folder that is also removed if this process is killed; gives its path."""
        with folder as path:
            self._tell({"folder": path})
            try:
                yield path
            finally:
                self._tell({"removed": path})

    def close(self) -> None:
        """End it."""
        if self._process is not None and self.parent == os.getpid():
            with suppress(OSError), self._process:
                pass
            self._process = None

    def _tell(self, message: dict[str, object]) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(dumps(message).encode() + b"\n")
                self._process.stdin.flush()


_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from nhalf.base.launch.survivor import survive
survive(sys.stdin)
"""


def survive(lines: Iterable[str]) -> None:
    """Hear of launches until the program that makes them is gone; clear away what has not ended."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    messages = [loads(line) for line in lines]
    for launched in not_ended(messages):
        launched.clear()
    for folder in not_removed(messages):
        _remove(folder)


def not_ended(messages: Iterable[dict[str, Any]]) -> list[Launched]:
    """The launches of which messages tell the beginning and not the end."""
    launches: dict[str, Launched] = {}
    for message in messages:
        if "variable" in message:
            launches[message["variable"]] = Launched(**message)
        launches.pop(message.get("ended", ""), None)
    return list(launches.values())


def not_removed(messages: Iterable[dict[str, Any]]) -> list[Path]:
    """The temporary folders of which messages tell that they are there, and not that they went."""
    folders: dict[str, None] = {}
    for message in messages:
        if "folder" in message:
            folders[message["folder"]] = None
        folders.pop(message.get("removed", ""), None)
    return [Path(folder) for folder in folders]


def _remove(folder: Path) -> None:
    """Remove a folder in which processes that are ending may still be writing."""
    deadline_s = time.monotonic() + PATIENCE_S
    while folder.is_dir() and not folder.is_symlink() and time.monotonic() < deadline_s:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(POLL_S)

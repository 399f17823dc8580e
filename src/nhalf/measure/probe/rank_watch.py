"""The processes of the ranks on this host: the kernel reports their ends, so the first is known.

When one rank ends, launchers end the others at once and report all of them alike, or wait for ranks
that hang. A rank holds a life line, a connection that the kernel closes before anything else of a
process that ends (native/host/life_line.hpp): no launcher can notice it earlier. Ranks without one
are watched by process number, which reports an end only when it is complete, so another rank may
have ended later and be reported earlier.
"""

import contextlib
import os
import re
import secrets
import selectors
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

from nhalf.base.launch.survivor import LIFE_LINE

OWN_WORDS = "probe: "
"""Beginning of a line on standard error that a rank wrote before it gave up."""
_SPEAKER = re.compile(rf"^{OWN_WORDS}rank (\d+): ")
_REPORTED = re.compile(r"\brank (\d+) \(process \d+\)(?=.* has ended\b)")
"""Report of another rank that noticed the end."""
_PROCESS_NUMBER = re.compile(r"\b(?:PID|process) (\d+)\b", re.IGNORECASE)
"""Process numbers in messages of launchers."""


def ended_rank(
    words: Sequence[str],
    placement: Sequence[Mapping[str, Any]],
    first: Mapping[str, Any] | None = None,
    *,
    is_sure: bool = False,
) -> str:
    """Return 'rank 1 (process 4711) ended before the others'; '' unless exactly one rank is known.

    `placement` describes the ranks as they started, `first` the one that ended first according to
    the kernel; if `is_sure`, no other can have ended before. A rank that gave up by itself is not
    named, because it has written why.
    """
    spoke = set(speakers(words))
    if first and is_sure:
        return "" if first["rank"] in spoke else _in_words(first)
    reported = {int(number) for line in words for number in _REPORTED.findall(line)} - spoke
    pids = {int(number) for line in words for number in _PROCESS_NUMBER.findall(line)}
    candidates = [rank for rank in placement if rank.get("rank") in reported]
    if not candidates:
        candidates = [first] if first else [rank for rank in placement if rank.get("pid") in pids]
    return _in_words(candidates[0]) if len(candidates) == 1 else ""


def speakers(words: Sequence[str]) -> list[int]:
    """Return the ranks that wrote why they gave up, in the order of their lines."""
    return [int(match[1]) for line in words if (match := _SPEAKER.match(line))]


def own_words(words: Sequence[str], first: Mapping[str, Any] | None = None) -> list[str]:
    """Return the lines that ranks wrote before they gave up, the first rank to end first."""
    own = [line.removeprefix(OWN_WORDS) for line in words if line.startswith(OWN_WORDS)]
    begin = f"rank {first['rank']}: " if first else ""
    return sorted(own, key=lambda line: not line.startswith(begin))


def _in_words(rank: Mapping[str, Any]) -> str:
    return f"rank {rank['rank']} (process {rank['pid']}) ended before the others"


ENDS_ALONE_S = 5.0
"""How long the remaining processes of a launch may run after the first has ended."""
TAKEN = b"\1"
"""What a rank waits for before it goes on: ends are told in their order from then on."""
_PEER = struct.Struct("3i")
"""Process, user and group at the other end of a connection, as the kernel reports them."""


class RankWatch:
    """Watches ranks from when they connect, or report where they are."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        """Listen for life lines; their files are registered with `selector`."""
        self._selector = selector
        self._name = f"nhalf-{secrets.token_hex(16)}"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self._listener.bind(f"\0{self._name}")
        self._listener.listen(socket.SOMAXCONN)
        selector.register(self._listener, selectors.EVENT_READ)
        self._processes: dict[int, int] = {}
        """The process by the file that reports its end."""
        self._holding: set[int] = set()
        """Processes that have, or had, a life line."""
        self._placement: Sequence[Mapping[str, Any]] = ()
        self.first_process = 0
        """The process that ended first, 0 if none has."""
        self._since_s = 0.0

    @property
    def mark(self) -> str:
        """The variable that ranks need to hold a life line, NAME=value."""
        return f"{LIFE_LINE}={self._name}"

    def begin(self, placement: Sequence[Mapping[str, Any]]) -> list[int]:
        """Record which process is which rank; watch those on this host without a life line.

        Returns the processes on this host.
        """
        local_host = socket.gethostname()
        self._placement = [rank for rank in placement if rank.get("host") == local_host]
        for rank in self._placement:
            if not rank.get("pid") or rank["pid"] in self._holding:
                continue
            with contextlib.suppress(OSError, AttributeError):  # before Linux 5.3
                self._watch(os.pidfd_open(rank["pid"]), rank["pid"])
        return [rank["pid"] for rank in self._placement if rank.get("pid")]

    def note(self, ready: Sequence[int]) -> None:
        """Note which process ended first, from the files that the selector found ready.

        Files are in the order in which they became ready, as epoll returns them.
        """
        ended = [file for file in ready if file in self._processes]
        if ended and not self.first_process:
            self.first_process = self._processes[ended[0]]
            self._since_s = time.monotonic()
        self._forget(ended)
        if self._listener.fileno() in ready:
            self._accept()

    @property
    def first(self) -> Mapping[str, Any] | None:
        """The rank that ended first; None if none has, or its process is not known as a rank."""
        ended_ranks = (rank for rank in self._placement if rank.get("pid") == self.first_process)
        return next(ended_ranks, None)

    def is_sure(self, ranks: int) -> bool:
        """Whether the first of this many ranks is known for certain: all hold a life line."""
        return len({rank["pid"] for rank in self._placement} & self._holding) == ranks

    @property
    def is_overdue(self) -> bool:
        """Whether ranks have been running for too long after the first one ended."""
        return bool(self.first_process) and time.monotonic() - self._since_s > ENDS_ALONE_S

    def close(self) -> None:
        """Stop watching."""
        self._forget(list(self._processes))
        if self._listener.fileno() >= 0:
            self._selector.unregister(self._listener)
            self._listener.close()

    def _accept(self) -> None:
        """Accept pending life lines, except those of different users."""
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._listener.accept()
                credentials = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
                process, user, _ = _PEER.unpack(credentials)
                if user != os.geteuid():
                    line.close()
                    continue
                with contextlib.suppress(OSError):
                    line.send(TAKEN)
                self._holding.add(process)
                self._watch(line.detach(), process)

    def _watch(self, file: int, process: int) -> None:
        self._processes[file] = process
        self._selector.register(file, selectors.EVENT_READ)

    def _forget(self, files: Sequence[int]) -> None:
        for file in files:
            self._selector.unregister(file)
            os.close(file)
            del self._processes[file]

# SPDX-License-Identifier: Apache-2.0
"""The processes of the ranks on this host: the kernel says when one ends, and so which was first.

Launchers end the others at once and then report them all alike, or wait for those that hang. A rank
holds a life line, a connection that the kernel closes before anything else of a process that ends
(native/host/life_line.hpp): launchers cannot have heard of it earlier. Ranks without one are
watched by their number, which tells of an end when it is complete, so that others may have
overtaken it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

ENDS_ALONE_S = 5.0
"""How long the other processes of a launch may go on after the first of them has ended."""
_PEER = struct.Struct("3i")
"""Process, user and group at the other end of a connection, as the kernel says."""


class RankWatch:
    """Looks after ranks from when they connect, or said where they are."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        """Listens for life lines; files go into `selector`."""
        self._selector = selector
        self._name = f"nhalf-{secrets.token_hex(16)}"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self._listener.bind(f"\0{self._name}")
        self._listener.listen(socket.SOMAXCONN)
        selector.register(self._listener, selectors.EVENT_READ)
        self._processes: dict[int, int] = {}
        """By file the process that it tells of."""
        self._holding: set[int] = set()
        """The processes that have, or had, a life line."""
        self._placement: Sequence[Mapping[str, Any]] = ()
        self.first_process = 0
        """The process that ended first, 0 if none has."""
        self._since_s = 0.0

    @property
    def environment(self) -> dict[str, str]:
        """What ranks have to know to hold a life line."""
        return {"NHALF_LIFE_LINE": self._name}

    def begin(self, placement: Sequence[Mapping[str, Any]]) -> None:
        """Learn which process is which rank; watch those on this host that hold no life line."""
        here = socket.gethostname()
        self._placement = [rank for rank in placement if rank.get("host") == here]
        for rank in self._placement:
            if not rank.get("pid") or rank["pid"] in self._holding:
                continue
            with contextlib.suppress(OSError, AttributeError):  # before Linux 5.3
                self._watch(os.pidfd_open(rank["pid"]), rank["pid"])

    def note(self, ready: Sequence[int]) -> None:
        """Remember which process ended first, of files that the selector found ready.

        They are in the order in which they became so, as epoll has them.
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
        """The rank that ended first, None if none has, or it has not said where it is."""
        found = (rank for rank in self._placement if rank.get("pid") == self.first_process)
        return next(found, None)

    def is_sure(self, ranks: int) -> bool:
        """Whether the first of this many ranks is known for certain: all hold a life line."""
        return len({rank["pid"] for rank in self._placement} & self._holding) == ranks

    @property
    def is_overdue(self) -> bool:
        """Whether others go on for too long without one that has ended."""
        return bool(self.first_process) and time.monotonic() - self._since_s > ENDS_ALONE_S

    def close(self) -> None:
        """Watch nobody any more."""
        self._forget(list(self._processes))
        if self._listener.fileno() >= 0:
            self._selector.unregister(self._listener)
            self._listener.close()

    def _accept(self) -> None:
        """Take the life lines that are held out; those of other users are none."""
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._listener.accept()
                said = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
                process, user, _ = _PEER.unpack(said)
                if user != os.geteuid():
                    line.close()
                    continue
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

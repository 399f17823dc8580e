# SPDX-License-Identifier: Apache-2.0
"""The processes of the ranks on this host: the kernel says when one ends, and so which was first.

Launchers end the others at once and then report them all alike, or wait for those that hang.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

ENDS_ALONE_S = 5.0
"""How long the other processes of a launch may go on after the first of them has ended."""


class RankWatch:
    """Looks after ranks from when they said where they are."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._ranks: dict[int, Mapping[str, Any]] = {}
        self.first: Mapping[str, Any] | None = None
        """The rank that ended first, None where none has."""
        self._since_s = 0.0

    def begin(self, placement: Sequence[Mapping[str, Any]]) -> None:
        """Watch those that are on this host, where the kernel can (Linux 5.3 or newer)."""
        here = socket.gethostname()
        for rank in placement:
            if rank.get("host") != here or not rank.get("pid"):
                continue
            with contextlib.suppress(OSError, AttributeError):
                file = os.pidfd_open(rank["pid"])
                self._ranks[file] = rank
                self._selector.register(file, selectors.EVENT_READ)

    def note(self, ready: Sequence[int]) -> None:
        """Remember which process ended first, of files that the selector found ready.

        They are in the order in which they became so, as epoll has them.
        """
        ended = [file for file in ready if file in self._ranks]
        if ended and self.first is None:
            self.first = self._ranks[ended[0]]
            self._since_s = time.monotonic()
        self._forget(ended)

    @property
    def is_overdue(self) -> bool:
        """Whether others go on for too long without one that has ended."""
        return self.first is not None and time.monotonic() - self._since_s > ENDS_ALONE_S

    def close(self) -> None:
        """Watch nobody any more."""
        self._forget(list(self._ranks))

    def _forget(self, files: Sequence[int]) -> None:
        for file in files:
            self._selector.unregister(file)
            os.close(file)
            del self._ranks[file]

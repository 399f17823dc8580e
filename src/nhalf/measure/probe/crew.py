# SPDX-License-Identifier: Apache-2.0
"""Several processes that answer questions in turn, where no answer depends on those before."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Protocol, Self


class Processes(Protocol):
    """Processes that answer questions: a probe, or what stands in for one in a test."""

    launch: dict[str, Any]
    """What they said when they began."""

    def send(self, line: str, /) -> None:
        """Ask for a point; raises LaunchError."""

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        """The next answer; raises LaunchError."""

    def kill(self) -> None:
        """End them at once."""

    def __enter__(self) -> Self:
        """Ended at the end of the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Ended, or killed after an error."""


class Crew:
    """As one probe; as many questions may be asked at once as it has members.

    Simulations share nothing: each core can have one of its own. Answers are handed out in the
    order of the questions.
    """

    def __init__(self, start: Callable[[], Processes], count: int) -> None:
        """Start this many; raises LaunchError if one of them does not come up."""
        with ExitStack() as started:
            self._members = [started.enter_context(start()) for _ in range(count)]
            self._open = started.pop_all()
        self.launch: dict[str, Any] = self._members[0].launch
        self._next = itertools.cycle(self._members)
        self._asked: deque[Processes] = deque()

    def send(self, line: str) -> None:
        """Ask the next one for a point; raises LaunchError if it does not listen any more."""
        member = next(self._next)
        member.send(line)
        self._asked.append(member)

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        """The answer to the oldest question; raises LaunchError as a probe does."""
        return self._asked.popleft().receive(timeout_s, kind, identity)

    def kill(self) -> None:
        """End all of them at once."""
        for member in self._members:
            member.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace)

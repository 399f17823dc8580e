"""Several processes that answer questions in turn, where answers do not depend on each other."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Protocol, Self

from nhalf.sites.health import Examiner


class Processes(Protocol):
    """Processes that answer questions: a probe, or a substitute for one in a test."""

    launch: dict[str, Any]
    """The record that opened the launch."""

    def send(self, line: str, /) -> None:
        """Ask for a point; raises LaunchError."""

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        """Wait for the next answer; raises LaunchError."""

    def kill(self) -> None:
        """End the processes at once."""

    def __enter__(self) -> Self:
        """Keep the processes until the end of the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """End the processes, or kill them after an error."""


Open = Callable[[Sequence[str], Mapping[str, str], float, Examiner], Processes]
"""Starts processes from tokens and variables, with a timeout in seconds and an examiner."""


class Crew:
    """Several probes behind the interface of one; each member may have a question pending.

    Simulations share nothing, so each core can run its own. Answers come in the order of the
    questions.
    """

    def __init__(self, start: Callable[[], Processes], count: int) -> None:
        """Start `count` members; raises LaunchError if one of them does not come up."""
        with ExitStack() as started:
            self._members = [started.enter_context(start()) for _ in range(count)]
            self._open = started.pop_all()
        self.launch: dict[str, Any] = self._members[0].launch
        self._next = itertools.cycle(self._members)
        self._asked: deque[Processes] = deque()

    def send(self, line: str) -> None:
        """Ask the next member for a point; raises LaunchError if it no longer listens."""
        member = next(self._next)
        member.send(line)
        self._asked.append(member)

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        """Wait for the answer to the oldest question; raises LaunchError as a probe does."""
        return self._asked.popleft().receive(timeout_s, kind, identity)

    def kill(self) -> None:
        """End all members at once."""
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

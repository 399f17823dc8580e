"""Batch systems: one file per scheduler, to submit jobs and query their state.

A pure function turns a job's request into text, so job scripts are tested as text. nhalf calls the
system's own commands, each with a timeout, and keeps no connection.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import ClassVar

from nhalf.base.plugins import load

PACKAGE = "nhalf.sites.batch"


class Phase(Enum):
    """The common states of all batch systems."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    BROKEN = "broken"

    @property
    def is_over(self) -> bool:
        """Whether this state is final."""
        return self not in (Phase.WAITING, Phase.RUNNING)


@dataclass(frozen=True)
class JobState:
    """The state of a job: `name` and `reason` in the system's terms, '' if it gives none.

    `hosts` is the list of its hosts in the system's own words; `exit_code` that of its script,
    None if it is unknown.
    """

    name: str
    phase: Phase
    reason: str = ""
    hosts: str = ""
    exit_code: int | None = None

    def __str__(self) -> str:
        """'PENDING (Resources)', 'RUNNING on n[1-4]'."""
        on = f" on {self.hosts}" if self.hosts and self.phase is Phase.RUNNING else ""
        return f"{self.name}{on}{f' ({self.reason})' if self.reason else ''}"


@dataclass(frozen=True)
class JobRequest:
    """The request of a job.

    `time_s` 0 leaves the time to the system; `hosts` are given if the user named them; `options`
    are the user's own, each of which overrides nhalf's.
    """

    name: str
    output: Path
    nodes: int = 1
    hosts: tuple[str, ...] = ()
    time_s: float = 0.0
    time_why: str = ""
    options: tuple[str, ...] = ()


class Unreachable(Exception):
    """The scheduler does not answer at the moment."""


class BatchSystem(ABC):
    """One scheduler."""

    description: ClassVar[str]
    """One sentence: the system and its commands."""
    title: ClassVar[str]
    """The system's usual name."""

    @abstractmethod
    def is_here(self) -> bool:
        """Whether the system's commands are found."""

    @abstractmethod
    def options(self, text: str) -> tuple[str, ...]:
        """The user's options one by one; raises InputError for invalid or reserved ones."""

    @abstractmethod
    def nodes_in(self, options: Sequence[str]) -> int:
        """The least number of hosts that the user's options request; 0 if unspecified."""

    @abstractmethod
    def directives(self, request: JobRequest) -> str:
        """The directives of a job script, each with its reason above it."""

    @abstractmethod
    def submit(self, script: Path) -> str:
        """Submit a script; returns the job's name.

        Raises InputError with the system's own words if it refuses the job, MissingError if it
        does not answer.
        """

    @abstractmethod
    def state(self, job: str) -> JobState | None:
        """The state of a job; None if the system has forgotten it. Raises Unreachable."""

    @abstractmethod
    def cancelling(self, job: str) -> str:
        """The command that cancels a job, as a user types it."""

    @abstractmethod
    def usable_hosts(self, options: Sequence[str]) -> list[str]:
        """The hosts that are up in the partition that the options name.

        The list is empty if that cannot be determined.
        """

    @abstractmethod
    def job_here(self, variables: Mapping[str, str]) -> str:
        """The job in which this process runs, '' outside one."""

    @abstractmethod
    def time_left_s(self, job: str, variables: Mapping[str, str]) -> float | None:
        """Seconds until the time limit of a job, as far as known; None without a limit."""


def batch_systems() -> dict[str, BatchSystem]:
    """Every batch system by name."""
    classes: dict[str, type[BatchSystem]] = load(PACKAGE, BatchSystem)
    return {name: system() for name, system in classes.items()}

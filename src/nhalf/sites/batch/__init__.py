"""Batch systems: one file per scheduler, to submit jobs and query their state.

A pure function turns a job's request into text, so job scripts are tested as text. nhalf calls the
system's own commands, each with a timeout, and keeps no connection.
"""

import re
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import InputError
from nhalf.base.plugins import load

PACKAGE = "nhalf.sites.batch"
_LEFT = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)")
WHY_EXCLUSIVE = "Other jobs on the same hosts would disturb the measurement."
WHY_AGAIN = "After the loss of the first host this script goes on."
WHY_APPEND = "What the job says, added to what a job before it said."


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

    `time_s` 0 leaves the time to the system; `hosts` are given if the user named them; `cores` are
    those to request on each host, 0 where a host comes with all of its own; `options` are the
    user's own, each of which overrides nhalf's.
    """

    name: str
    output: Path
    nodes: int = 1
    cores: int = 0
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

    def cores_per_host(self, options: Sequence[str]) -> int:
        """The cores to request for a whole host; 0 if a job has them without a request."""
        return 0

    @abstractmethod
    def job_here(self, variables: Mapping[str, str]) -> str:
        """The job in which this process runs, '' outside one."""

    @abstractmethod
    def time_left_s(self, job: str, variables: Mapping[str, str]) -> float | None:
        """Seconds until the time limit of a job, as far as known; None without a limit."""


@dataclass(frozen=True)
class JobOption:
    """An option that nhalf requests, '' for none, and why.

    `kind` is the key in `OptionSystem.ours` of those that override it.
    """

    kind: str
    why: str
    text: str


class OptionSystem(BatchSystem):
    """A system whose job scripts hold the options of its submitting command in comments."""

    command: ClassVar[str]
    """The submitting command: 'sbatch'."""
    sentinel: ClassVar[str]
    """What begins a line with options: '#SBATCH'."""
    ours: ClassVar[Mapping[str, set[str]]]
    """The names of the options that override each kind of nhalf's own."""
    refused: ClassVar[Mapping[str, str]]
    """Options that would take control of the job from nhalf, with the reason or ''."""
    example: ClassVar[str]
    """Options as a user may write them, for messages."""

    def is_here(self) -> bool:
        """Whether the submitting command is found."""
        return shutil.which(self.command) is not None

    @abstractmethod
    def requests(self, request: JobRequest) -> list[JobOption]:
        """What nhalf itself asks for."""

    def names(self, option: str) -> set[str]:
        """What an option sets: {'--nodes'} for '--nodes=4', {'-N'} for '-N4'."""
        word = option.strip("'").partition(" ")[0].partition("=")[0]
        return {word if word.startswith("--") else word[:2]}

    def options(self, text: str) -> tuple[str, ...]:
        """Split options with their values, such as '--nodes=4', '-N 4' or '--exclusive'."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise InputError(
                f"--job {text!r} cannot be read: {error}", "close all quotes"
            ) from None
        options: list[str] = []
        takes_value = False
        for word in words:
            if re.match(r"-[a-zA-Z]|--[a-z]", word) and "\n" not in word:
                options.append(shlex.quote(word))
                takes_value = "=" not in word
            elif takes_value and "\n" not in word:
                options[-1] += f" {shlex.quote(word)}"
                takes_value = False
            else:
                remedy = f'write --job "{self.example}"'
                raise InputError(f"{word!r} in --job is no option of {self.command}", remedy)
        for option in options:
            for name in self.names(option) & set(self.refused):
                why = f": {self.refused[name]}" if self.refused[name] else ""
                raise InputError(
                    f"nhalf does not pass {name} on to {self.command}{why}", "leave it out of --job"
                )
        return tuple(options)

    def nodes_in(self, options: Sequence[str]) -> int:
        """The first number of the last option that requests nodes."""
        nodes = 0
        for option in options:
            number = re.search(r"\d+", value_of(option))
            if self.names(option) & self.ours["nodes"] and number:
                nodes = int(number[0])
        return nodes

    def directives(self, request: JobRequest) -> str:
        """The lines with options; the user's last, without those of nhalf that they override."""
        overridden = {name for option in request.options for name in self.names(option)}
        lines: list[str] = []
        for own in self.requests(request):
            if own.text and not overridden & self.ours.get(own.kind, set()):
                lines += [f"# {own.why}"] if own.why else []
                lines.append(f"{self.sentinel} {own.text}")
        if request.options:
            lines.append("# Asked for with --job.")
        lines += [f"{self.sentinel} {option}" for option in request.options]
        return "\n".join(lines)


def value_of(option: str) -> str:
    """The value of an option: '4' of '--nodes=4', '-N 4' and '-N4', '' without one."""
    word = " ".join(shlex.split(option))
    return re.sub(r"^(--[^= ]+[= ]?|-[a-zA-Z][= ]?)", "", word)


def seconds_of(text: str) -> float | None:
    """Seconds from '4:32', '1:00:00' or '2-03:04:05'; None for 'UNLIMITED' and the like."""
    if text.startswith("-"):
        return 0.0
    match = _LEFT.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def batch_systems() -> dict[str, BatchSystem]:
    """Every batch system by name."""
    classes: dict[str, type[BatchSystem]] = load(PACKAGE, BatchSystem)
    return {name: system() for name, system in classes.items()}

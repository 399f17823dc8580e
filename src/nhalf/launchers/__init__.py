# SPDX-License-Identifier: Apache-2.0
"""Launchers: one file, one way to start the processes of a launch.

A launcher is a pure function from a job to tokens and variables, so launching is tested as text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True)
class Job:
    """What to start: `ranks` processes of `command`, through `mpiexec` where there is one.

    `bind` asks for one distinct core per rank; `oversubscribe` allows more ranks than cores;
    `as_root` says that the user is the superuser, which Open MPI refuses unless told.
    """

    command: tuple[str, ...]
    ranks: int
    mpiexec: Path | None = None
    bind: bool = True
    oversubscribe: bool = False
    as_root: bool = False
    hosts: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


class Launcher(ABC):
    """One way to start processes."""

    what: ClassVar[str]
    """One sentence: which programs this launcher drives."""

    @abstractmethod
    def tokens(self, job: Job) -> list[str]:
        """The command line that starts the job."""

    def environment(self, job: Job) -> dict[str, str]:
        """Variables to add to the caller's; the job's own come last."""
        return dict(job.environment)

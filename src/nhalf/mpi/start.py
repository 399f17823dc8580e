# SPDX-License-Identifier: Apache-2.0
"""Start a program on a library: the job, the launcher's words and all variables in one place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf import launchers, plugins
from nhalf.errors import unknown
from nhalf.launchers import Job, Launcher
from nhalf.mpi import Library


@dataclass(frozen=True)
class Start:
    """What to execute: the words, and the variables to add to the present ones."""

    command: list[str]
    environment: dict[str, str]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def launcher(name: str) -> Launcher:
    """A launcher by name.

    Raises InputError for an unknown one.
    """
    known: dict[str, type[Launcher]] = plugins.load(launchers.__name__, Launcher)
    if name not in known:
        raise unknown("launcher", name, known)
    return known[name]()


def start(
    library: Library,
    command: Sequence[str],
    ranks: int,
    bind: bool = True,
    hosts: Sequence[str] = (),
) -> Start:
    """How to start `ranks` processes of a command on a library, from here and as this user."""
    job = Job(
        command=tuple(command),
        ranks=ranks,
        mpiexec=library.mpiexec,
        bind=bind,
        oversubscribe=not hosts and ranks > cores(),
        as_root=os.geteuid() == 0,
        hosts=tuple(hosts),
        environment=dict(library.environment),
    )
    driver = launcher(library.launcher)
    return Start(driver.tokens(job), driver.environment(job))

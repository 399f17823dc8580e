"""Subjects of measurement: a transport, on an MPI library if it needs one, and crews of them."""

from __future__ import annotations

import functools
import itertools
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self

import msgspec

from nhalf.base import native_files
from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError, unknown
from nhalf.base.native_files import describe
from nhalf.measure.plan.plan import JOINT, Setting, under
from nhalf.measure.probe.pattern import PatternInfo, stand_in_description
from nhalf.mpi import Library
from nhalf.mpi.probe import local_executable, probe_command
from nhalf.mpi.transport_files import (
    MPI,
    TransportFile,
    loaded_variables,
    program_files,
    transport_files,
)
from nhalf.sites.health import Examiner
from nhalf.sites.placement import FREE, OPENMP, bound_threads, requested_cores
from nhalf.sites.site import HERE, Site
from nhalf.sites.start import start
from nhalf.statistics.summary import EXACT


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

    def __exit__(self, kind: type[BaseException] | None, /, *cause: Any) -> None:
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

    def __exit__(self, kind: type[BaseException] | None, /, *cause: Any) -> None:
        self._open.__exit__(kind, *cause)


@dataclass(frozen=True)
class Subject:
    """A transport whose probe can be started by `library`; None if it starts its own ranks.

    `description` is the probe's own (`--describe`); `setting` names the setting in effect, ''
    without one; `options` are the transport options of the setting. `measures_library` is set if
    the library carries the data and so is what is measured.
    """

    transport: str
    command: tuple[str, ...]
    description: dict[str, Any]
    library: Library | None = None
    setting: str = ""
    options: str = ""
    measures_library: bool = False

    @property
    def mpi(self) -> str:
        """The name of the measured library, '' without one."""
        return self.library.name if self.library and self.measures_library else ""

    @property
    def key(self) -> str:
        """The name that is unique among the subjects of a run."""
        return carrier(self.mpi, self.transport)

    @property
    def title(self) -> str:
        """The name in reports."""
        if self.library is None and self._model:
            return self._model
        if self.library is None or not self.measures_library:
            return self.transport.replace(JOINT, f" {JOINT} ")
        title = f"{self.library.title} + {self.setting}" if self.setting else self.library.title
        carried = self.transport.partition(JOINT)[0]
        is_own = carried == MPI.name or carried in program_files()
        return title if is_own else f"{title}, {carried}"

    @property
    def _model(self) -> str:
        """The programming model of an application's program; '' for other transports."""
        program = program_files().get(self.transport)
        return program.model if program else ""

    def under(self, setting: Setting) -> Subject:
        """Return the subject with the variables, or transport options, of a setting."""
        if setting.transport:
            name = f"{self.transport}{JOINT}{setting.name}"
            options = ",".join(f"{key}={value}" for key, value in setting.options.items())
            return replace(self, transport=name, setting=setting.name, options=options)
        assert self.library is not None
        return replace(self, library=under(self.library, setting), setting=setting.name)

    @property
    def is_exact(self) -> bool:
        """Whether every launch, and every sample, takes the same time."""
        return self.transport in EXACT

    @property
    def advice(self) -> tuple[str, ...]:
        """What has to be said about each of its points."""
        return ()

    def opener(
        self, ranks: int, placement: str, launch: int, say: Callable[[str], None]
    ) -> Open | None:
        """What starts the processes of a launch with this many ranks; None for a usual probe.

        `say` takes a line about how far they are.
        """
        return None

    @property
    def at_once(self) -> int:
        """The number of points that may be measured at the same time, each by its own processes."""
        return 1

    @functools.cached_property
    def infos(self) -> dict[str, PatternInfo]:
        """The patterns of this transport by name, whether or not it can run them."""
        patterns = msgspec.convert(self.description["patterns"], list[PatternInfo])
        return {info.name: info for info in patterns}

    def launch(
        self, ranks: int, placement: str, options: str, site: Site = HERE
    ) -> tuple[list[str], dict[str, str]]:
        """Return the tokens and variables that start the probe with this many ranks.

        Raises MissingError if the site cannot provide the placement.
        """
        site = site if self.library else HERE
        layout = site.layout(placement, ranks)
        command = list(self.command)
        options = ",".join(filter(None, [options, self.options]))
        cpus = requested_cores(placement, ranks) or site.cores_of_one_host(placement, layout)
        if cpus:
            command += ["--cpus", ",".join(map(str, cpus))]
        if options:
            command += ["--options", options]
        if self.library is None:
            binds = self._model == OPENMP and placement != FREE
            variables = bound_threads(ranks, cpus) if binds else {}
            return [*command, "--ranks", str(ranks)], variables
        bind = not cpus and placement != FREE and not site.shares_cores
        spread = site.spread(layout)
        prepared = start(self.library, command, ranks, bind=bind, spread=spread)
        return prepared.command, prepared.environment


def transports() -> list[str]:
    """Return the names of all transports, whether or not they can be measured here."""
    return sorted(transport_files())


def plain_subject(transport: str) -> Subject:
    """Return the subject of a transport that starts its own ranks (model, threads).

    Raises InputError for an unknown name, with the closest known ones.
    """
    file = transport_file(transport)
    if file.started_by_mpi:
        raise InputError(f"the ranks of transport {transport} are started by MPI")
    return local_subject(file)


def local_subject(file: TransportFile) -> Subject:
    """Return the subject of a transport, or of a program, that starts its own ranks.

    Raises MissingError if it did not come with nhalf and cannot be compiled.
    """
    command = [str(local_executable(file))]
    is_there = os.path.exists(command[0])  # else it would have to be compiled first
    description = describe(command) if is_there else stand_in_description(file)
    return Subject(file.name, tuple(command), description)


def transport_file(transport: str) -> TransportFile:
    """Return the file of a transport, or of an application's program, by name.

    Raises InputError for an unknown name, with the closest known ones, and MissingError if
    nothing native is installed.
    """
    if transport == MPI.name:
        return MPI
    files = transport_files()
    programs = program_files()
    if transport not in {**files, **programs}:
        native_files.native_folder()
        raise unknown("transport", transport, files)
    return files.get(transport) or programs[transport]


def library_subject(library: Library, transport: TransportFile = MPI) -> Subject:
    """Return a transport started by a library; raises MissingError if its probe cannot run."""
    running = library
    if variables := loaded_variables(transport):
        running = replace(library, environment={**library.environment, **variables})
    command = probe_command(library, transport)
    if Path(command[0]).exists():
        description = describe(command, running.environment)
    else:  # it would have to be compiled first
        description = stand_in_description(transport)
    return Subject(
        transport.name,
        tuple(command),
        description,
        running,
        measures_library=transport.carried_by_mpi,
    )

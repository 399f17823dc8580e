# SPDX-License-Identifier: Apache-2.0
"""What is measured: a transport, on an MPI library where it needs one."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from nhalf.base import native_files
from nhalf.base.carrier import carrier
from nhalf.base.describe import describe
from nhalf.base.errors import InputError, unknown
from nhalf.measure.plan.setting import JOINT, Setting, under
from nhalf.measure.probe.pattern import PatternInfo
from nhalf.mpi import Library
from nhalf.mpi.probe import probe_command
from nhalf.mpi.transport_files import MPI, TransportFile, program_files, transport_files
from nhalf.sites.placement import FREE, asked_cores
from nhalf.sites.site import HERE, Site
from nhalf.sites.start import start
from nhalf.sites.threads import OPENMP, bound_threads


@dataclass(frozen=True)
class Subject:
    """A transport whose probe can be started; `library` starts it, None if it starts itself.

    `description` is what the probe says about itself (`--describe`); `setting` names the setting
    that it is under, '' without one; `options` are those of the transport that the setting gives.
    `measures_library`: the library carries the data, and is what is measured.
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
        """The name of the library that is measured, '' without one."""
        return self.library.name if self.library and self.measures_library else ""

    @property
    def key(self) -> str:
        """Unique among the subjects of a run."""
        return carrier(self.mpi, self.transport)

    @property
    def title(self) -> str:
        """How people call it."""
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
        """The same with the variables, or the options of the transport, of a setting."""
        if setting.transport:
            name = f"{self.transport}{JOINT}{setting.name}"
            options = ",".join(f"{key}={value}" for key, value in setting.options.items())
            return replace(self, transport=name, setting=setting.name, options=options)
        assert self.library is not None
        return replace(self, library=under(self.library, setting), setting=setting.name)

    @property
    def at_once(self) -> int:
        """How many points may be measured at the same time, by as many launches."""
        return 1

    @functools.cached_property
    def infos(self) -> dict[str, PatternInfo]:
        """The patterns that this transport knows, by name, whether or not it can run them."""
        found = msgspec.convert(self.description["patterns"], list[PatternInfo])
        return {info.name: info for info in found}

    def launch(
        self, ranks: int, placement: str, options: str, site: Site = HERE
    ) -> tuple[list[str], dict[str, str]]:
        """Tokens and variables that start the probe with this many ranks.

        Raises MissingError if the site cannot give such a placement.
        """
        site = site if self.library else HERE
        layout = site.layout(placement, ranks)
        command = list(self.command)
        options = ",".join(filter(None, [options, self.options]))
        cpus = asked_cores(placement, ranks) or site.cores_of_one_host(placement, layout)
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
    """The transports that there are, whether or not they can be measured here."""
    return sorted(transport_files())


def plain_subject(transport: str) -> Subject:
    """A transport that starts its own ranks (model, threads).

    Raises InputError for an unknown name, with the closest known ones.
    """
    found = known(transport)
    if found.started_by_mpi:
        raise InputError(f"the ranks of transport {transport} are started by MPI")
    command = [str(native_files.executable(found.executable))]
    return Subject(transport, tuple(command), describe(command))


def known(transport: str) -> TransportFile:
    """A transport, or the program of an application, by name.

    Raises InputError for an unknown one, with the closest known ones, and MissingError where
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
    """A transport that a library starts; raises MissingError if no probe of it runs there."""
    command = probe_command(library, transport)
    description = describe(command, library.environment)
    return Subject(
        transport.name,
        tuple(command),
        description,
        library,
        measures_library=transport.carried_by_mpi,
    )

# SPDX-License-Identifier: Apache-2.0
"""What is measured: a transport, on an MPI library where it needs one."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from nhalf.base import native_files
from nhalf.base.describe import describe
from nhalf.base.errors import unknown
from nhalf.measure.plan.setting import Setting, under
from nhalf.measure.probe.pattern import PatternInfo
from nhalf.mpi import Library
from nhalf.mpi.probe import probe_command
from nhalf.sites.placement import FREE, asked_cores
from nhalf.sites.site import HERE, Site
from nhalf.sites.start import start


@dataclass(frozen=True)
class Subject:
    """A transport whose probe can be started; `library` is None for transports without MPI.

    `description` is what the probe says about itself (`--describe`); `setting` names the setting
    that the library is under, '' without one.
    """

    transport: str
    command: tuple[str, ...]
    description: dict[str, Any]
    library: Library | None = None
    setting: str = ""

    @property
    def mpi(self) -> str:
        """The library's name, '' without one."""
        return self.library.name if self.library else ""

    @property
    def key(self) -> str:
        """Unique among the subjects of a run."""
        return self.mpi or self.transport

    @property
    def title(self) -> str:
        """How people call it."""
        title = self.library.title if self.library else self.transport
        return f"{title} + {self.setting}" if self.setting else title

    def under(self, setting: Setting) -> Subject:
        """The same library with the variables of a setting."""
        assert self.library is not None
        return replace(self, library=under(self.library, setting), setting=setting.name)

    @functools.cached_property
    def infos(self) -> dict[str, PatternInfo]:
        """The patterns that this transport knows, by name, whether or not it can run them."""
        found = msgspec.convert(self.description["patterns"], list[PatternInfo])
        return {info.name: info for info in found}

    def launch(
        self, ranks: int, placement: str, options: str, site: Site = HERE
    ) -> tuple[list[str], dict[str, str]]:
        """Tokens and variables that start the probe with this many ranks.

        Raises MissingError where the site cannot give such a placement.
        """
        site = site if self.library else HERE
        layout = site.layout(placement, ranks)
        command = list(self.command)
        cpus = asked_cores(placement, ranks) or site.cores_of_one_host(placement, layout)
        if cpus:
            command += ["--cpus", ",".join(map(str, cpus))]
        if options:
            command += ["--options", options]
        if self.library is None:
            return [*command, "--ranks", str(ranks)], {}
        bind = not cpus and placement != FREE and not site.shares_cores
        spread = site.spread(layout)
        prepared = start(self.library, command, ranks, bind=bind, spread=spread)
        return prepared.command, prepared.environment


def transports() -> list[str]:
    """The transports that can be measured: those with a probe, and mpi."""
    folder = native_files.native_folder() / "bin"
    names = {path.name.removeprefix("probe-") for path in folder.glob("probe-*")}
    return sorted((names - {"mpi-abi"}) | {"mpi"})


def plain_subject(transport: str) -> Subject:
    """A transport that starts its own ranks (model, threads).

    Raises InputError for an unknown name, with the closest known ones.
    """
    if transport not in transports() or transport == "mpi":
        raise unknown("transport", transport, transports())
    command = [str(native_files.executable(f"probe-{transport}"))]
    return Subject(transport, tuple(command), describe(command))


def library_subject(library: Library) -> Subject:
    """MPI messages on one library; raises MissingError when no probe runs on it."""
    command = probe_command(library)
    description = describe(command, library.environment)
    return Subject("mpi", tuple(command), description, library)

"""A library on the virtual network as a subject of measurement."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from nhalf.base.errors import InputError, NhalfError
from nhalf.measure.probe.crew import Open
from nhalf.measure.probe.subject import Subject
from nhalf.measure.virtual.machine import VirtualMachine
from nhalf.measure.virtual.probe import VirtualProbe, VirtualRanks
from nhalf.measure.virtual.progress import VirtualProgress
from nhalf.measure.virtual.start import start_virtually
from nhalf.mpi import Library
from nhalf.sites.placement import CORES
from nhalf.sites.site import HERE, Site
from nhalf.statistics.summary import VIRTUAL, VIRTUAL_NOISE


@dataclass(frozen=True)
class OnNetwork:
    """The network below a library: its machine, and the libraries that may lend libfabric."""

    machine: VirtualMachine
    installed: tuple[Library, ...]


@dataclass(frozen=True)
class VirtualSubject(Subject):
    """A library whose messages take a machine file's times."""

    network: OnNetwork | None = None

    @property
    def is_exact(self) -> bool:
        """Every launch takes the same virtual time, unless something differs on purpose."""
        return self._parts[0].machine.is_exact

    @property
    def advice(self) -> tuple[str, ...]:
        """That times are virtual."""
        return (VIRTUAL if self.is_exact else VIRTUAL_NOISE,)

    def launch(
        self, ranks: int, placement: str, options: str, site: Site = HERE
    ) -> tuple[list[str], dict[str, str]]:
        """Return the tokens and variables that start the probe on this host."""
        network, library = self._parts
        network.machine.nodes(ranks, placement)
        command = list(self.command)
        if all_options := ",".join(filter(None, [options, self.options])):
            command += ["--options", all_options]
        begin = start_virtually(library, command, ranks, network.installed)
        return begin.command, begin.environment

    def opener(
        self, ranks: int, placement: str, launch: int, say: Callable[[str], None]
    ) -> Open | None:
        """What starts the probe with the region that its ranks share."""
        network, library = self._parts
        wires = network.machine.wires(ranks, placement, launch)
        progress = VirtualProgress(
            lambda text: say(f"{self.title}, {network.machine.host}: {text}")
        )
        return functools.partial(VirtualProbe, VirtualRanks(wires, ranks, library, progress))

    @property
    def _parts(self) -> tuple[OnNetwork, Library]:
        assert self.network is not None and self.library is not None
        return self.network, self.library


def on_network(
    subjects: Sequence[Subject], machine: VirtualMachine, installed: Sequence[Library]
) -> list[Subject]:
    """Subjects with the network of a machine below their libraries, for which it is compiled.

    Raises InputError for a transport that does not send by a library.
    """
    network = OnNetwork(machine, tuple(installed))
    virtual = [_on(subject, network) for subject in subjects]
    for subject in virtual:
        with suppress(NhalfError):  # raised again where it is started
            subject.launch(1, CORES, "")
    return list(virtual)


def _on(subject: Subject, network: OnNetwork) -> VirtualSubject:
    if not subject.measures_library:
        raise InputError(
            f"transport {subject.transport} does not send by an MPI library",
            "a simulated machine takes --transport mpi",
        )
    values = {field.name: getattr(subject, field.name) for field in dataclasses.fields(Subject)}
    return VirtualSubject(**values, network=network)

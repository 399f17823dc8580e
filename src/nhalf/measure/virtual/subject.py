"""A library on the virtual network as a subject of measurement, and the launch of its probe."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from nhalf.base.errors import InputError, NhalfError
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Open, Subject
from nhalf.measure.traced.layout import REGION
from nhalf.measure.virtual.machine import VirtualMachine
from nhalf.measure.virtual.region import Region, VirtualProgress
from nhalf.measure.virtual.start import BYPASS, error_of, start_virtually, surroundings
from nhalf.mpi import Library
from nhalf.sites.health import Examiner
from nhalf.sites.placement import CORES
from nhalf.sites.site import HERE, Site
from nhalf.statistics.summary import VIRTUAL, VIRTUAL_NOISE


class BypassError(LaunchError):
    """Messages did not pass the network."""

    is_final: ClassVar[bool] = True


@dataclass(frozen=True)
class VirtualRanks:
    """The ranks of a launch: what lies between them, how many, on which library.

    `progress` is told how far they are.
    """

    wires: str
    number: int
    library: Library
    progress: VirtualProgress


class VirtualProbe(Probe):
    """A running launch whose ranks share a region: they say themselves why they cannot go on.

    A rank that waits for the next point holds up the others outside MPI, so that virtual time
    stands until it comes.
    """

    def __init__(
        self,
        ranks: VirtualRanks,
        tokens: Sequence[str],
        environment: Mapping[str, str],
        timeout_s: float,
        examiner: Examiner,
    ) -> None:
        """Start the processes as `Probe` does, on the network between these ranks."""
        self._virtual_ranks = ranks
        self._region = Region(ranks.wires)
        own = {**environment, REGION: str(self._region.path)}
        try:
            super().__init__(tokens, own, timeout_s, examiner, surroundings())
        except BaseException:
            self._region.close()
            raise

    def _look(self, timeout_s: float) -> list[int]:
        """Wait as `Probe` does; raises LaunchError once the ranks have stopped."""
        ready = super()._look(timeout_s)
        self._virtual_ranks.progress.look(self._region.members(self._virtual_ranks.number))
        if stopped := self._region.stopped:
            reason = str(error_of(stopped, self._virtual_ranks.library))
            if stopped.kind == "abort":
                reason += self._last_words()
            raise (BypassError if reason.startswith(BYPASS) else LaunchError)(reason)
        return ready

    def kill(self) -> None:
        """End every process of the launch."""
        super().kill()
        self._region.kill_ranks(self._virtual_ranks.number)
        self._region.close()


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

"""The machine of a virtual run: its nodes as a site, and where ranks are on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import msgspec

from nhalf.base.errors import InputError
from nhalf.machines.layout import even_share
from nhalf.machines.machine_file import read, write
from nhalf.machines.message import Messages
from nhalf.machines.wires import (
    NO_NOISE,
    Noise,
    description,
    nodes_of,
    ranks_per_node,
)
from nhalf.measure.plan.plan import Block, Plan
from nhalf.sites.hosts import Host
from nhalf.sites.placement import Placement
from nhalf.sites.site import Site
from nhalf.store.run import VIRTUAL_MACHINE, Run

TIMEOUT_S = 600.0
"""How long a point may take in real time: an exchange of many ranks is many messages."""
CORES_USUAL = 16
"""The cores of a machine where a study asks for as many ranks as there are."""


class _Stored(msgspec.Struct, frozen=True):
    """What run.json says of it, beside the plan; `library` is that of the file's curves."""

    machine: str
    nodes: int
    library: str = ""
    noise_share: float = 0.0
    seed: int = 1
    computing_factor: float = 0.0


@dataclass(frozen=True)
class VirtualMachine:
    """The messages of a machine, and how many of its nodes a run uses.

    Times do not repeat themselves from launch to launch with noise, and where computing counts.
    """

    messages: Messages
    nodes_used: int
    noise: Noise = NO_NOISE
    computing_factor: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether every launch takes the same time."""
        return self.noise.share == 0 and self.computing_factor == 0

    @property
    def name(self) -> str:
        """The machine's name."""
        return self.messages.machine.name

    @property
    def host(self) -> str:
        """What stands for the host where results name it; the same for one fitted to such a run."""
        return f"virtual: {self.name.removeprefix('virtual: ')}"

    @cached_property
    def site(self) -> Site:
        """The nodes of the machine as hosts."""
        cores = ranks_per_node(self.messages.machine)
        hosts = tuple(Host(f"node-{number}", cores) for number in range(self.nodes_used))
        return Site(hosts, "", self.host)

    def nodes(self, ranks: int, placement: str) -> list[int]:
        """The number of each rank's node."""
        numbers = {host.name: number for number, host in enumerate(self.site.hosts)}
        return [numbers[name] for name in self.site.expected_hosts(placement, ranks)]

    def wires(self, ranks: int, placement: str, launch: int = 0) -> str:
        """The network between these ranks in a launch, as they read it."""
        nodes = self.nodes(ranks, placement)
        noise = self.noise.of_launch(launch)
        return description(self.messages, nodes, self.computing_factor, noise)

    def check(self, blocks: Sequence[Block]) -> None:
        """Raises InputError if the machine does not hold the ranks of some blocks."""
        for block in blocks:
            for placement in block.parsed_placements:
                for ranks in filter(placement.fits, block.ranks):
                    layout = placement.text if placement.layout else ""
                    nodes_of(self.messages.machine, ranks, layout)

    @classmethod
    def for_ranks(
        cls, messages: Messages, counts: Iterable[int], placements: Sequence[Placement]
    ) -> Self:
        """The machine with as many nodes as share each number of ranks evenly, or as a placement
        needs, two at least.
        """
        network = messages.machine.network
        per_node = ranks_per_node(messages.machine)
        evenly = [even_share(ranks, per_node) for ranks in counts]
        needed = [*evenly, *(placement.hosts for placement in placements), 2]
        most = network.topology.nodes if network and network.topology.nodes else max(needed)
        return cls(messages, min(max(needed), most))

    @classmethod
    def of(cls, run: Run) -> Self | None:
        """The machine of a run; None for one on real machines.

        Raises InputError if run or machine file are damaged.
        """
        if not run.virtual:
            return None
        try:
            stored = msgspec.convert(run.virtual, _Stored)
        except msgspec.ValidationError as error:
            raise InputError(f"{run.path} is of another nhalf: {error}") from error
        machine = read(run.path / VIRTUAL_MACHINE)
        return cls(
            Messages(machine, stored.library),
            stored.nodes,
            Noise(stored.noise_share, stored.seed),
            stored.computing_factor,
        )

    def as_json(self) -> dict[str, Any]:
        """What run.json keeps of it."""
        stored = {
            "machine": self.name,
            "nodes": self.nodes_used,
            "library": self.messages.mpi,
        }
        if self.is_exact:
            return stored
        return {
            **stored,
            "noise_share": self.noise.share,
            "seed": self.noise.seed,
            "computing_factor": self.computing_factor,
        }

    def keep(self, folder: Path) -> None:
        """Write the machine into the folder of its run, which goes on with it."""
        write(self.messages.machine, folder / VIRTUAL_MACHINE)


def in_virtual_time(plan: Plan, machine: VirtualMachine, timeout_s: float) -> Plan:
    """A plan for a machine: one launch of everything where all would take the same time."""
    if not machine.is_exact:
        return msgspec.structs.replace(plan, timeout_s=timeout_s)
    blocks = [msgspec.structs.replace(block, launches=1) for block in plan.blocks]
    return msgspec.structs.replace(plan, blocks=blocks, launches=1, timeout_s=timeout_s)

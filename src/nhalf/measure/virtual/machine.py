"""The machine of a virtual run: its nodes as a site, and where ranks are on them.

How long a run in virtual time will take in real time: a range, from messages and starts.

What a library sends beside its operations, and how fast this host is, is known afterwards only:
the range is that of three libraries on 2 to 128 ranks of two cores that do nothing else.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import msgspec

from nhalf.base.errors import InputError
from nhalf.base.units import format_duration
from nhalf.machines.layout import even_share
from nhalf.machines.machine_file import read, write
from nhalf.machines.message import Messages
from nhalf.machines.wires import NO_NOISE, Noise, description, nodes_of, ranks_per_node
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Block, Plan, Point
from nhalf.mpi import Library
from nhalf.mpi.vendors import vendor_of
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
        stored = {"machine": self.name, "nodes": self.nodes_used, "library": self.messages.mpi}
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
    plan = msgspec.structs.replace(plan, timeout_s=timeout_s, draws_cores=False)
    if not machine.is_exact:
        return plan
    blocks = [msgspec.structs.replace(block, launches=1) for block in plan.blocks]
    return msgspec.structs.replace(plan, blocks=blocks, launches=1)


ANNOUNCED_S = 30.0
"""Shorter runs are not announced."""
OPERATIONS = 4
"""Operations of a point: one is verified, one is tried, two are sampled."""
CONTROLS = 3
"""Operations of control beside each: a broadcast, times collected, and whether to go on."""
MESSAGES_PER_S, BYTES_PER_S = 80e3, 1e9
"""What the network passes of small messages, and of large ones, at best."""
DENSE = ("alltoall", "allgather", "many-to-many")
"""Beginnings of operations in which every rank sends to every other."""
MESSAGES_MOST, RATE_LEAST = 2.5, 0.4
"""Messages by this factor more where a library sends its own, at this share of the best rate."""
START_MOST = 2.0
"""How many times longer than on two idle cores a start may take."""
START_ANNOUNCED_S = 5.0


@dataclass(frozen=True)
class RealTime:
    """The real time of a run: low and high end of what it may be."""

    low_s: float
    high_s: float
    points: int

    @property
    def is_long(self) -> bool:
        """Whether it is worth a line; the middle of the range decides."""
        return math.sqrt(self.low_s * self.high_s) > ANNOUNCED_S

    def in_words(self, budget_s: float) -> str:
        """Say it in a line, with the limit (0: the default time); '' for a short run."""
        if not self.is_long:
            return ""
        limit = f"its budget of {format_duration(budget_s)}" if budget_s else "the default time"
        return (
            f"{self.points} points take about {format_duration(self.low_s)} to "
            f"{format_duration(self.high_s)} of real time, longer where other programs have the "
            f"cores; what does not fit {limit} is left out"
        )


def real_time(agenda: Agenda) -> RealTime:
    """The real time that the launches of an agenda take."""
    starts = list(agenda.starts())
    launches = agenda.launches()
    points = (point for start in starts for point in agenda.points(start))
    passing_s = launches * sum(_point_s(agenda, point) for point in points)
    libraries = {subject.key: subject.library for subject in agenda.subjects}
    starting_s = launches * sum(start_s(libraries[start.subject], start.ranks) for start in starts)
    return RealTime(
        passing_s + starting_s,
        passing_s * MESSAGES_MOST / RATE_LEAST + START_MOST * starting_s,
        sum(len(agenda.points(start)) for start in starts),
    )


def start_s(library: Library | None, ranks: int) -> float:
    """What ranks take to start at least; 0 for those that are no processes of a library."""
    return vendor_of(library).virtual_rank_start_s * ranks if library else 0.0


def start_in_words(library: Library, ranks: int) -> str:
    """Say how long a start takes; '' for a short one."""
    low_s = start_s(library, ranks)
    if low_s < START_ANNOUNCED_S:
        return ""
    return (
        f"{ranks} ranks of {library.name} take about {format_duration(round(low_s))} to "
        f"{format_duration(round(START_MOST * low_s))} to start"
    )


def _point_s(agenda: Agenda, point: Point) -> float:
    """Every rank of a collective operation sends once in each of log2(p) rounds at least."""
    ranks = point.ranks
    rounds = math.ceil(math.log2(max(ranks, 2)))
    sent = 2
    if agenda.infos[point.pattern].timing == "operation":
        sent = ranks * (ranks - 1 if point.pattern.startswith(DENSE) else 1)
    messages = OPERATIONS * (max(sent, ranks) + ranks * rounds + CONTROLS * (ranks - 1))
    moved_bytes = OPERATIONS * sent * point.size_bytes
    return messages / MESSAGES_PER_S + moved_bytes / BYTES_PER_S

# SPDX-License-Identifier: Apache-2.0
"""A simulated machine as something that patterns can be measured on."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.base.describe import describe as described
from nhalf.base.errors import MissingError
from nhalf.base.folders import CACHE_REMEDY, cache_folder, write_cached
from nhalf.machines.machine import Machine
from nhalf.measure.probe.subject import Subject
from nhalf.measure.simulate.description import Description, describe
from nhalf.mpi.simgrid import SETTINGS, application, platform, probe, simgrid
from nhalf.mpi.transport_files import simulated_program
from nhalf.sites.hosts import Host
from nhalf.sites.site import HERE, Site

TRANSPORT = "simulated"
SELECTORS = ("mpich", "ompi", "mvapich2")
"""The libraries whose choice of collective algorithms SMPI copies. Not impi: with SimGrid 3.32 its
allreduce and its broadcast of 70 kB between two ranks end the simulation (MPI_ERR_TRUNCATE)."""

TUNABLES = "glibc.malloc.tcache_count=2000:glibc.malloc.tcache_max=65536"
"""SMPI allocates and frees memory with every message: keeping it saves a tenth of the time."""
FINEST_S = 1e-12
SHARE_OF_SHORTEST = 0.04
RANKS_FEW = 32
HOST_FLOPS = 1e9
"""What every host of our platforms computes (native/simulator/node_zone.hpp)."""


@dataclass(frozen=True)
class SimulatedMachine(Subject):
    """A subject that is a machine and no library: its points have the machine's name."""

    machine: str = ""
    machine_title: str = ""

    @property
    def mpi(self) -> str:
        """The machine's name."""
        return self.machine

    @property
    def title(self) -> str:
        """How people call the machine."""
        return self.machine_title or self.machine


@dataclass(frozen=True)
class SmpiMachine(SimulatedMachine):
    """A machine whose messages SMPI simulates, on the nodes of its own site."""

    known: Description = field(default_factory=lambda: Description("", 0, 0, 1, 0, 0.0, ()))
    site: Site = HERE
    selector: str = SELECTORS[0]
    computing_factor: float = 0.0
    """How many times as long as here computing takes there; 0 if it takes no time."""

    @property
    def at_once(self) -> int:
        """One for each core, where nothing is computed whose time is measured."""
        return 1 if self.computing_factor else len(os.sched_getaffinity(0))

    def precision_s(self, ranks: int) -> float:
        """Events that are less apart count as one.

        Whenever a message begins or ends, all that share links with it get new rates: among many
        ranks that is most of the work. A 25th of the shortest message halves it, and changes what
        rings of 512 ranks take by 0.05 % in the middle and 4 % at most.
        """
        coarse_s = SHARE_OF_SHORTEST * self.known.shortest_s
        return max(FINEST_S, coarse_s if ranks > RANKS_FEW else 0.0)

    def launch(
        self, ranks: int, placement: str, options: str, site: Site = HERE
    ) -> tuple[list[str], dict[str, str]]:
        """Tokens and variables that simulate this many ranks, placed on the machine's own nodes."""
        hosts = told_apart(self.site.expected(placement, ranks), self.known.hosts_per_node)
        settings = settings_of(self.known, self.selector, self.precision_s(ranks))
        if self.computing_factor:
            settings += [
                f"--cfg={name}:{value}" for name, value in computing(self.computing_factor).items()
            ]
        listed = "".join(f"{host}\n" for host in hosts)
        command = _smpirun(self.command[0], ranks, listed, before_simgrid())
        command += settings
        return command, variables(self.known.text)


def settings_of(known: Description, selector: str, precision_s: float) -> list[str]:
    """The options that SimGrid is given for a machine."""
    settings = {
        **SETTINGS,
        "smpi/async-small-thresh": known.rendezvous_bytes,
        "smpi/send-is-detached-thresh": known.rendezvous_bytes,
        "smpi/coll-selector": selector,
        "surf/precision": f"{precision_s:.3g}",
    }
    return [f"--cfg={name}:{value}" for name, value in settings.items()]


def site_of(machine: Machine, ranks: int, mpi: str = "") -> Site:
    """The nodes of a machine as hosts; where their number is not fixed, enough for the ranks."""
    known = describe(machine, mpi, nodes=ranks)
    cores = known.ranks_per_node or -(-ranks // known.nodes)
    hosts = tuple(Host(f"node-{number}", cores) for number in range(known.nodes))
    return Site(hosts, "", f"simulated: {machine.title or machine.name}")


def smpi_subject(
    machine: Machine, site: Site, selector: str = SELECTORS[0], mpi: str = ""
) -> SmpiMachine:
    """The machine as a subject; raises MissingError without SimGrid or a compiler."""
    return _subject(TRANSPORT, probe(simgrid()), machine, site, selector, mpi)


def computing(times: float) -> dict[str, str]:
    """The SMPI option by which computing takes that many times as long as here."""
    return {
        "smpi/simulate-computation": "yes",
        "smpi/host-speed": f"{HOST_FLOPS * times:.9g}f",
        "smpi/cpu-threshold": "1e-9",
        "contexts/stack-size": "8192",
    }


def application_subject(
    machine: Machine, site: Site, app: str, computing_factor: float, selector: str = SELECTORS[0]
) -> SmpiMachine:
    """The machine as what runs an application's program in message passing.

    Raises MissingError without SimGrid, a compiler, or such a program.
    """
    program = application(simgrid(), simulated_program(app))
    found = _subject(f"{app}-mpi", program, machine, site, selector)
    return replace(found, computing_factor=computing_factor)


def _subject(
    name: str, program: Path, machine: Machine, site: Site, selector: str, mpi: str = ""
) -> SmpiMachine:
    """A compiled program as a subject."""
    known = describe(machine, mpi, nodes=len(site.hosts))
    # It describes itself as a rank only, on any machine.
    command = [*_smpirun(str(program), 1, f"{site.hosts[0].name}\n"), "--describe"]
    return SmpiMachine(
        name,
        (str(program),),
        described(command, variables(known.text)),
        machine=machine.name,
        machine_title=machine.title,
        known=known,
        site=site,
        selector=selector,
    )


def _smpirun(program: str, ranks: int, hosts: str, first: str = "") -> list[str]:
    """The command that simulates a program, each rank on the host of its line; the library `first`
    is loaded before all others.
    """
    parts = simgrid()
    return [
        *(str(parts.smpirun), "-quiet", "-no-privatize", "-np", str(ranks)),
        *("-platform", str(platform(parts)), "-hostfile", str(kept("hosts", hosts))),
        *(["-wrapper", f"env LD_PRELOAD={first}"] if first else []),
        *(program, "--log=root.thres:error"),
    ]


def told_apart(nodes: Sequence[str], most: int) -> list[str]:
    """The host of each rank, whose node is known: node-3, node-3.1, ..., no more than `most`."""
    seen: Counter[str] = Counter()
    hosts = []
    for node in nodes:
        number = seen[node] % most
        hosts.append(f"{node}.{number}" if number else node)
        seen[node] += 1
    return hosts


def before_simgrid() -> str:
    """The plug-in, which is loaded before SimGrid: ranks then find those of their node although
    each has its own host, and without messages (native/simulator/neighbours.hpp). Raises
    MissingError where the loader would divide its path.
    """
    plug_in = str(platform(simgrid()))
    if any(sign in plug_in for sign in " :"):
        raise MissingError(f"the loader cannot load {plug_in}: no spaces or colons", CACHE_REMEDY)
    return plug_in


def variables(description: str) -> dict[str, str]:
    """The variables of the platform plug-in: where its description is."""
    return {"NHALF_MACHINE": str(kept("machine", description)), "GLIBC_TUNABLES": TUNABLES}


def kept(name: str, text: str) -> Path:
    """A file with this text, which others may have written before."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = cache_folder() / "simulator" / f"{name}-{digest}.txt"
    if path.is_file():
        os.utime(path)
        return path
    return write_cached(path, text)

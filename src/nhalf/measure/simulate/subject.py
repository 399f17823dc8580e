"""A simulated machine as a subject of measurement, and actions of ranks that SMPI replays on it."""

import hashlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.folders import CACHE_REMEDY, cache_folder, write_cached
from nhalf.base.launch.survivor import Survivor
from nhalf.base.native_files import describe as described
from nhalf.base.processes import run
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
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
"""SMPI allocates and frees memory for every message: caching it saves a tenth of the time."""
PRECISION_S = 1e-12
"""Events that are closer together count as simultaneous."""
ANY_BYTES = 2**31 - 1
"""Messages of any size set out when they are sent (native/simulator/sends.hpp)."""
HOST_FLOPS = 1e9
"""Floating-point operations per second of every host (native/simulator/node_zone.hpp)."""


@dataclass(frozen=True)
class SimulatedMachine(Subject):
    """A subject that is a machine, not a library: its points have the machine's name."""

    machine: str = ""
    machine_title: str = ""

    @property
    def mpi(self) -> str:
        """The machine's name."""
        return self.machine

    @property
    def title(self) -> str:
        """The name of the machine in reports."""
        return self.machine_title or self.machine


@dataclass(frozen=True)
class SmpiMachine(SimulatedMachine):
    """A machine whose messages SMPI simulates, on the nodes of its own site."""

    machine_description: Description = field(default_factory=lambda: Description("", 0, 0, 1, ()))
    site: Site = HERE
    selector: str = SELECTORS[0]
    computing_factor: float = 0.0
    """Ratio of computing time there to that here; 0 if computing takes no time."""

    @property
    def at_once(self) -> int:
        """One point per core, unless computing is timed."""
        return 1 if self.computing_factor else len(os.sched_getaffinity(0))

    def launch(
        self, ranks: int, placement: str, options: str, site: Site = HERE
    ) -> tuple[list[str], dict[str, str]]:
        """Return the tokens and variables that simulate the ranks on the machine's own nodes."""
        nodes = self.site.expected_hosts(placement, ranks)
        hosts = distinct_hosts(nodes, self.machine_description.hosts_per_node)
        settings = settings_of(self.selector)
        if self.computing_factor:
            settings += [
                f"--cfg={name}:{value}" for name, value in computing(self.computing_factor).items()
            ]
        listed = "".join(f"{host}\n" for host in hosts)
        command = _smpirun(self.command[0], ranks, listed, preloaded_plugin())
        command += settings
        return command, variables(self.machine_description.text_for(nodes))


def settings_of(selector: str) -> list[str]:
    """Return SimGrid's options for the collectives of a library."""
    settings = {
        **SETTINGS,
        "smpi/async-small-thresh": ANY_BYTES,
        "smpi/send-is-detached-thresh": ANY_BYTES,
        "smpi/coll-selector": selector,
        "surf/precision": PRECISION_S,
    }
    return [f"--cfg={name}:{value}" for name, value in settings.items()]


def site_of(machine: Machine, ranks: int, mpi: str = "") -> Site:
    """Return the nodes of a machine as hosts; enough for the ranks if their number is not fixed."""
    description = describe(Messages(machine, mpi), nodes=ranks)
    cores = description.ranks_per_node or -(-ranks // description.nodes)
    hosts = tuple(Host(f"node-{number}", cores) for number in range(description.nodes))
    return Site(hosts, "", f"simulated: {machine.title or machine.name}")


def smpi_subject(
    machine: Machine, site: Site, selector: str = SELECTORS[0], mpi: str = ""
) -> SmpiMachine:
    """Return the machine as a subject; raises MissingError without SimGrid or a compiler."""
    return _subject(TRANSPORT, probe(simgrid()), machine, site, selector, mpi)


def computing(times: float) -> dict[str, str]:
    """Return the SMPI options that make computing take this many times as long as here."""
    return {
        "smpi/simulate-computation": "yes",
        "smpi/host-speed": f"{HOST_FLOPS * times:.9g}f",
        "smpi/cpu-threshold": "1e-9",
        "contexts/stack-size": "8192",
    }


def application_subject(
    machine: Machine, site: Site, app: str, computing_factor: float, selector: str = SELECTORS[0]
) -> SmpiMachine:
    """Return the machine as a subject that runs an application's message-passing program.

    Raises MissingError without SimGrid, a compiler, or such a program.
    """
    program = application(simgrid(), simulated_program(app))
    subject = _subject(f"{app}-mpi", program, machine, site, selector)
    return replace(subject, computing_factor=computing_factor)


def _subject(
    name: str, program: Path, machine: Machine, site: Site, selector: str, mpi: str = ""
) -> SmpiMachine:
    """Return a compiled program as a subject."""
    description = describe(Messages(machine, mpi), nodes=len(site.hosts))
    # A program describes itself only when it runs as a rank, on any machine.
    command = [*_smpirun(str(program), 1, f"{site.hosts[0].name}\n"), "--describe"]
    return SmpiMachine(
        name,
        (str(program),),
        described(command, variables(description.text)),
        machine=machine.name,
        machine_title=machine.title,
        machine_description=description,
        site=site,
        selector=selector,
    )


def _smpirun(program: str, ranks: int, hosts: str, first: str = "") -> list[str]:
    """Return the command that simulates a program, each rank on the host of its line.

    The library `first` is loaded before all others.
    """
    parts = simgrid()
    return [
        *(str(parts.smpirun), "-quiet", "-no-privatize", "-np", str(ranks)),
        *("-platform", str(platform(parts)), "-hostfile", str(cached_file("hosts", hosts))),
        *(["-wrapper", f"env LD_PRELOAD={first}"] if first else []),
        *(program, "--log=root.thres:error"),
    ]


def distinct_hosts(nodes: Sequence[str], most: int) -> list[str]:
    """Return a host for each rank from its node: node-3, node-3.1, ..., at most `most` per node."""
    ranks_by_node: Counter[str] = Counter()
    hosts = []
    for node in nodes:
        number = ranks_by_node[node] % most
        hosts.append(f"{node}.{number}" if number else node)
        ranks_by_node[node] += 1
    return hosts


def preloaded_plugin() -> str:
    """Return the plug-in to load before SimGrid.

    With it, ranks find the ranks of their node without messages although each has its own host
    (native/simulator/neighbours.hpp). Raises MissingError if the loader would split its path.
    """
    plug_in = str(platform(simgrid()))
    if any(sign in plug_in for sign in " :"):
        raise MissingError(f"the loader cannot load {plug_in}: no spaces or colons", CACHE_REMEDY)
    return plug_in


def variables(description: str) -> dict[str, str]:
    """Return the variables that tell the platform plug-in where its description is."""
    return {"NHALF_MACHINE": str(cached_file("machine", description)), "GLIBC_TUNABLES": TUNABLES}


def cached_file(name: str, text: str) -> Path:
    """Return a file with this text, possibly one that was written before."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = cache_folder() / "simulator" / f"{name}-{digest}.txt"
    if path.is_file():
        os.utime(path)
        return path
    return write_cached(path, text)


TIMEOUT_S = 3600.0
_SIMULATED_TIME = re.compile(r"Simulation time (\S+)")
_QUIET = ("smpi_coll.thres:error", "xbt_cfg.thres:error", "smpi_config.thres:error")


def simulated_actions_s(messages: Messages, hosts: Sequence[str], actions: Sequence[str]) -> float:
    """Simulate the actions of all ranks, each on its host; return the time in seconds.

    Raises InputError if the machine has fewer nodes than there are hosts, MissingError without
    SimGrid, FailedError if the simulation fails, for instance with a deadlock.
    """
    names = list(dict.fromkeys(hosts))
    description = describe(messages, nodes=len(names))
    if len(names) > description.nodes:
        raise InputError(
            f"{messages.machine.name} has {description.nodes} nodes, and the ranks are on "
            f"{len(names)}",
            "place them on fewer: --placement",
        )
    nodes = distinct_hosts(
        [f"node-{names.index(host)}" for host in hosts], description.hosts_per_node
    )
    parts = simgrid()
    with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as folder:
        index = _written(Path(folder), actions)
        command = [
            *(str(parts.smpirun), "-no-privatize", "-np", str(len(hosts))),
            *("-platform", str(platform(parts))),
            *("-hostfile", str(cached_file("hosts", "".join(f"{node}\n" for node in nodes)))),
            *("-wrapper", f"env LD_PRELOAD={preloaded_plugin()}"),
            *("-replay", str(index), *settings_of(SELECTORS[0])),
            *(f"--log={setting}" for setting in _QUIET),
        ]
        outcome = run(command, TIMEOUT_S, variables(description.text_for(hosts)))
    match = _SIMULATED_TIME.search(outcome.stdout + outcome.stderr)
    if match is None:
        lines = (outcome.stderr or outcome.stdout).strip().splitlines() or ["it said nothing"]
        reason = next((line for line in lines if "eadlock" in line), lines[-1])
        raise FailedError(f"the simulation failed: {reason}", "leave out --simgrid")
    return float(match[1])


def _written(folder: Path, actions: Sequence[str]) -> Path:
    """Write the actions into files; return the file that lists them."""
    names = []
    for rank, text in enumerate(actions):
        path = folder / f"{rank}.txt"
        path.write_text(text)
        names.append(str(path))
    index = folder / "index.txt"
    index.write_text("".join(f"{name}\n" for name in names))
    return index

"""Start a program on a library: the job, the launcher's arguments and all variables."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.job import FORK, Launcher, MpiJob
from nhalf.mpi.vendors import vendor_of, vendors
from nhalf.sites.launchers import OWN, check_launcher, launchers


@dataclass(frozen=True)
class StartCommand:
    """A command to execute, and the variables to add to the present ones."""

    command: list[str]
    environment: dict[str, str]


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Spread:
    """The distribution of ranks: on `hosts` (none: here), a number on each, in blocks or cyclic.

    `oversubscribed` means that hosts have fewer cores than ranks; `launcher` is '' for the
    library's own. Hosts that are `pretended` are all this one, by other names.
    """

    hosts: tuple[str, ...] = ()
    ranks_per_host: int = 0
    cyclic: bool = False
    oversubscribed: bool = False
    launcher: str = ""
    pretended: bool = False


HERE = Spread()
"""The distribution on this machine, by the library's own launcher."""


def start(
    library: Library, command: Sequence[str], ranks: int, bind: bool = True, spread: Spread = HERE
) -> StartCommand:
    """The command that starts `ranks` processes on a library, from here and as this user.

    Raises MissingError if the requested launcher does not drive this library or is not here.
    """
    vendor = vendor_of(library)
    driver = _driver(library, spread.launcher)
    if driver is vendor:
        _check_mpiexec(library)
    variables = dict(library.environment)
    pmi = ""
    if driver is not vendor:
        pmi = driver.process_management(library.name, vendor.speaks(library))
    variables |= vendor.variables_under("" if driver is vendor else spread.launcher, pmi)
    job = MpiJob(
        command=tuple(command),
        ranks=ranks,
        mpiexec=library.mpiexec,
        bind=bind,
        oversubscribe=spread.oversubscribed if spread.hosts else ranks > cores(),
        as_root=os.geteuid() == 0,
        hosts=spread.hosts,
        ranks_per_host=spread.ranks_per_host,
        cyclic=spread.cyclic,
        pmi=pmi,
        bootstrap=_bootstrap(spread),
        environment=variables,
    )
    return StartCommand(driver.tokens(job), driver.environment(job))


def _bootstrap(spread: Spread) -> str:
    """The way of a library's own launcher to other hosts, '' for its choice."""
    if spread.pretended:
        return FORK
    return "slurm" if os.environ.get("SLURM_JOB_ID") else ""


def _check_mpiexec(library: Library) -> None:
    """Raises MissingError for a library whose mpiexec does not exist, or no longer."""
    path = library.mpiexec
    if path is None:
        raise MissingError(
            f"{library.name} has no mpiexec", "use --launcher srun, or leave it out with --mpi"
        )
    if os.access(path, os.X_OK) and path.is_file():
        return
    why = "cannot be executed" if os.path.exists(path) else "is not there any more"
    remedy = "repair it, use --launcher srun, or leave it out with --mpi"
    raise MissingError(f"{library.name} has no mpiexec: {path} {why}", remedy)


def several_worlds(
    library: Library, worlds: Sequence[int], ranks: int, launcher: str = ""
) -> MissingError:
    """The error for ranks of one start that are in several worlds, with reason and remedy.

    `worlds` are the sizes of the worlds that answered.
    """
    vendor = vendor_of(library)
    driver = _driver(library, launcher)
    speaks = vendor.speaks(library)
    pmi = "" if driver is vendor else driver.process_management(library.name, speaks)
    who = f"{launcher} --mpi={pmi}" if pmi else launcher or vendor.launcher
    number = f"{len(worlds)} " if len(worlds) > 1 else ""
    world_size = "one rank" if max(worlds) == 1 else f"{max(worlds)} ranks"
    why, remedy = driver.why_separate_worlds(library.title, speaks, pmi)
    message = f"{who} started {number}worlds of {world_size} instead of one world of {ranks}: {why}"
    return MissingError(message, remedy)


def _driver(library: Library, launcher: str) -> Launcher:
    """The launcher of a library: its own mpirun, unless another one is requested."""
    if launcher in ("", OWN, library.launcher):
        return vendor_of(library)
    if launcher in (vendor.launcher for vendor in vendors().values()):
        remedy = f"use --launcher {OWN} for its own launcher, or leave it out with --mpi"
        raise MissingError(f"{library.name} is not started by {launcher}", remedy)
    check_launcher(launcher)
    return launchers()[launcher]()

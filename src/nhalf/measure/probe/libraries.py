"""The MPI libraries of a plan."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from nhalf.base.compiled import CompiledProgram, compile_ahead
from nhalf.base.errors import MissingError
from nhalf.measure.plan.plan import Plan
from nhalf.mpi import Library, discover
from nhalf.mpi.links import sharing_first
from nhalf.mpi.local_probe import missing_programs
from nhalf.mpi.probe import missing_probes
from nhalf.mpi.transport_files import TransportFile
from nhalf.sites.start import cores


def libraries_of(plan: Plan) -> list[Library]:
    """Return the requested libraries, or all that are installed."""
    prefixes = [Path(prefix) for prefix in plan.mpi_prefixes]
    if plan.mpi in ([], ["all"]):
        libraries = discover.libraries(prefixes)
        if not libraries:
            raise MissingError(
                "no MPI library was found",
                "install one with `nhalf mpi install mpich`, or use --transport threads",
            )
        return libraries
    libraries = [discover.find(name, prefixes) for name in plan.mpi]
    return list({library.name: library for library in libraries}.values())


def libraries_here(plan: Plan) -> list[Library]:
    """Return all libraries that are installed, whether or not the plan asks for them."""
    return discover.libraries([Path(prefix) for prefix in plan.mpi_prefixes])


def candidates(plan: Plan, transport: TransportFile) -> list[Library]:
    """Return the libraries that may start a transport, in the order in which they are tried."""
    libraries = libraries_of(plan)
    return sharing_first(libraries) if transport.links else libraries


def needs_one(plan: Plan, transport: TransportFile) -> bool:
    """Whether the first library that starts a transport suffices, because it is not measured."""
    return plan.one_library or not transport.carried_by_mpi


def compile_probes(plan: Plan, transports: Iterable[TransportFile]) -> None:
    """Compile the probes that a plan needs and that are missing, one on each core.

    A probe that does not compile raises where it is needed.
    """
    programs: list[CompiledProgram] = []
    for transport in transports:
        # Without any library, transports that need none are still measured.
        with suppress(MissingError):
            if not transport.started_by_mpi:
                programs += missing_programs([transport])
            else:
                programs += missing_probes(
                    candidates(plan, transport), transport, one_suffices=needs_one(plan, transport)
                )
    compile_ahead(programs, cores())


def choices_in_words(plan: Plan) -> list[str]:
    """Describe which library each name of a plan stands for, where it could be another one."""
    if plan.mpi in ([], ["all"]):
        return []
    prefixes = [Path(prefix) for prefix in plan.mpi_prefixes]
    requested = {discover.find(name, prefixes).name for name in plan.mpi}
    by_name = {library.name: library for library in discover.libraries(prefixes)}
    lines = []
    for name in plan.mpi:
        library = discover.find(name, prefixes)
        namesake = by_name.get(name)
        if namesake and library.name != name:
            lines.append(
                f"{name} is {library.name} in {library.prefix}, a given prefix; to measure the "
                f"other one as well: --mpi {library.name},{name}-{namesake.origin}"
            )
        versions = [
            library.name
            for library in discover.other_versions(name, prefixes)
            if library.name not in requested
        ]
        if versions:
            lines.append(
                f"{name} is {library.name}; to measure other versions as well: "
                f"--mpi {','.join([library.name, *versions])}"
            )
    return lines

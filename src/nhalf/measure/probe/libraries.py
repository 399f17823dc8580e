"""The MPI libraries of a plan, and such with parts replaced by a table that is preloaded.

A library under such a setting is measured beside the library as it is, launch by launch.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.compiled import CompiledProgram, compile_ahead
from nhalf.base.errors import InputError, MissingError, unknown
from nhalf.base.folders import cache_folder, write_cached
from nhalf.measure.plan.plan import Plan, Setting
from nhalf.mpi import Library, discover
from nhalf.mpi.decision_table import NATIVE, Rule, read_table, table_text
from nhalf.mpi.preload import preload
from nhalf.mpi.probe import missing_probes, missing_programs, probe_command, sharing_first
from nhalf.mpi.transport_files import TransportFile, loaded_variables
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
    """Return the libraries that may start a transport, in the order in which they are tried.

    Raises MissingError if a library that the transport loads is missing.
    """
    loaded_variables(transport)
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


_ALGORITHM = re.compile(r'AlgorithmInfo \w+_info\{\s*\.name = "([^"]+)"')
SHARED_MEMORY = "shared-memory"
"""The barrier that the preloaded library has besides the algorithms."""
EVERY = (2, float("inf"), 0, float("inf"))
"""Limits of ranks and bytes of a rule that covers every call."""


def barrier_tables(names: Sequence[str]) -> list[Path]:
    """Return a decision table for each barrier except the library's own, which is always measured.

    Raises InputError for an unknown barrier.
    """
    folder = native_files.include_folder() / "algorithms/barrier"
    barriers = [NATIVE, SHARED_MEMORY, *_algorithms(folder)]
    for name in names:
        if name not in barriers:
            raise unknown("barrier", name, barriers)
    return [_stored_table(name) for name in names if name != NATIVE]


def exchange_settings(
    tables: Sequence[Path], program: TransportFile, libraries: Sequence[Library]
) -> list[Setting]:
    """Return a setting for every table and library, named after the table's file.

    Raises InputError for an invalid table, MissingError if a library cannot be preloaded.
    """
    for table in tables:
        read_table(table)
    names = [re.sub(r"[^A-Za-z0-9._-]+", "-", table.stem) for table in tables]
    if len(set(names)) < len(names):
        raise InputError("two tables have the same name", "rename one of the files")
    return [
        Setting(name, _variables(table, program, library), library.name)
        for name, table in zip(names, tables, strict=True)
        for library in libraries
    ]


def _variables(table: Path, program: TransportFile, library: Library) -> dict[str, str]:
    return preload(library, Path(probe_command(library, program)[0]), table).variables


def _algorithms(folder: Path) -> list[str]:
    """The algorithms whose descriptions are in the headers of a folder, by name."""
    texts = [path.read_text("utf-8") for path in folder.glob("*.hpp")]
    return sorted(name for text in texts for name in _ALGORITHM.findall(text))


def _stored_table(barrier: str) -> Path:
    """Return the table of one barrier, written to the cache if it is not there."""
    text = table_text([Rule("barrier", *EVERY, barrier)])
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = cache_folder() / "tables" / digest / f"{barrier}.txt"
    if not path.is_file():
        write_cached(path, text)
    return path

"""How ranks are started on the virtual network, what is loaded into them, and why they stopped."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.compiled import CompiledProgram, compiled
from nhalf.base.errors import FailedError, InputError, MissingError, NhalfError, ProgramError
from nhalf.base.launch.left_behind import FOLDER
from nhalf.base.units import format_size
from nhalf.measure.plan.plan import split_name
from nhalf.measure.traced.layout import refuse_to_trace_each_rank
from nhalf.measure.traced.start import kinds_of_handles, with_preload
from nhalf.measure.virtual.region import RANKS_MAX, Stopped
from nhalf.mpi import Library
from nhalf.mpi.identify import stamps_of
from nhalf.mpi.job import is_of_allocation, is_of_job
from nhalf.mpi.preload import (
    ABI,
    CLASSIC,
    FLAGS,
    Preloaded,
    abi_library,
    own_library,
    sanitizer_variables,
)
from nhalf.mpi.probe import compiler_here
from nhalf.mpi.vendors import vendor_of
from nhalf.sites.start import HERE, Spread, StartCommand, start

# In virtual time no call is faster for being optimised.
CALLS = Preloaded(
    "library of the virtual network", "libnhalf_fabric.so", "fabric", "fabric/calls.cpp", ("-O1",)
)
PROVIDER = "libnhalf-fi.so"


def provider() -> Path:
    """The network itself: built with nhalf where libfabric's headers were, else compiled once.

    Raises MissingError if neither is possible.
    """
    path = native_files.native_folder() / "lib" / PROVIDER
    if path.is_file():
        return path
    compiler = compiler_here("the virtual network has to be compiled")
    return compiled(
        CompiledProgram(
            title="the virtual network",
            name=PROVIDER,
            folder="fabric/provider",
            source="fabric/provider.cpp",
            command=[compiler, *FLAGS],
            why_not=lambda path: "" if path.is_file() else "there is no file",
            parts=stamps_of([Path(compiler).resolve()]),
            remedy="it needs libfabric's headers: install libfabric-dev",
        )
    )


def wrappers(library: Library, command: Sequence[str], installed: Sequence[Library]) -> list[Path]:
    """The libraries that wrap the calls of a command's program: for its kind of handles, or all.

    Raises MissingError if there is none.
    """
    kinds = kinds_of_handles(["", *command]) or {ABI, CLASSIC}
    paths: list[Path] = []
    problems: list[MissingError] = []
    if ABI in kinds and library.abi:
        paths.append(abi_library(library, installed, CALLS))
    if CLASSIC in kinds:
        try:
            paths.append(own_library(library, installed, CALLS))
        except MissingError as error:
            problems.append(error)
    if not paths:
        raise (
            problems[0]
            if problems
            else MissingError(
                f"{library.name} does not load programs of the MPI standard ABI",
                "choose another library with --mpi",
            )
        )
    return paths


NAME = "nhalf"
"""The provider's name in libfabric."""
KNOWN_NODES = "NHALF_FABRIC_NODES"
"""The variable that says whether the library is told who is on one node."""
BYPASS = "the library bypasses the virtual network"


def start_virtually(
    library: Library,
    command: Sequence[str],
    ranks: int,
    installed: Sequence[Library],
    settings: Mapping[str, str] | None = None,
) -> StartCommand:
    """The command of the launcher; the variables of the network are for the ranks alone.

    `settings` are variables that come last. Raises InputError for more ranks than the network
    holds and for a program that traces, MissingError for a library that cannot use the network.
    """
    refuse_to_trace_each_rank(command)
    if ranks > RANKS_MAX:
        raise InputError(
            f"the virtual network holds {RANKS_MAX} ranks at most, not {ranks}",
            "ask for fewer, or model more with --transport model",
        )
    vendor = vendor_of(library)
    _check_room(ranks * vendor.virtual_segment_bytes)
    network = provider()
    loaded = [*wrappers(_without_setting(library, installed), command, installed), network]
    present = os.environ.get("LD_PRELOAD", "")
    variables = {
        **vendor.over_provider(library, NAME, installed),
        "FI_PROVIDER": NAME,
        "FI_PROVIDER_PATH": str(network.parent),
        "LD_PRELOAD": ":".join(filter(None, [*map(str, loaded), present])),
        **sanitizer_variables(os.environ),
        KNOWN_NODES: "1" if vendor.knows_virtual_nodes else "0",
        **(settings or {}),
    }
    words = [f"{name}={value}" for name, value in variables.items()]
    spread = _spread(ranks, vendor.daemon_ranks_max)
    loading = with_preload(command, ":".join(map(str, loaded)))
    return start(library, ["env", *words, *loading], ranks, bind=False, spread=spread)


def _check_room(needed_bytes: int) -> None:
    """Raises MissingError if ranks would find no room for their shared memory."""
    with suppress(OSError):
        status = os.statvfs(FOLDER)
        if status.f_bavail * status.f_frsize < needed_bytes:
            raise MissingError(
                f"the ranks need {format_size(needed_bytes)} in {FOLDER}, which has "
                f"{format_size(status.f_bavail * status.f_frsize)}",
                "make room there, or take another library with --mpi",
            )


def _spread(ranks: int, daemon_ranks_max: int) -> Spread:
    """The launcher's daemons: several for many ranks, each of which takes this host for another."""
    if daemon_ranks_max == 0 or ranks <= daemon_ranks_max:
        return HERE
    daemons = -(-ranks // daemon_ranks_max)
    hosts = tuple(f"part{number}" for number in range(daemons))
    return Spread(hosts=hosts, ranks_per_host=-(-ranks // daemons), pretended=True)


def _without_setting(library: Library, installed: Sequence[Library]) -> Library:
    """The library as it is installed, for which wrappers are compiled once."""
    name, _ = split_name(library.name)
    return next((plain for plain in installed if plain.name == name), library)


def surroundings() -> dict[str, str]:
    """The variables of this process without those of a job and of an allocation around it.

    All ranks are on this host, whatever job and rank of it this process is.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if not (is_of_job(name) or is_of_allocation(name))
    }


def error_of(stopped: Stopped, library: Library) -> NhalfError:
    """The error for a reason of the ranks."""
    if stopped.kind == "deadlock":
        return FailedError(f"deadlock: {stopped.reason}", "every rank waits for another")
    if stopped.kind in ("bypass", "unused"):
        return MissingError(f"{BYPASS}: {stopped.reason}", vendor_of(library).provider_needs)
    if stopped.kind == "inside":
        remedy = "place one rank on each node, e.g. --placement 16x1, or run it on a real machine"
        return MissingError(stopped.reason, remedy)
    if stopped.kind == "abort":
        return ProgramError(stopped.reason, stopped.exit_code)
    if stopped.kind == "memory":
        remedy = "let ranks receive earlier, or take a host with more memory (ulimit -v bounds it)"
        return MissingError(stopped.reason, remedy)
    return MissingError(stopped.reason, "run it on a real machine")

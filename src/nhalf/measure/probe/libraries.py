# SPDX-License-Identifier: Apache-2.0
"""The MPI libraries of a plan."""

from __future__ import annotations

from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.measure.plan.plan import Plan
from nhalf.mpi import Library, discover


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


def choices_in_words(plan: Plan) -> list[str]:
    """Describe which version each short name of a plan stands for, where there are others."""
    if plan.mpi in ([], ["all"]):
        return []
    prefixes = [Path(prefix) for prefix in plan.mpi_prefixes]
    requested = {discover.find(name, prefixes).name for name in plan.mpi}
    lines = []
    for name in plan.mpi:
        versions = [
            library.name
            for library in discover.other_versions(name, prefixes)
            if library.name not in requested
        ]
        if versions:
            chosen = discover.find(name, prefixes).name
            lines.append(
                f"{name} is {chosen}; to measure other versions as well: "
                f"--mpi {','.join([chosen, *versions])}"
            )
    return lines

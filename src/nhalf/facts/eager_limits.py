# SPDX-License-Identifier: Apache-2.0
"""The eager limit of a library as it names it itself, or as the environment sets it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nhalf.base.errors import InputError
from nhalf.base.units import parse_size

NEAR = 1.15
"""A limit may count the header of a message, which the sizes of messages do not."""
PREFIXES = {"OMPI_MCA_": "openmpi", "MPIR_CVAR_": "mpich", "MPICH_": "mpich", "I_MPI_": "intel",
            "UCX_": ""}  # fmt: skip
"""Beginnings of variables, and of the names of the libraries that read them ('' all)."""
WORDS = ("EAGER_LIMIT", "EAGER_MAX", "EAGER_THRESHOLD", "RNDV_THRESH")


@dataclass(frozen=True)
class EagerLimit:
    """A parameter of a library and its value; a longer message waits for its receiver."""

    parameter: str
    size_bytes: int

    def is_between(self, before_bytes: int, after_bytes: int) -> bool:
        """Whether times that change between two sizes may change because of it."""
        return before_bytes <= self.size_bytes * NEAR and self.size_bytes < after_bytes * NEAR


def eager_limits_of(environment: Mapping[str, Any], mpi: str) -> tuple[EagerLimit, ...]:
    """The limits of a library in the environment of a run; variables override the library's own."""
    recorded = environment.get("eager_limits")
    of_library = recorded.get(mpi, {}) if isinstance(recorded, Mapping) else {}
    limits = {name: int(size) for name, size in of_library.items()}
    for name, size_bytes in _variables(environment, mpi):
        limits = {own: size for own, size in limits.items() if not name.endswith(own)}
        limits[name] = size_bytes
    return tuple(EagerLimit(name, size) for name, size in limits.items())


def _variables(environment: Mapping[str, Any], mpi: str) -> Iterator[tuple[str, int]]:
    variables = environment.get("variables")
    for name, text in (variables if isinstance(variables, Mapping) else {}).items():
        prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), None)
        is_read = prefix is not None and mpi.startswith(PREFIXES[prefix])
        if is_read and any(word in name.upper() for word in WORDS):
            try:
                yield name, parse_size(str(text))
            except InputError:
                continue

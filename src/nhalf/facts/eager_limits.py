"""The eager limit of a library as it names it itself, or as the environment sets it."""

from __future__ import annotations

import re
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
SHARED_MEMORY = frozenset({"sm", "vader", "smcuda"})
"""Components of Open MPI for messages within a host."""
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


def limits_in_use(
    environment: Mapping[str, Any], mpi: str, placement: str
) -> tuple[EagerLimit, ...]:
    """The limits of the components that carry a curve's messages, as far as that is known.

    Within a host those of shared memory, unless OMPI_MCA_btl leaves it out; between hosts those of
    the network.
    """
    limits = eager_limits_of(environment, mpi)
    site = environment.get("site")
    hosts = site.get("hosts") if isinstance(site, Mapping) else None
    is_one_host = placement.startswith("same-") or (hosts is not None and len(hosts) < 2)
    if hosts is None and not is_one_host:
        return limits
    is_in_memory = is_one_host and not _leaves_out_memory(environment)
    return tuple(
        limit for limit in limits if _component(limit) is None or _is_memory(limit) is is_in_memory
    )


def _leaves_out_memory(environment: Mapping[str, Any]) -> bool:
    """Whether Open MPI was told to carry all messages over the network."""
    variables = environment.get("variables")
    text = str(variables.get("OMPI_MCA_btl", "")) if isinstance(variables, Mapping) else ""
    names = {name.strip() for name in text.removeprefix("^").split(",")} - {"", "self"}
    has_memory = bool(names & SHARED_MEMORY)
    return bool(names) and has_memory is text.startswith("^")


def _is_memory(limit: EagerLimit) -> bool:
    return _component(limit) in SHARED_MEMORY


def _component(limit: EagerLimit) -> str | None:
    """The component of Open MPI that has a limit; None of other libraries."""
    match = re.search(r"btl_([a-z0-9]+)_", limit.parameter)
    return match[1] if match else None


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

"""The eager limits that MPI libraries themselves name."""

from __future__ import annotations

from collections.abc import Iterable

from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.vendors import vendor_of


def eager_limits(libraries: Iterable[Library]) -> dict[str, dict[str, int]]:
    """Bytes by library and parameter; libraries that cannot be asked are left out."""
    limits: dict[str, dict[str, int]] = {}
    for library in libraries:
        try:
            of_library = vendor_of(library).eager_limits(library)
        except MissingError:
            continue
        if of_library:
            limits[library.name] = of_library
    return limits

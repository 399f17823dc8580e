# SPDX-License-Identifier: Apache-2.0
"""What a probe that is not compiled yet will say of itself, by one that is here."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from nhalf.base import native_files
from nhalf.base.describe import describe
from nhalf.base.errors import MissingError
from nhalf.mpi import discover
from nhalf.mpi.probe import ready_probe
from nhalf.mpi.transport_files import TransportFile

PROBES = ("probe-threads", "probe-model")
"""Probes that every installation has."""
PROGRAM = "npb-openmp"


def stand_in_description(transport: TransportFile) -> dict[str, Any]:
    """The description of the same probe on another library, else of one that has all patterns.

    Raises MissingError if neither is here.
    """
    for library in discover.libraries([]):
        with suppress(MissingError):
            path, _ = ready_probe(library, transport)
            if path:
                return describe([str(path)], library.environment)
    path = native_files.executable(PROGRAM) if transport.app else _probe()
    description = describe([str(path)])
    patterns = [{**pattern, "present": True} for pattern in description["patterns"]]
    return {**description, "transport": transport.name, "patterns": patterns}


def _probe() -> Path:
    for name in PROBES[:-1]:
        with suppress(MissingError):
            return native_files.executable(name)
    return native_files.executable(PROBES[-1])

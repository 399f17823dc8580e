"""Replacing parts of the library beneath a program: settings that preload a decision table.

A library under such a setting is measured beside the library as it is, launch by launch.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import InputError, unknown
from nhalf.base.folders import cache_folder, write_cached
from nhalf.measure.plan.setting import Setting
from nhalf.mpi import Library
from nhalf.mpi.decision_table import NATIVE, Rule, read_table, table_text
from nhalf.mpi.preload import preload
from nhalf.mpi.probe import probe_command
from nhalf.mpi.transport_files import TransportFile

SHARED_MEMORY = "shared-memory"
"""The barrier that the preloaded library has besides the algorithms."""
EVERY = (2, float("inf"), 0, float("inf"))
"""Limits of ranks and bytes of a rule that covers every call."""


def barrier_tables(names: Sequence[str]) -> list[Path]:
    """Return a decision table for each barrier except the library's own, which is always measured.

    Raises InputError for an unknown barrier.
    """
    folder = native_files.include_folder() / "algorithms/barrier"
    barriers = [NATIVE, SHARED_MEMORY, *(_name(path) for path in sorted(folder.glob("*.hpp")))]
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
    executable = Path(probe_command(library, program)[0])
    return preload(library, executable, table).variables


def _name(path: Path) -> str:
    return path.stem.replace("_", "-")


def _stored_table(barrier: str) -> Path:
    """Return the table of one barrier, written to the cache if it is not there."""
    text = table_text([Rule("barrier", *EVERY, barrier)])
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = cache_folder() / "tables" / digest / f"{barrier}.txt"
    if not path.is_file():
        write_cached(path, text)
    return path

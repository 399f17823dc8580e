# SPDX-License-Identifier: Apache-2.0
"""Parts of a program that are exchanged beneath it: settings that preload a decision table.

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
"""What the preloaded library has beside the algorithms."""
EVERY = (2, float("inf"), 0, float("inf"))
"""Numbers of ranks and bytes of a rule for every call."""


def barrier_tables(names: Sequence[str]) -> list[Path]:
    """A decision table for each barrier but the library's own, which is measured anyway.

    Raises InputError for an unknown one.
    """
    folder = native_files.include_folder() / "algorithms/barrier"
    known = [NATIVE, SHARED_MEMORY, *(_name(path) for path in sorted(folder.glob("*.hpp")))]
    for name in names:
        if name not in known:
            raise unknown("barrier", name, known)
    return [_kept(name) for name in names if name != NATIVE]


def exchanged(
    tables: Sequence[Path], program: TransportFile, libraries: Sequence[Library]
) -> list[Setting]:
    """A setting for every table and library, named as the table's file.

    Raises InputError for what is no table, MissingError if a library cannot be preloaded.
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


def _kept(barrier: str) -> Path:
    """The table of one barrier, where every run finds it again."""
    text = table_text([Rule("barrier", *EVERY, barrier)])
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = cache_folder() / "tables" / digest / f"{barrier}.txt"
    if not path.is_file():
        write_cached(path, text)
    return path

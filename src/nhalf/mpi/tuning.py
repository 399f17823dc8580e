# SPDX-License-Identifier: Apache-2.0
"""The tuner of a library: its vendor's, or nhalf's own preloaded table, which works with any.

The table selects the algorithms of native/algorithms, and flags in shared memory: libnhalf_coll.so
takes the calls before the library does. An algorithm is forced by a table of one rule.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import FailedError, InputError
from nhalf.base.folders import cache_folder, write_cached
from nhalf.machines.algorithms import algorithms
from nhalf.mpi import Library
from nhalf.mpi.decision_table import NATIVE, Rule, read_table, table_text
from nhalf.mpi.preload import preload
from nhalf.mpi.probe import probe_executable
from nhalf.mpi.tuner import Tuner, content
from nhalf.mpi.vendors import vendor_of

OWN = "nhalf"
"""The tuner for any library, through a preloaded library of nhalf."""
SHARED_MEMORY = "shared-memory"
OTHER_SIZES = ("reduce-scatter",)
"""Operations measured by the whole vector, while a table has one block."""


def tuner_for(library: Library, to: str = "") -> Tuner:
    """The tuner that writes `to`: 'nhalf', one of the library's file formats, or '' for its usual.

    Raises InputError for an unknown format, and for a library without tuning files.
    """
    tuner = OwnTable(library, "") if to == OWN else vendor_of(library).tuner(library, to)
    if tuner is None:
        raise InputError(
            f"{library.name} has no tuning file of its own", f"write a table with --to {OWN}"
        )
    return tuner


class OwnTable(Tuner):
    """The table of libnhalf_coll.so."""

    description: ClassVar[str] = "any library: nhalf's decision table, read by libnhalf_coll.so"
    forms: ClassVar[dict[str, str]] = {"table": "nhalf.table"}

    def algorithms(self, operation: str) -> list[str]:
        """The names of nhalf's algorithms, and shared memory."""
        names = [algorithm.name for algorithm in algorithms().get(operation, ())]
        return [*names, SHARED_MEMORY] if names and operation not in OTHER_SIZES else []

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variables of a table of these algorithms alone, which is cached."""
        rules = [
            Rule(operation, 0, math.inf, 0, math.inf, chosen[operation])
            for operation in sorted(chosen)
        ]
        text = table_text(rules)
        name = f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.table"
        return self.activate(write_cached(cache_folder() / "tables" / name, text))

    def text(self, rules: Sequence[Rule]) -> str:
        """The text of the table."""
        return table_text(rules)

    def read(self, path: Path) -> list[Rule]:
        """Read the table, whose algorithms have to be known."""
        content(path)
        try:
            rules = read_table(path)
        except InputError as error:
            raise FailedError(error.message, error.remedy) from None
        for rule in rules:
            if rule.algorithm not in (*self.algorithms(rule.operation), NATIVE):
                raise FailedError(
                    f"{path}: {rule.operation} has no algorithm {rule.algorithm!r}",
                    "nhalf run --algorithm all shows those that there are",
                )
        return rules

    def activate(self, path: Path) -> dict[str, str]:
        """The variables of the library to preload, and of its table."""
        return preload(self.library, probe_executable(self.library), path).variables

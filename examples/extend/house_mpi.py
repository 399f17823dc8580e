# SPDX-License-Identifier: Apache-2.0
"""An MPI library of one's own: its mpiexec, and the variable that chooses its broadcast."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.mpi import Library
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.job import MpiJob
from nhalf.mpi.tuner import Tuner, read_variables, variables_text
from nhalf.mpi.vendors import Vendor

BROADCAST = "HOUSE_BCAST"


class HouseMpi(Vendor):
    """House MPI, whose mpiexec places ranks itself."""

    title: ClassVar[str] = "House MPI"
    description: ClassVar[str] = "mpiexec of House MPI"
    launcher: ClassVar[str] = "house"
    compiler_variable: ClassVar[str] = "HOUSE_CXX"

    def version_in(self, text: str) -> str:
        """`mpiexec --version` says 'House MPI 3.1'."""
        match = re.search(r"House MPI (\d[\d.]*)", text)
        return match[1] if match else ""

    def tokens(self, job: MpiJob) -> list[str]:
        """`mpiexec -n N --pin cores COMMAND`."""
        pin = "cores" if job.bind else "none"
        return [str(job.mpiexec or "mpiexec"), "-n", str(job.ranks), "--pin", pin, *job.command]

    def variables(self, prefix: Path) -> dict[str, str]:
        """Its place."""
        return {"HOUSE_HOME": str(prefix)}

    def tuner(self, library: Library, form: str = "") -> Tuner:
        """One variable."""
        return HouseTuner(library, form)


class HouseTuner(Tuner):
    """A broadcast for all sizes and numbers of ranks."""

    description: ClassVar[str] = f"House MPI: the variable {BROADCAST}"
    forms: ClassVar[dict[str, str]] = {"variables": "house.env"}

    def algorithms(self, operation: str) -> list[str]:
        """Of broadcasts there are two."""
        return ["flat", "tree"] if operation == "bcast" else []

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variable."""
        return {BROADCAST: chosen["bcast"]} if "bcast" in chosen else {}

    def text(self, rules: Sequence[Rule]) -> str:
        """The algorithm of the first rule."""
        chosen = {rule.operation: rule.algorithm for rule in reversed(rules)}
        return variables_text(self.force(chosen), "source this file before mpiexec")

    def read(self, path: Path) -> list[Rule]:
        """One rule for everything."""
        inf = float("inf")
        return [Rule("bcast", 0, inf, 0, inf, name) for name in self.activate(path).values()]

    def activate(self, path: Path) -> dict[str, str]:
        """The variable, checked."""
        return read_variables(path, self._wrong)

    def _wrong(self, name: str, value: str) -> str:
        if name != BROADCAST:
            return f"{name} is no variable that chooses an algorithm"
        return "" if value in self.algorithms("bcast") else f"bcast has no algorithm {value!r}"

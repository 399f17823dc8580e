"""A library that is nowhere, and a tuner of two operations, whose file has a rule on each line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.mpi import Library
from nhalf.mpi.decision_table import Rule, read_table, table_text
from nhalf.mpi.tuner import Tuner
from nhalf.mpi.vendors import vendors

NOWHERE = "nowhere"
"""An algorithm that only variables can hold."""


class ListedTuner(Tuner):
    description: ClassVar[str] = "a table"
    forms: ClassVar[dict[str, str]] = {"table": "listed.rules", "variables": "listed.env"}

    def algorithms(self, operation: str) -> list[str]:
        names = {"barrier": ["ring", "tree"], "allreduce": ["ring", "tree", NOWHERE]}
        return names.get(operation, [])

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        return algorithm != "tree" or ranks != 3

    def writable(self, operation: str, algorithm: str) -> bool:
        return self.form == "variables" or algorithm != NOWHERE

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        return {f"FORCE_{name}": value for name, value in chosen.items()}

    def text(self, rules: Sequence[Rule]) -> str:
        return table_text(rules)

    def read(self, path: Path) -> list[Rule]:
        return read_table(path)

    def activate(self, path: Path) -> dict[str, str]:
        return {"RULES": str(path.resolve())}


def library(vendor: str, version: str = "5.0.2") -> Library:
    return Library(
        name=f"{vendor}-{version}",
        vendor=vendor,
        version=version,
        prefix=Path("/nowhere"),
        mpiexec=Path(f"/nowhere/{vendor}/mpiexec"),
        launcher=vendors()[vendor].launcher,
        abi=vendor != "openmpi",
        compiler=None,
        origin="prefix",
        environment={"LD_LIBRARY_PATH": f"/nowhere/{vendor}/lib"},
    )

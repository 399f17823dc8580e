"""Whole components of Open MPI's collectives that are off until they have a priority.

acoll (AMD Zen) and xhc (one copy within a node) come with Open MPI 6, sm is in older versions. One
that is switched on takes all sizes of all operations that it has, so that its file is one variable,
for which no single size may be slower.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from nhalf.base.errors import InputError, MissingError
from nhalf.mpi import Library, needs
from nhalf.mpi.affected import Affected
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.switch import LibrarySwitch
from nhalf.mpi.tuner import Tuner
from nhalf.mpi.tuning_files.variables import read_variables, variables_text

COMPONENTS = "components"
COMPONENTS_FILE = "openmpi.env"
OPERATIONS_OF = {
    "acoll": ("allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce"),
    "xhc": ("allreduce", "barrier", "bcast", "reduce"),
    "sm": ("allreduce", "barrier", "bcast", "reduce"),
}
"""Components by name, with the operations that they have: acoll.rst and xhc.rst of Open MPI's
documentation, coll/sm by the functions that libmpi of 5.0.11 has of it."""
SINCE_6 = ("acoll", "xhc")
FEWEST_RANKS = {"acoll": 16}
"""The communicators that a component takes: coll_acoll_comm_size_thresh."""
PRIORITY = "90"
"""Above that of every other component but that of single ranks."""
_VARIABLE = re.compile(r"OMPI_MCA_coll_(\w+)_priority")


def switched_off(values: Mapping[str, str]) -> list[str]:
    """The components that a library has and does not use, of the values of its parameters."""
    return [name for name in OPERATIONS_OF if values.get(_parameter(name)) == "0"]


def component_switches(values: Mapping[str, str]) -> Iterator[LibrarySwitch]:
    """The components as switches of a whole program."""
    for name in switched_off(values):
        yield LibrarySwitch(
            f"collectives by coll/{name}",
            f"the component {name} performs {', '.join(OPERATIONS_OF[name])}",
            {f"OMPI_MCA_{_parameter(name)}": PRIORITY},
            affected=Affected(operations=OPERATIONS_OF[name]),
            needs=needs.one_host,
            promise_share=0.1,
        )


class Components(Tuner):
    """The components of a library that are off; raises MissingError if it has none."""

    description: ClassVar[str] = "Open MPI: a component for all collectives that it has"
    forms: ClassVar[dict[str, str]] = {COMPONENTS: COMPONENTS_FILE}

    def __init__(self, library: Library, values: Mapping[str, str]) -> None:
        super().__init__(library, COMPONENTS)
        self._names = switched_off(values)
        absent = [f"coll/{name}" for name in SINCE_6 if _parameter(name) not in values]
        self.note = (
            f"{library.name} has no {' and no '.join(absent)}, which come with Open MPI 6"
            if absent
            else ""
        )
        if not self._names:
            raise MissingError(
                self.note or f"{library.name} has no component of collectives that is off",
                "leave out --to components",
            )

    def placed(self, nodes_of: Callable[[int], int], *, shares_memory: bool = True) -> Self:
        """The tuner for ranks of a node; raises InputError without shared memory."""
        if not shares_memory:
            raise InputError(
                "components of a node send no messages, so that they take no virtual time",
                "leave out --machine",
            )
        return super().placed(nodes_of)

    def algorithms(self, operation: str) -> list[str]:
        """The components that have an operation."""
        return [name for name in self._names if operation in OPERATIONS_OF[name]]

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Whether a component takes this many ranks, which share a node."""
        return self.nodes_of(ranks) == 1 and ranks >= FEWEST_RANKS.get(algorithm, 2)

    def stands_alone(self, algorithm: str) -> bool:
        """A component takes all operations that it has."""
        return True

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The priority of the components."""
        return {f"OMPI_MCA_{_parameter(name)}": PRIORITY for name in sorted(set(chosen.values()))}

    def expressible(self, rules: Sequence[Rule]) -> list[Rule]:
        """The most frequent component, for all ranks and sizes of the operations with rules."""
        names = [rule.algorithm for rule in rules]
        if not names:
            return []
        name = max(names, key=names.count)
        operations = dict.fromkeys(rule.operation for rule in rules if rule.algorithm == name)
        return [Rule(operation, 0, math.inf, 0, math.inf, name) for operation in operations]

    def text(self, rules: Sequence[Rule]) -> str:
        """The variable of the component of the first rule."""
        chosen = {rule.operation: rule.algorithm for rule in rules[:1]}
        return variables_text(self.force(chosen), "source this file before mpirun")

    def read(self, path: Path) -> list[Rule]:
        """The operations of the components that a file switches on."""
        matches = (_VARIABLE.fullmatch(name) for name in self.activate(path))
        return [
            Rule(operation, 0, math.inf, 0, math.inf, match[1])
            for match in matches
            if match
            for operation in OPERATIONS_OF[match[1]]
        ]

    def activate(self, path: Path) -> dict[str, str]:
        """The variables of the file."""
        return read_variables(path, self._wrong)

    def _wrong(self, name: str, value: str) -> str:
        match = _VARIABLE.fullmatch(name)
        if match is None or match[1] not in self._names:
            return f"{name} switches no component of {self.library.name} on"
        return "" if value.isdigit() and int(value) > 0 else f"{name} is no priority above 0"


def _parameter(name: str) -> str:
    return f"coll_{name}_priority"

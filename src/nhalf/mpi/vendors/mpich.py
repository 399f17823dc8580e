# SPDX-License-Identifier: Apache-2.0
"""MPICH: its mpiexec is Hydra's; an algorithm per operation by variables, or a tree as JSON.

The variables' names and choices are asked of `mpivars`. The tree that the library decides by is
part of the library itself, as text; a file replaces all of it, and a call that finds no algorithm
in it ends the program, so a written tree is the library's own with tests put before it.

On one node CH4 answers some operations by shared memory of its own before either is asked: for
the operations that are decided here it is told not to, for the others it stays as it is.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import FailedError, MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.hydra import Hydra
from nhalf.mpi.tuner import Tuner, content
from nhalf.mpi.tuning_files.mpich_tree import PLAIN, check_tree, decided, own_tree, tree_text
from nhalf.mpi.tuning_files.steps import call_of
from nhalf.mpi.tuning_files.variables import read_variables, variables_text
from nhalf.mpi.vendors import Wheel

ASK_TIMEOUT_S = 20.0
OPERATIONS = (
    *("allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce"),
    *("reduce-scatter", "scan", "scatter"),
)
NOT_HERE = ("auto", "ccl", "smp")
"""The library's own choice, what needs a library of another maker, and a division over hosts that
the own choice makes where there are several and that is an error where there are not."""
NEEDS_COUNT = ("reduce_scatter_allgather", "reduce_scatter_gather")
"""Need an element for every rank, which even the library's own start does not give them."""
POWER_OF_TWO = ("recursive_doubling", "recursive_halving", "scatter_recursive_doubling_allgather")
"""Algorithms that some operations have for these numbers of ranks only."""
ANY_RANKS = ("allreduce", "scan", "reduce-scatter", "barrier")
"""Operations whose algorithms of these names take any number."""
STRICT = {"MPIR_CVAR_COLLECTIVE_FALLBACK": "error", "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll"}
"""An algorithm that does not fit is an error, not another one silently."""
TREE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
PMI = "MPIR_CVAR_PMI_VERSION"
PMI_VERSIONS = {"": "1", "pmi2": "1", "pmix": "x"}
"""Its values by process management, first Hydra's. Slurm's plug-in of PMI-2 serves clients of PMI-1
as well, and MPICH 5.0.2 fails as a client of PMI-2 there."""
_CHOICE = re.compile(r"^\s*([a-z0-9_]+)\s+- ")


class Mpich(Hydra):
    """MPICH, and what was made from it and does not say so."""

    title: ClassVar[str] = "MPICH"
    turn: ClassVar[int] = 9
    wheel: ClassVar[Wheel | None] = Wheel("mpich", "5.0.2")
    compiler_variable: ClassVar[str] = "MPICH_CXX"
    # The wheel keeps the transports that it loads at start in their own folder.
    folders: ClassVar[tuple[str, ...]] = ("lib/mpich",)

    def version_in(self, text: str) -> str:
        """Hydra's version is MPICH's."""
        found = re.search(r"HYDRA build details:.*?^\s*Version:\s+(\S+)", text, re.S | re.M)
        return found[1].rstrip(".") if found else ""

    def variables_under(self, launcher: str, pmi: str) -> dict[str, str]:
        """Which process management counts, where variables of two may reach the ranks.

        MPICH 5 ends where it finds both PMI_SIZE and PMIX_NAMESPACE. Slurm gives PMIx's to what it
        starts, such as the shell of a job or Hydra's proxies, and both hand them on.
        """
        by_hand = os.environ.get(PMI) or pmi not in PMI_VERSIONS or (launcher and not pmi)
        marks = ["PMI_SIZE" if pmi == "pmix" else "PMIX_NAMESPACE"]
        marks += [] if launcher else ["SLURM_JOB_ID"]
        if by_hand or not any(name in os.environ for name in marks):
            return {}
        return {PMI: PMI_VERSIONS[pmi]}

    def tuner(self, library: Library, form: str = "") -> Tuner:
        """The device CH4's algorithms."""
        return Ch4(library, form)


class Ch4(Tuner):
    """MPICH with device CH4."""

    what: ClassVar[str] = "MPICH: its tree of tests as JSON, or one algorithm for each operation"
    forms: ClassVar[dict[str, str]] = {"json": "mpich-tree.json", "variables": "mpich.env"}

    def algorithms(self, operation: str) -> list[str]:
        """Names as mpivars has them."""
        if operation not in OPERATIONS:
            return []
        return _choices(self.library).get(_key(operation), [])

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Some are for powers of two only."""
        power = ranks & (ranks - 1) == 0
        return power or operation in ANY_RANKS or algorithm not in POWER_OF_TWO

    def writable(self, operation: str, algorithm: str) -> bool:
        """The tree takes algorithms without parameters."""
        return self.form == "variables" or algorithm in PLAIN

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variable of each operation, which the device must leave alone."""
        named = {f"MPIR_CVAR_{_key(name)}_INTRA_ALGORITHM": chosen[name] for name in chosen}
        lenient = set(chosen.values()) & set(NEEDS_COUNT)
        fallback = {"MPIR_CVAR_COLLECTIVE_FALLBACK": "silent"} if lenient else {}
        return {**named, **_device(chosen), **fallback}

    def text(self, rules: Sequence[Rule]) -> str:
        """A tree; as variables the algorithm that most rules of an operation name."""
        if self.form == "json":
            return tree_text(own_tree(self.library.prefix), rules)
        chosen = {}
        for operation in OPERATIONS:
            names = [rule.algorithm for rule in rules if rule.operation == operation]
            if names:
                chosen[operation] = max(names, key=names.count)
        return variables_text(self.force(chosen), "source this file before mpiexec")

    def text_with(self, path: Path, rule: Rule) -> str:
        """The tree of a file with one more test before it; variables take the rule's algorithm."""
        if _is_tree(path):
            tree = check_tree(path, content(path), own_tree(self.library.prefix))
            return tree_text(tree, [rule])
        variables = {**self._variables(path), **self.force({rule.operation: rule.algorithm})}
        return variables_text(variables, "source this file before mpiexec")

    def read(self, path: Path) -> list[Rule]:
        """Checks a file; the rules are those that variables stand for, none of a tree."""
        if _is_tree(path):
            check_tree(path, content(path), own_tree(self.library.prefix))
            return []
        variables = self._variables(path)
        own = {f"MPIR_CVAR_{_key(name)}_INTRA_ALGORITHM": name for name in OPERATIONS}
        return [
            Rule(own[name], 0, float("inf"), 0, float("inf"), variables[name])
            for name in variables
            if name in own
        ]

    def operations_in(self, path: Path) -> list[str]:
        """Those on which a tree says something else than the library's own."""
        if not _is_tree(path):
            return super().operations_in(path)
        base = own_tree(self.library.prefix)
        return decided(check_tree(path, content(path), base), base, OPERATIONS)

    def activate(self, path: Path) -> dict[str, str]:
        """The tree's variable and those that keep the device away, or the variables themselves."""
        if not _is_tree(path):
            return self._variables(path)
        base = own_tree(self.library.prefix)
        tree = check_tree(path, content(path), base)
        return {TREE: str(Path(path).resolve()), **_device(decided(tree, base, OPERATIONS))}

    def _variables(self, path: Path) -> dict[str, str]:
        return read_variables(path, self._wrong)

    def _wrong(self, name: str, value: str) -> str:
        """The error in a variable, '' if it is valid."""
        for operation in OPERATIONS:
            if name == f"MPIR_CVAR_{_key(operation)}_INTRA_ALGORITHM":
                known = [*self.algorithms(operation), "auto"]
                return "" if value in known else f"{operation} has no algorithm {value!r}"
            if name == f"MPIR_CVAR_{_key(operation)}_DEVICE_COLLECTIVE":
                return "" if value in ("0", "1") else f"{name} is 0 or 1"
        return "" if name in STRICT else f"{name} is no variable that chooses an algorithm"


def _device(operations: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """The variables that keep the device away from these operations."""
    off = {f"MPIR_CVAR_{_key(name)}_DEVICE_COLLECTIVE": "0" for name in operations}
    return {**STRICT, **off}


def _is_tree(path: Path) -> bool:
    return content(path).lstrip().startswith(("{", "["))


def _key(operation: str) -> str:
    return call_of(operation).upper()


def _choices(library: Library) -> dict[str, list[str]]:
    command = library.prefix / "bin" / "mpivars"
    return _asked(str(command), tuple(sorted(library.environment.items())))


@functools.cache
def _asked(command: str, environment: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    outcome = run([command], ASK_TIMEOUT_S, dict(environment))
    if not outcome.succeeded:
        raise MissingError(f"{command} does not tell its algorithms: {outcome.reason}")
    found = parse_choices(outcome.stdout)
    if not found:
        raise FailedError(f"{command} names no algorithm", "run it to see what it prints")
    return found


def parse_choices(text: str) -> dict[str, list[str]]:
    """The algorithms of each operation, from what mpivars printed."""
    found: dict[str, list[str]] = {}
    own: list[str] | None = None
    for line in text.splitlines():
        match = re.match(r"\s*MPIR_CVAR_(\w+)_INTRA_ALGORITHM\s*[=:]", line)
        if match:
            own = found.setdefault(match[1], [])
        elif line.lstrip().startswith("MPIR_CVAR_"):
            own = None
        elif own is not None and (choice := _CHOICE.match(line)) and choice[1] not in NOT_HERE:
            own.append(choice[1])
    return {name: names for name, names in found.items() if names}

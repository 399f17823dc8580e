"""Open MPI's components, as ompi_info lists them, and the transports that they are.

acoll (AMD Zen) and xhc (one copy within a node) come with Open MPI 6, sm is in older versions. One
that is switched on takes all sizes of all operations that it has, so that its file is one variable,
for which no single size may be slower.
"""

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from nhalf.base.errors import InputError, MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library, switch
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.switch import Affected, LibrarySwitch
from nhalf.mpi.tuner import Tuner, read_variables, variables_text

PREFIX = "OMPI_MCA_"
SHARED_MEMORY = ("sm", "vader")
"""The transports within a host, by their names in versions 5 and 4."""
_LIMIT = re.compile(r"btl_(\w+?)_eager_limit")


def parameters_of(words: Sequence[str], variables: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a launch: `--mca NAME VALUE` takes precedence over variables."""
    parameters = {
        name.removeprefix(PREFIX): value
        for name, value in variables.items()
        if name.startswith(PREFIX)
    }
    for place, word in enumerate(words[:-2]):
        if word in ("--mca", "-mca", "--gmca", "-gmca"):
            parameters[words[place + 1]] = words[place + 2]
    return parameters


def limits_in_use(
    limits: Mapping[str, int], parameters: Mapping[str, str], *, is_on_one_host: bool
) -> dict[str, int]:
    """The eager limits of transports that can carry messages.

    Without a choice by `btl` the shared memory of a host takes precedence within it. Where another
    layer than ob1 sends (`pml`), no limit of a btl counts.
    """
    if parameters.get("pml", "ob1") != "ob1":
        return {}
    names = [match[1] for limit in limits if (match := _LIMIT.fullmatch(limit))]
    allowed = _allowed(names, parameters.get("btl", ""))
    shared = [name for name in allowed if name in SHARED_MEMORY]
    in_use = shared if shared and is_on_one_host else allowed
    return {
        limit: limit_bytes
        for limit, limit_bytes in limits.items()
        if not (match := _LIMIT.fullmatch(limit)) or match[1] in in_use
    }


def _allowed(names: Iterable[str], chosen: str) -> list[str]:
    """The transports that `btl` allows: those of a list, or all but those behind a ^."""
    words = {word.strip() for word in chosen.removeprefix("^").split(",") if word.strip()}
    words |= set(SHARED_MEMORY) if words & set(SHARED_MEMORY) else set()
    if not words:
        return list(names)
    is_excluded = chosen.startswith("^")
    return [name for name in names if (name in words) != is_excluded]


ASK_TIMEOUT_S = 20.0


@functools.cache
def _printed(command: str, environment: tuple[tuple[str, str], ...], framework: str) -> str:
    words = [command, "--parsable", "--level", "9", "--param", framework, "all"]
    outcome = run(words, ASK_TIMEOUT_S, dict(environment))
    if not outcome.succeeded:
        raise MissingError(f"{command} does not tell its parameters: {outcome.reason}")
    return outcome.stdout


def printed(library: Library, framework: str) -> str:
    """The parameters of a framework; raises MissingError if ompi_info is not available."""
    command = library.prefix / "bin" / "ompi_info"
    return _printed(str(command), tuple(sorted(library.environment.items())), framework)


def parse_eager_limits(text: str) -> dict[str, int]:
    """Parse the limits of transports between ranks in the output of `ompi_info --parsable`.

    Version 5 calls its transport sm, and lists the name that it had in version 4 as well.
    """
    limit = re.compile(r"^mca:btl:(\w+):param:(btl_\1_eager_limit):value:(\d+)$", re.MULTILINE)
    limits = limit.findall(text)
    former = {"vader"} if any(transport == "sm" for transport, _, _ in limits) else set()
    return {
        name: int(size)
        for transport, name, size in limits
        if transport not in {"self", *former} and int(size)
    }


def parse_parameters(text: str) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """Parse the output of `ompi_info --parsable` into values of parameters by name, and
    numbers of algorithms of coll/tuned by operation and name.
    """
    values: dict[str, str] = {}
    choices: dict[str, dict[str, int]] = {}
    of_algorithm = re.compile(r"coll_tuned_(\w+)_algorithm")
    for line in text.splitlines():
        words = line.split(":")
        if len(words) < 7 or words[:2] != ["mca", "coll"] or words[3] != "param":
            continue
        name = words[4]
        if words[5] == "value":
            values[name] = words[6]
        match = of_algorithm.fullmatch(name)
        if match and words[5:7] == ["enumerator", "value"] and len(words) == 9:
            choices.setdefault(match[1], {})[words[8]] = int(words[7])
    return values, choices


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
            needs=switch.one_host,
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

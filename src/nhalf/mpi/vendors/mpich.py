"""MPICH: its mpiexec is Hydra's; an algorithm per operation by variables, or a tree as JSON.

`mpivars` lists the control variables of MPI_T with their values and choices. The library's decision
tree is part of the library itself, as text; a file replaces all of it, and a call that finds no
algorithm in it aborts the program, so a written tree is the library's own with tests put before it.

On one node CH4 performs some operations by its own shared memory before either applies: for the
operations that are decided here this is disabled, for the others it stays unchanged.
"""

import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import FailedError, MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library, switch
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.hydra import OPERATIONS, Hydra, key_of
from nhalf.mpi.job import is_of_job
from nhalf.mpi.surroundings import can_read_neighbours
from nhalf.mpi.switch import Affected, LibrarySwitch
from nhalf.mpi.tuner import (
    OwnFile,
    Reach,
    Tuner,
    content,
    problem_of,
    read_variables,
    variables_text,
)
from nhalf.mpi.tuning_files.mpich_tree import (
    COMPOSITIONS_VARIABLE,
    NEEDS_COUNT,
    PLAIN,
    POSIX_VARIABLE,
    VARIABLE,
    Tree,
    check_tree,
    decided,
    names_in,
    own_tree,
    tree_text,
)
from nhalf.mpi.vendors import Wheel

ASK_TIMEOUT_S = 20.0
NOT_HERE = ("auto", "ccl", "smp")
"""Choices that are not offered: the library's own choice, one that needs another vendor's library,
and a division over hosts, which the own choice includes and which is an error on a single host."""
POWER_OF_TWO = ("recursive_doubling", "recursive_halving", "scatter_recursive_doubling_allgather")
"""Algorithms that some operations have for powers of two of ranks only."""
ANY_RANKS = ("allreduce", "scan", "reduce-scatter", "barrier")
"""Operations whose algorithms of these names take any number of ranks."""
FALLBACK, DEVICE = "MPIR_CVAR_COLLECTIVE_FALLBACK", "MPIR_CVAR_DEVICE_COLLECTIVES"
STRICT = {FALLBACK: "error", DEVICE: "percoll"}
"""Variables that make an unsuitable algorithm an error instead of a silent replacement."""
OF_DEVICE = "it is for the collectives of the device"
PMI = "MPIR_CVAR_PMI_VERSION"
PMI_VERSIONS = {"": "1", "pmi2": "1", "pmix": "x"}
"""Values of `PMI` by process management, first Hydra's. Slurm's plug-in of PMI-2 serves clients of
PMI-1 as well, and MPICH 5.0.2 fails as a client of PMI-2 there."""
CELL = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"
"""Longer messages do not fit into a cell of the queue between two ranks, with a header of about
80 bytes."""
CELLS = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS"
COPY = "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD"
"""From this size on the receiver reads the sender's memory, where it may."""
COPIES = "MPIR_CVAR_CH4_CMA_ENABLE"
PROGRESS = "MPIR_CVAR_ASYNC_PROGRESS"
EAGER_LIMITS = {
    "ch4": (CELL, COPY, "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD"),
    "ch3": ("MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ", "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE"),
}
"""The limits of each device; a library has variables of both."""
SWITCHES = (
    switch.bound_by_options("-bind-to", "core"),
    switch.unbound_by_options("-bind-to", "none", needs=switch.bound_ranks),
    switch.progress_thread({PROGRESS: "1"}),
    # The thread of 5.0.2 has parts of a message copied meanwhile, but hardly what the kernel
    # copies as a whole.
    switch.progress_thread(
        {PROGRESS: "1", COPIES: "0"},
        "a thread of each rank moves data while it computes, in parts through shared memory",
        needs=switch.one_host,
        how=" in parts",
        promise_share=0.4,
    ),
    LibrarySwitch(
        "collectives without the device",
        "collectives within the host go by messages instead of memory of their own",
        {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"},
        affected=Affected(operations=("barrier", "bcast", "reduce", "allreduce")),
        promise_share=0.05,
    ),
    LibrarySwitch(
        "network by libfabric",
        "messages to other hosts go by libfabric",
        {"MPIR_CVAR_CH4_NETMOD": "ofi"},
        needs=switch.several_hosts,
    ),
    LibrarySwitch(
        "network by UCX",
        "messages to other hosts go by UCX",
        {"MPIR_CVAR_CH4_NETMOD": "ucx"},
        needs=switch.several_hosts,
    ),
)
_CHOICE = re.compile(r"^\s*([a-z0-9_]+)\s+- ")


class Mpich(Hydra):
    """MPICH, and derived libraries that do not identify themselves."""

    title: ClassVar[str] = "MPICH"
    # Hydra's version is MPICH's.
    version_text: ClassVar[re.Pattern[str]] = re.compile(
        r"HYDRA build details:.*?^\s*Version:\s+(\S+)", re.S | re.M
    )
    turn: ClassVar[int] = 9
    wheel: ClassVar[Wheel | None] = Wheel("mpich", "5.0.2")
    compiler_variable: ClassVar[str] = "MPICH_CXX"
    settings: ClassVar[tuple[str, ...]] = ("MPIR_CVAR_", "MPICH_ASYNC", "MPICH_NEMESIS")
    needed_settings: ClassVar[tuple[str, ...]] = ("MPIR_CVAR_PMI", "MPIR_CVAR_DEBUG")
    # The wheel keeps the transports that it loads at start in their own folder.
    folders: ClassVar[tuple[str, ...]] = ("lib/mpich",)

    # Its own shared memory would read the buffers on the host.
    gpu_settings: ClassVar[Mapping[str, str]] = {
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ucx",
    }
    gpu_over_ucx: ClassVar[bool] = True

    in_batch: ClassVar[Mapping[str, str]] = {PMI: PMI_VERSIONS[""]}

    # Ranks ask for addresses all at once. Hydra and its proxy write to each other without reading:
    # if more questions and answers are on their way than the kernel keeps, both wait for ever.
    daemon_ranks_max: ClassVar[int] = 128
    virtual_segment_bytes: ClassVar[int] = 32768
    # It takes shared memory to ranks of its node, and has no setting against that.
    knows_virtual_nodes: ClassVar[bool] = False
    no_virtual_shared_memory: ClassVar[str] = (
        "MPI_Init of MPICH would not end: ranks would wait in shared memory for one of their node "
        "that waits for them in virtual time"
    )
    virtual_rank_start_s: ClassVar[float] = 0.025
    provider_needs: ClassVar[str] = (
        "it needs device ch4 with netmod ofi, and MPIR_CVAR_NOLOCAL=1 against shared memory"
    )

    def variables_under(self, launcher: str, pmi: str) -> dict[str, str]:
        """The variable that selects a process management if those of two may reach the ranks.

        MPICH 5 aborts if it finds both PMI_SIZE and PMIX_NAMESPACE. Slurm sets PMIx's variables in
        the shell of a job and in Hydra's proxies, and both pass them on.
        """
        by_hand = os.environ.get(PMI) or pmi not in PMI_VERSIONS or (launcher and not pmi)
        marks = ["PMI_SIZE" if pmi == "pmix" else "PMIX_NAMESPACE"]
        marks += [] if launcher else ["SLURM_JOB_ID"]
        if by_hand or not any(name in os.environ for name in marks):
            return {}
        return {PMI: PMI_VERSIONS[pmi]}

    def over_provider(
        self, library: Library, provider: str, installed: Sequence[Library]
    ) -> dict[str, str]:
        """The netmod of libfabric instead of UCX, and every rank as if it were on its own host."""
        return {
            "MPIR_CVAR_CH4_NETMOD": "ofi",
            "MPIR_CVAR_NOLOCAL": "1",
            # Each rank has a queue for neighbours nevertheless; of 64 cells it takes 1 MiB, and
            # /dev/shm has 64 MiB in many containers.
            CELLS: "1",
        }

    def switches(self, library: Library) -> Sequence[LibrarySwitch]:
        """Binding, collectives, and the other way over a network."""
        return SWITCHES

    def eager_limits(self, library: Library) -> dict[str, int]:
        """The limits of the library's device between ranks; the environment's where it sets them.

        Raises MissingError if mpivars does not answer.
        """
        text, device_text = (_printed(library, command) for command in ("mpivars", "mpichversion"))
        limits = parse_eager_limits(text, device_text)
        if not can_read_neighbours():
            limits.pop(COPY, None)
        return limits

    def tuner(self, library: Library, form: str = "") -> Tuner:
        """The tuner of the device CH4."""
        return Ch4(library, form)


class Ch4(Tuner):
    """MPICH with device CH4."""

    description: ClassVar[str] = (
        "MPICH: its tree of tests as JSON, or one algorithm for each operation"
    )
    forms: ClassVar[dict[str, str]] = {"json": "mpich-tree.json", "variables": "mpich.env"}

    def reach(self, operation: str, algorithm: str) -> Reach:
        """All sizes of an operation, for which the device's own memory is not used any more."""
        return "operations"

    def algorithms(self, operation: str) -> list[str]:
        """The names of an operation's algorithms in mpivars."""
        if operation not in OPERATIONS:
            return []
        choices = parse_choices(_printed(self.library, "mpivars"))
        if not choices:
            command = self.library.prefix / "bin" / "mpivars"
            raise FailedError(f"{command} names no algorithm", "run it to see what it prints")
        return choices.get(key_of(operation), [])

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Whether an algorithm works with this many ranks: some need powers of two."""
        power = ranks & (ranks - 1) == 0
        return power or operation in ANY_RANKS or algorithm not in POWER_OF_TWO

    def writable(self, operation: str, algorithm: str) -> bool:
        """Whether the form can express an algorithm: the tree has those without parameters."""
        return self.form == "variables" or algorithm in PLAIN

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variable of each operation, and those that disable the device for it."""
        algorithms = {f"MPIR_CVAR_{key_of(name)}_INTRA_ALGORITHM": chosen[name] for name in chosen}
        lenient = set(chosen.values()) & set(NEEDS_COUNT)
        fallback = {"MPIR_CVAR_COLLECTIVE_FALLBACK": "silent"} if lenient else {}
        return {**algorithms, **_device(chosen), **fallback}

    def text(self, rules: Sequence[Rule]) -> str:
        """The text of a tree, or variables with the most frequent algorithm of each operation."""
        if self.form == "json":
            return tree_text(self._own_tree(), rules)
        chosen = {}
        for operation in OPERATIONS:
            names = [rule.algorithm for rule in rules if rule.operation == operation]
            if names:
                chosen[operation] = max(names, key=names.count)
        return variables_text(self.force(chosen), "source this file before mpiexec")

    def text_with(self, path: Path, rule: Rule) -> str:
        """The text of a tree with one more test first, or of variables with another algorithm."""
        if _is_tree(path):
            return tree_text(check_tree(path, content(path), self._own_tree()), [rule])
        variables = {**self._variables(path), **self.force({rule.operation: rule.algorithm})}
        return variables_text(variables, "source this file before mpiexec")

    def read(self, path: Path) -> list[Rule]:
        """Check a file; returns the rules of variables, none of a tree."""
        if _is_tree(path):
            check_tree(path, content(path), self._own_tree())
            return []
        variables = self._variables(path)
        own = {f"MPIR_CVAR_{key_of(name)}_INTRA_ALGORITHM": name for name in OPERATIONS}
        return [
            Rule(own[name], 0, float("inf"), 0, float("inf"), variables[name])
            for name in variables
            if name in own
        ]

    def operations_in(self, path: Path) -> list[str]:
        """The operations on which a tree differs from the library's own."""
        if not _is_tree(path):
            return super().operations_in(path)
        base = self._own_tree()
        return decided(check_tree(path, content(path), base), base, OPERATIONS)

    def activate(self, path: Path) -> dict[str, str]:
        """The tree's variable and those that disable the device, or the file's variables."""
        if not _is_tree(path):
            return self._variables(path)
        base = self._own_tree()
        tree = check_tree(path, content(path), base)
        return {VARIABLE: str(Path(path).resolve()), **_device(decided(tree, base, OPERATIONS))}

    def own_files(self, environment: Mapping[str, str]) -> list[OwnFile]:
        """The tree, and those of the device, which rules cannot be in."""
        tree = environment.get(VARIABLE, "")
        files = [problem_of(Path(tree), lambda: self._tree_in(Path(tree)))] if tree else []
        return files + [
            OwnFile(Path(environment[name]), OF_DEVICE)
            for name in (COMPOSITIONS_VARIABLE, POSIX_VARIABLE)
            if environment.get(name)
        ]

    def extend(
        self, path: Path, rules: Sequence[Rule], environment: Mapping[str, str]
    ) -> dict[str, str]:
        """The launch's own tree with tests before it, and its variables for what they decide.

        What those set for other operations stays, and so does what an unsuitable algorithm means.
        """
        own = self._own_tree()
        tree = self._tree_in(Path(environment[VARIABLE]))
        text = tree_text(tree, rules, names_in(own))
        check_tree(path, text, own)
        path.write_text(text, "utf-8")
        off = _device([rule.operation for rule in rules])
        del off[FALLBACK]
        if environment.get(DEVICE) == "none":
            off = {}
        return {VARIABLE: str(path.resolve()), **off}

    def _tree_in(self, path: Path) -> Tree:
        return check_tree(path, content(path), self._own_tree())

    def _own_tree(self) -> Tree:
        return own_tree(self.library.prefix, self.library.name)

    def _variables(self, path: Path) -> dict[str, str]:
        return read_variables(path, self._wrong)

    def _wrong(self, name: str, value: str) -> str:
        """The error in a variable, '' if it is valid."""
        for operation in OPERATIONS:
            if name == f"MPIR_CVAR_{key_of(operation)}_INTRA_ALGORITHM":
                values = [*self.algorithms(operation), "auto"]
                return "" if value in values else f"{operation} has no algorithm {value!r}"
            if name == f"MPIR_CVAR_{key_of(operation)}_DEVICE_COLLECTIVE":
                return "" if value in ("0", "1") else f"{name} is 0 or 1"
        return "" if name in STRICT else f"{name} is no variable that chooses an algorithm"


def _device(operations: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """The variables that disable the device for these operations."""
    off = {f"MPIR_CVAR_{key_of(name)}_DEVICE_COLLECTIVE": "0" for name in operations}
    return {**STRICT, **off}


def _is_tree(path: Path) -> bool:
    return content(path).lstrip().startswith(("{", "["))


def _printed(library: Library, name: str) -> str:
    """What a program of the library prints; raises MissingError if it fails."""
    command = str(library.prefix / "bin" / name)
    inherited = {key: text for key, text in os.environ.items() if key.startswith("MPIR_CVAR_")}
    return _printed_by(command, tuple(sorted({**inherited, **library.environment}.items())))


@functools.cache
def _printed_by(command: str, environment: tuple[tuple[str, str], ...]) -> str:
    # It starts MPI: a tracer would take it for the program, and a launcher for one of its ranks.
    of_job = [word for name in os.environ if is_of_job(name) for word in ("-u", name)]
    alone = {**dict(environment), "LD_PRELOAD": ""}
    outcome = run(["env", *of_job, command], ASK_TIMEOUT_S, alone)
    if not outcome.succeeded:
        raise MissingError(f"{command} does not answer: {outcome.reason}")
    return outcome.stdout


def parse_eager_limits(text: str, version_text: str) -> dict[str, int]:
    """Parse the limits in the output of mpivars; `mpichversion` names the device that has them.

    Variables of 0 and below leave the choice to the library. The copy by CMA may be disabled.
    """
    device = re.search(r"^MPICH Device:\s+(ch\d)", version_text, re.MULTILINE)
    printed = re.findall(r"^\s*(MPIR_CVAR_\w+)\s*=(-?\d+)\s", text, re.MULTILINE)
    values = {name: int(value) for name, value in printed}
    names = EAGER_LIMITS.get(device[1], ()) if device else ()
    limits = {name: values[name] for name in names if values.get(name, 0) > 0}
    if not values.get(COPIES):
        limits.pop(COPY, None)
    return limits


def parse_choices(text: str) -> dict[str, list[str]]:
    """The algorithms of each operation in the output of mpivars."""
    choices: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        match = re.match(r"\s*MPIR_CVAR_(\w+)_INTRA_ALGORITHM\s*[=:]", line)
        if match:
            current = choices.setdefault(match[1], [])
        elif line.lstrip().startswith("MPIR_CVAR_"):
            current = None
        elif current is not None and (choice := _CHOICE.match(line)) and choice[1] not in NOT_HERE:
            current.append(choice[1])
    return {name: names for name, names in choices.items() if names}

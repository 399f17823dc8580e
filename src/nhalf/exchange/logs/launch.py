"""Command lines of launchers in a log: how many ranks they start, where that is understood.

Only what stands before the started program counts. `:` separates programs, whose ranks add up.

Headings that name the library of a table and the test, as Spack does: mpich@4.1%gcc osu_bw.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_SPEC = re.compile(
    r"\s*((openmpi|mpich|mvapich2?|intel-oneapi-mpi|intel-mpi|cray-mpich|hpcx)@(\d[\w.]{0,20})"
    r"\S{0,200})\s+osu_\w+\s*$"
)


@dataclass(frozen=True)
class Heading:
    """The library in nhalf's words, and the whole specification, with how it was built."""

    mpi: str
    spec: str


def heading_of(line: str) -> Heading | None:
    """The heading in a line; None if it is none."""
    match = _SPEC.match(line[:400]) if "@" in line else None
    if match is None:
        return None
    name = "intel" if match[2].startswith("intel") else match[2]
    return Heading(f"{name}-{match[3].rstrip('.')}", match[1])


RANKS_MOST = 1 << 20

_COUNT: Mapping[str, Sequence[str]] = {
    "mpirun": ("-np", "-n", "--np", "--n", "-c"),
    "mpiexec": ("-np", "-n", "--np", "--n", "-c"),
    "srun": ("-n", "--ntasks"),
    "aprun": ("-n", "--pes"),
    "jsrun": ("-p", "--np"),
    "lrun": ("-n",),
    "ibrun": ("-n", "-np"),
    "flux": ("-n", "--ntasks"),
    "poe": ("-procs", "-n"),
    "ccc_mprun": ("-n",),
    "torchrun": (),
}
"""By launcher: options with the number of all ranks."""
_NODES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "srun": (("-N", "--nodes"), ("--ntasks-per-node", "--tasks-per-node")),
    "flux": (("-N", "--nodes"), ("--tasks-per-node",)),
    "lrun": (("-N",), ("-T",)),
    "ccc_mprun": (("-N",), ()),
    "torchrun": (("--nnodes",), ("--nproc_per_node", "--nproc-per-node")),
}
"""By launcher: options with the number of nodes, and of the ranks on each."""
_PER_NODE: Mapping[str, Sequence[str]] = {
    "mpirun": ("-N", "-npernode", "--npernode", "-ppn", "-perhost"),
    "mpiexec": ("-N", "-npernode", "--npernode", "-ppn", "-perhost"),
    "aprun": ("-N",),
}
_SAME = {
    "mpirun_rsh": "mpirun", "orterun": "mpirun", "prterun": "mpirun", "prun": "mpirun",
    "oshrun": "mpirun", "shmemrun": "mpirun", "mpiexec_mpt": "mpiexec",
}  # fmt: skip
_JOINED = ("-n", "-N", "-p", "-a", "-np", "-c", "-T")
"""Options whose number may follow without a blank, as in -n9."""
_LAUNCHER = re.compile(
    r"(?:^|[\s/'\"`(])(mpirun_rsh|mpiexec_mpt|(?:mpirun|mpiexec)(?:[.-][a-z0-9.]{1,20})?|orterun|"
    r"prterun|prun|oshrun|shmemrun|srun|aprun|jsrun|lrun|ibrun|flux|poe|ccc_mprun|torchrun)(?=\s)"
)
_NAMES = ("mpi", "run", "flux", "poe")
"""One of them is in every launcher's name: most lines have none."""
_PROGRAM = re.compile(
    r"osu_\w+|IMB-\w+|PMB-\w+|NP[a-z]{2,10}|\w+_perf(?:_mpi)?|mpiGraph|mpibenchmark|hpcc|b_eff\w*|"
    r"ucx_perftest|ib_\w+|network_(?:load_)?test|NetPIPE|python\d?"
)
_TWO_VALUES = ("mca", "gmca", "omca", "prtemca", "pmixmca", "genv", "env")
_PATH_OPTIONS = (
    *("hostfile", "machinefile", "f", "wdir", "wd", "chdir", "D", "o", "output", "e", "error"),
    *("rankfile", "rf", "prefix", "path", "tune", "x", "configfile", "multi-prog", "i", "input"),
    *("output-filename", "am", "default-hostfile", "H", "U", "E", "export", "host", "w"),
)
"""Options whose value may have a slash."""
_FLUX = ("run", "submit", "mini", "batch", "alloc")
COMMAND_MOST = 4000


@dataclass(frozen=True)
class LoggedLaunch:
    """A launcher's command: its ranks and those of a node, 0 if it does not say; the program.

    `words` are those that make it another measurement, if they differ.
    """

    text: str
    ranks: int = 0
    per_node: int = 0
    program: str = ""
    words: tuple[str, ...] = ()


def launch_of(line: str) -> LoggedLaunch | None:
    """The launcher's command in a line; None if there is none."""
    if not any(name in line for name in _NAMES):
        return None
    begin = _LAUNCHER.search(line[:COMMAND_MOST])
    if begin is None:
        return None
    arguments = line[begin.end() : COMMAND_MOST].split()
    launcher = _known(begin[1])
    if launcher == "flux" and (not arguments or arguments[0] not in _FLUX):
        return None
    if launcher == "flux":
        arguments = arguments[2:] if arguments[0] == "mini" else arguments[1:]
    if not _is_command(arguments):
        return None
    apps = list(_programs(arguments))
    counts = [_ranks(launcher, _before_program(app)) for app in apps]
    ranks = sum(counts) if all(counts) else 0
    names = _PER_NODE.get(launcher, _NODES.get(launcher, ((), ()))[1])
    per_node = max((_number(_before_program(app), names) for app in apps), default=0)
    environment = [word for word in line[: begin.start()].split() if re.match(r"[A-Z]\w*=", word)]
    return LoggedLaunch(
        line.strip()[:200],
        ranks if ranks <= RANKS_MOST else 0,
        per_node,
        next((name for app in apps if (name := _program(app))), ""),
        (*environment, *_telling(launcher, arguments)),
    )


def _known(name: str) -> str:
    base = name if name in _SAME else re.split(r"[.-]", name)[0]
    return _SAME.get(base, base)


def _is_command(arguments: Sequence[str]) -> bool:
    """Whether words after a launcher's name are its arguments, and not a sentence about it."""
    return bool(arguments) and any(
        (word.startswith("-") and len(word) > 1) or "/" in word or _PROGRAM.fullmatch(word)
        for word in arguments[:3]
    )


def _programs(words: Sequence[str]) -> Iterator[list[str]]:
    """The arguments of each program of a command, up to a redirection or a second command."""
    app: list[str] = []
    for word in words:
        if word in ("|", ">", ">>", "2>&1", "&", "&&", ";", "||") or word.startswith((">", "2>")):
            break
        if word == ":":
            yield app
            app = []
        else:
            app.append(word.strip("'\"`"))
    yield app


def _place(words: Sequence[str]) -> int:
    """Where the program is: a known one, or the first word that is no option's value."""
    values = 0
    for place, word in enumerate(words):
        if word.startswith("-"):
            values = 0 if "=" in word else 2 if word.lstrip("-") in _TWO_VALUES else 1
            continue
        is_path = "/" in word and words[place - 1].lstrip("-") not in _PATH_OPTIONS
        if is_path or not values or _PROGRAM.fullmatch(word.rpartition("/")[2]):
            return place
        values -= 1
    return len(words)


def _before_program(words: Sequence[str]) -> list[str]:
    return list(words[: _place(words)])


def _program(words: Sequence[str]) -> str:
    place = _place(words)
    return words[place].rpartition("/")[2] if place < len(words) else ""


def _ranks(launcher: str, words: Sequence[str]) -> int:
    """The ranks of one program; 0 if the command does not say."""
    if count := _number(words, _COUNT[launcher]):
        return count
    if launcher == "jsrun":
        sets = _number(words, ("-n", "--nrs"))
        return sets * (_number(words, ("-a", "--tasks_per_rs")) or 1)
    nodes, per_node = _NODES.get(launcher, ((), ()))
    return _number(words, nodes) * _number(words, per_node)


def _number(words: Sequence[str], names: Sequence[str]) -> int:
    """The value of the first of these options that is there, if it is a number; else 0."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        text = value if equals else following
        if name not in names:
            joined = next((n for n in names if n in _JOINED and word.startswith(n)), "")
            text = word[len(joined) :]
            if not joined or not text.isdecimal():
                continue
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else 0
    return 0


_OF_PLACES = (
    *("-np", "-n", "--np", "--n", "-c", "--ntasks", "-N", "--nodes", "--ntasks-per-node"),
    *("--tasks-per-node", "-ppn", "-perhost", "-npernode", "--npernode", "-a", "-p", "--nrs"),
    *("-H", "-host", "--host", "-hosts", "--hosts", "-hostfile", "--hostfile", "-machinefile"),
    *("--machinefile", "-f", "-w", "--nodelist", "-x", "--exclude", "-t", "--time", "-A"),
    *("--account", "--partition", "-J", "--job-name", "--jobid", "-o", "--output", "-e"),
    *("--error", "-q", "--qos", "--reservation", "-cpus-per-task", "--cpus-per-task"),
)
"""Options that say how many and where, for whom and for how long."""
_OF_OPEN_MPI = ("-x",)


def _telling(launcher: str, arguments: Sequence[str]) -> Iterator[str]:
    """The words of a command but for numbers of ranks, hosts, jobs and files."""
    skips = False
    for app in _programs(arguments):
        place = _place(app)
        for number, word in enumerate(app):
            name = word.partition("=")[0]
            is_place = name in _OF_PLACES and not (
                name in _OF_OPEN_MPI and launcher in ("mpirun", "mpiexec")
            )
            is_joined = any(word.startswith(n) and word[len(n) :].isdecimal() for n in _JOINED)
            if number < place and (skips or is_place or is_joined):
                skips = is_place and not skips and "=" not in word
                continue
            skips = False
            yield word.rpartition("/")[2] if "/" in word and not word.startswith("-") else word

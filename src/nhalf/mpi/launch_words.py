"""The words of launchers and of small scripts that start one program.

Names, options that take values and options that set variables are from the launchers' own help and
manuals: Hydra 5.0 and that of Intel MPI 2021, prterun 3 and orterun 4 of Open MPI, srun 22 to 25.
Options that place ranks leave the hosts, and how many there are, as the launch has them.

A script sets variables and starts one program, and is read without running it:

    #!/bin/sh
    export FI_PROVIDER=tcp
    mpiexec -n 4 ./program input

What a shell would do beyond that (pipes, conditions, modules, several commands) is refused: nhalf
starts the program itself, in other mixtures of variables and options.
"""

import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.base.errors import InputError
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
        (), _each("machine ranks placement mpi computing noise seed inside timeout")
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


SIZE_BYTES_MAX = 1 << 20
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_BEYOND = re.compile(r"[|&;<>`()]|\$\(|\\$")
_QUOTED_DOLLAR = re.compile(r"'[^']*\$[^']*'")
_NOTHING = ("set", "shopt", ":", "true", "echo", "exit")
"""Words whose lines change nothing that is timed, or cannot be switched."""
REMEDY = (
    "a script may set variables and start one program; give another command with --a 'COMMAND' "
    "or --b 'COMMAND'"
)


@dataclass(frozen=True)
class LaunchScript:
    """The command that a script starts, its environment, and the folder where it does."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path


def read_script(path: Path, environment: Mapping[str, str] | None = None) -> LaunchScript:
    """Read a script; the environment is this process's if none is given.

    Raises InputError for a file that cannot be read, and for what only a shell can do.
    """
    try:
        if path.stat().st_size > SIZE_BYTES_MAX:
            raise InputError(f"{path} is too large for a script", REMEDY)
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"{path} cannot be read: {reason}") from error
    return parse_script(text, str(path), environment)


def parse_script(
    text: str, name: str, environment: Mapping[str, str] | None = None
) -> LaunchScript:
    """Read the text of a script, or a command line; `name` is how errors call it."""
    reader = _Reader(name, dict(os.environ if environment is None else environment))
    for number, line in enumerate(text.replace("\\\n", " ").splitlines(), 1):
        reader.read(line.strip(), number)
    if not reader.command:
        raise InputError(f"{name} starts no program", REMEDY)
    return LaunchScript(tuple(reader.command), reader.environment, reader.folder)


class _Reader:
    """Reads line after line."""

    def __init__(self, name: str, environment: dict[str, str]) -> None:
        self.environment = environment
        self.command: list[str] = []
        self.folder = Path.cwd()
        self._name = name
        self._variables: dict[str, str] = {}

    def read(self, line: str, number: int) -> None:
        """Read a line; raises InputError for one that only a shell can run."""
        words = self._words(line, number)
        if not words or words[0] in _NOTHING:
            return
        if self.command:
            raise self._beyond(number, "starts more than one program")
        if words[0] == "export":
            self._set(words[1:], self.environment, number)
        elif words[0] == "unset":
            for name in words[1:]:
                self.environment.pop(name, None)
        elif words[0] == "cd" and len(words) == 2:
            self.folder = (self.folder / words[1]).resolve()
        elif all(_ASSIGNMENT.fullmatch(word) for word in words):
            self._assign(words)
        else:
            self._start(words)

    def _words(self, line: str, number: int) -> list[str]:
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise self._beyond(number, str(error).lower()) from error
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", line) if words else ""
        if _BEYOND.search(bare.partition(" #")[0]) or "$(" in line or _QUOTED_DOLLAR.search(line):
            raise self._beyond(number, "needs a shell")
        return [self._expanded(word, number) for word in words if word not in ('"$@"', "$@")]

    def _expanded(self, word: str, number: int) -> str:
        """A word with the values of its variables, which are empty where they are not set."""
        values = {**self.environment, **self._variables}
        text = _VARIABLE.sub(lambda match: values.get(match[1] or match[2], ""), word)
        if "${" in word and _VARIABLE.sub("", word).find("${") >= 0:
            raise self._beyond(number, "needs a shell")
        return text

    def _set(self, words: list[str], variables: dict[str, str], number: int) -> None:
        for word in words:
            name, equals, value = word.partition("=")
            if not equals:
                value = self._variables.get(name, self.environment.get(name, ""))
            if not _ASSIGNMENT.fullmatch(f"{name}="):
                raise self._beyond(number, f"sets {name!r}, which is no name of a variable")
            variables[name] = value

    def _assign(self, words: list[str]) -> None:
        """Set variables of the shell, or of the environment where they are exported already."""
        for word in words:
            name, _, value = word.partition("=")
            place = self.environment if name in self.environment else self._variables
            place[name] = value

    def _start(self, words: list[str]) -> None:
        """Note the command with the assignments before it."""
        while words and (match := _ASSIGNMENT.fullmatch(words[0])):
            self.environment[match[1]] = match[2]
            words = words[1:]
        self.command = words[1:] if words[0] in ("exec", "command") and words[1:] else words

    def _beyond(self, number: int, why: str) -> InputError:
        return InputError(f"line {number} of {self._name} {why}", REMEDY)

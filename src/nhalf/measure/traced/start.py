"""Start a command whose MPI calls are counted, with delays as if a network or rank were slower."""

import math
import os
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import msgspec

from nhalf.base import native_files
from nhalf.base.errors import InputError, MissingError, Terminated, unknown
from nhalf.base.files import write_bytes
from nhalf.base.launch.launch import Launch, unheard_mark
from nhalf.base.printable import say
from nhalf.base.units import number_in, parse_share, parse_time
from nhalf.measure.traced.layout import refuse_inside
from nhalf.measure.traced.tables import DESCRIPTION
from nhalf.mpi import Library
from nhalf.mpi.discover import find, libraries, newest
from nhalf.mpi.preload import (
    ABI,
    CLASSIC,
    Preloaded,
    abi_library,
    content_of,
    handles_in,
    own_library,
    program_named,
    sanitizer_variables,
)
from nhalf.mpi.surroundings import libraries_of_launcher

TRACE = Preloaded(
    *("library that traces", "libnhalf_trace.so", "trace", "trace/trace.cpp"),
    further={"trace/shared_calls.cpp": ("-O1",)},
)
NAME, TRY = "nhalf", "try"
TRIED_WITH = "mpich"
"""What `nhalf try` takes where none is named."""
_SEPARATORS = " \t\n:"


@dataclass(frozen=True)
class Tracing:
    """How a command is traced.

    `libraries` are preloaded into its programs, `names` are the MPI libraries that they serve, and
    `lacking` lists which programs cannot be traced, and why.
    """

    libraries: list[Path]
    names: str
    lacking: list[str]


def tracing_libraries(command: Sequence[str]) -> Tracing:
    """Return the libraries to preload into a command's programs.

    An MPI launcher or `nhalf try` determines the MPI library, and the program's file its kind of
    handles; otherwise one library for each kind of handles is preloaded, and all but the right one
    pass calls on. Raises MissingError if there is none.
    """
    installed = libraries()
    chosen = library_of_trial(command) or libraries_of_launcher(command[0], installed)
    chosen = chosen or newest(installed)
    if not chosen:
        raise MissingError("no MPI library was found", "install one: nhalf mpi install mpich")
    # One library for all with equal handles: compiled by one that is served, else by the newest.
    makers = [*chosen, *newest(installed), *installed]
    linked = kinds_of_handles(command)
    paths: dict[Path, None] = {}
    problems: dict[str, MissingError] = {}
    for library in chosen:
        own = f"programs built with the own header of {library.name}"
        for handles, served in ((ABI, "programs of the MPI standard ABI"), (CLASSIC, own)):
            is_standard = handles == ABI
            if (linked and handles not in linked) or (is_standard and not library.abi):
                continue
            try:
                path = (abi_library if is_standard else own_library)(library, makers, TRACE)
                paths[path] = None
            except MissingError as error:
                problems[served] = error
    if not paths and problems:
        raise next(iter(problems.values()))
    for path in paths:
        _check_place(path)
    lacking = [f"{served} cannot be traced: {error}" for served, error in problems.items()]
    return Tracing(list(paths), ", ".join(library.name for library in chosen), lacking)


def _check_place(path: Path) -> None:
    """Raises MissingError for a file that LD_PRELOAD cannot name."""
    if any(mark in str(path) for mark in _SEPARATORS):
        raise MissingError(
            f"LD_PRELOAD takes no file in a folder with blanks or colons: {path}",
            f"set {native_files.VARIABLE} or XDG_CACHE_HOME to another folder",
        )


def library_of_trial(command: Sequence[str]) -> list[Library]:
    """The library of `nhalf try`, if that is the command. Raises InputError if there is none."""
    words = list(command)
    if "--" in words:
        words = words[: words.index("--")]
    if Path(words[0]).name != NAME and words[2:3] != [NAME]:
        return []
    if TRY not in words:
        return []
    options = words[words.index(TRY) :]
    library_names = [word.partition("=")[2] for word in options if word.startswith("--mpi=")]
    library_names += [value for word, value in pairwise(options) if word == "--mpi"]
    return [find(library_names[-1] if library_names else TRIED_WITH)]


def kinds_of_handles(command: Sequence[str]) -> set[bytes]:
    """Return the kinds of handles that the programs of a command use; empty if unknown."""
    contents = (content_of(program_named(word)) for word in command[1:])
    return {kind for content in contents for kind in handles_in(content)}


VARIABLE = "NHALF_TRACE_INJECT"
TIMES = {"latency": "latency_s", "overhead": "overhead_s", "byte": "byte_s"}
NOISE, SLOW_RANK = "noise", "slow-rank"
NAMES = (*TIMES, NOISE, SLOW_RANK)
FORMS = "latency=5us, overhead=2us, byte=1ns, noise=1% or slow-rank=3:1.1"
FACTOR_MAX = 1000.0


@dataclass(frozen=True)
class Injection:
    """What is injected, by the names that the tracer reads; only into messages from and to some
    ranks, or completed by some calls, where such are named.
    """

    added: Mapping[str, float] = field(default_factory=dict)
    source_ranks: tuple[int, ...] = ()
    target_ranks: tuple[int, ...] = ()
    calls: tuple[str, ...] = ()

    @property
    def is_on_network(self) -> bool:
        """Whether messages are delayed."""
        return any(name in self.added for name in TIMES.values())

    @property
    def is_of_all_messages(self) -> bool:
        """Whether none are chosen."""
        return not (self.source_ranks or self.target_ranks or self.calls)

    def variable(self) -> str:
        """The value of VARIABLE; '' without anything to inject."""
        words = [f"{name}={amount!r}" for name, amount in self.added.items()]
        lists: dict[str, Sequence[object]] = {
            "from": self.source_ranks,
            "to": self.target_ranks,
            "calls": self.calls,
        }
        words += [f"{name}={','.join(map(str, some))}" for name, some in lists.items() if some]
        return " ".join(words) if self.added else ""


def parse_injection(
    texts: Sequence[str], calls: str = "", source_ranks: str = "", target_ranks: str = ""
) -> Injection:
    """What is to be injected; raises InputError for a text that says nothing, and for ranks or
    calls without a delay of messages.
    """
    amounts: dict[str, float] = {}
    for text in texts:
        amounts |= _amounts(text)
    injection = Injection(
        amounts,
        _ranks(source_ranks, "--from"),
        _ranks(target_ranks, "--to"),
        tuple(filter(None, (word.strip() for word in calls.split(",")))),
    )
    if (calls or source_ranks or target_ranks) and not injection.is_on_network:
        raise InputError(
            "--calls, --from and --to choose messages that are delayed",
            "name the delay: --inject latency=5us",
        )
    for call in injection.calls:
        if not call.startswith("MPI_"):
            raise InputError(f"{call} is no call of MPI", "write --calls MPI_Recv,MPI_Wait")
    return injection


def _amounts(text: str) -> dict[str, float]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise InputError(f"--inject {text!r} injects nothing", f"write {FORMS}")
    if name in TIMES:
        return {TIMES[name]: parse_time(value)}
    if name == NOISE:
        return {"noise_share": parse_share(value)}
    if name != SLOW_RANK:
        raise unknown("delay", name, NAMES)
    rank, _, factor = value.partition(":")
    share = _factor(factor) - 1
    if not rank.isdecimal():
        raise InputError(f"--inject {text} names no rank", f"write {FORMS}")
    return {"slow_rank": int(rank), "slow_share": share}


def _factor(text: str) -> float:
    """How many times as long a rank computes; a tracer can only make it slower."""
    factor = number_in(text)
    if not 1 < factor <= FACTOR_MAX:
        raise InputError(
            f"a rank cannot be made {text or 'so'} times as slow",
            f"give a factor above 1, {FACTOR_MAX:.0f} at most: slow-rank=3:1.1",
        )
    return factor


def _ranks(text: str, option: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isdecimal() for word in words):
        raise InputError(f"{option} {text} are no ranks", f"write {option} 0,3")
    return tuple(map(int, words))


RANKS = "ranks"
"""The folder for the files of ranks, below that of the trace."""
STARTED = "started.json"
DETAILS = ("counts", "timeline")
PRELOAD = "LD_PRELOAD"
TERMINATED_S = 30.0
"""How long a command may take to write what it has when it is to end, as in a job under Slurm."""
REMEDY = "give the command after --"
NOTHING = Injection()
_OPTIONS = ("-env", "-genv", "--env")


class StartedCommand(msgspec.Struct):
    """The started command, recorded before it runs.

    `lacking` lists which programs could not be traced, and why.
    """

    command: list[str]
    library: str
    detail: str
    begin_ns: int
    lacking: list[str] = []


def start(
    command: Sequence[str],
    folder: Path,
    detail: str,
    injection: Injection = NOTHING,
    *,
    asks_library: bool = True,
) -> int:
    """Run a command with its ranks writing below a folder; return its exit code. What is injected
    makes it slower. At its end the library is asked what it says of itself if `asks_library`.

    Raises InputError for a folder that already holds a trace or a command that does not exist,
    MissingError if no library can trace it or the folder cannot be made.
    """
    if detail not in DETAILS:
        raise InputError(f"there is no detail {detail!r}", f"give one of {', '.join(DETAILS)}")
    refuse_inside()
    # Preparing a library may take a minute: check first what can be checked at once.
    if shutil.which(command[0]) is None:
        raise InputError(f"cannot start {command[0]}: there is no such program", REMEDY)
    ranks = folder_of_ranks(folder)
    tracing = tracing_libraries(command)
    for line in tracing.lacking:
        say(line)
    began = StartedCommand(list(command), tracing.names, detail, time.time_ns(), tracing.lacking)
    write_bytes(folder / STARTED, msgspec.json.encode(began))
    loaded = ":".join(map(str, tracing.libraries))
    variables = {
        PRELOAD: _before(loaded, os.environ.get(PRELOAD, "")),
        **sanitizer_variables(os.environ),
        "NHALF_TRACE_FOLDER": str(ranks.resolve()),
        "NHALF_TRACE_DETAIL": detail,
        "NHALF_TRACE_BEGIN_NS": str(began.begin_ns),
    }
    if injection.added:
        variables[VARIABLE] = injection.variable()
    if not asks_library:
        variables["NHALF_TRACE_MPI_T"] = "no"
    return _run(with_preload(command, loaded), variables)


def with_preload(command: Sequence[str], loaded: str) -> list[str]:
    """Return the command with the libraries put first wherever it sets LD_PRELOAD itself."""
    words = list(command)
    for name, first in ((PRELOAD, loaded), *sanitizer_variables({}).items()):
        for at, word in enumerate(words):
            if word.startswith(f"{name}="):
                words[at] = f"{name}={_before(first, word.partition('=')[2])}"
            elif word == name and at > 0 and words[at - 1] in _OPTIONS and at + 1 < len(words):
                words[at + 1] = _before(first, words[at + 1])
    return words


def _before(loaded: str, present: str) -> str:
    return f"{loaded}:{present}" if present else loaded


def folder_of_ranks(folder: Path) -> Path:
    """Make the folder for ranks. Raises InputError for one that holds files of ranks already,
    MissingError if it cannot be made.
    """
    ranks = folder / RANKS
    if ranks.exists() or (folder / DESCRIPTION).exists():
        raise InputError(f"{folder} holds a trace or counters already", "choose another --out")
    try:
        ranks.mkdir(parents=True)
    except OSError as error:
        raise MissingError(
            f"ranks cannot write into {folder}: {error.strerror}",
            "choose another folder with --out",
        ) from error
    return ranks


def _run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run a command; return its exit code as shells do: 128 plus the signal if it was killed."""
    surroundings = {**os.environ, **variables}
    try:
        launch = Launch(command, surroundings, mark=unheard_mark(), keeps_terminal=True)
    except OSError as error:
        raise InputError(f"cannot start {command[0]}: {error.strerror}", REMEDY) from error
    with launch:
        try:
            launch.wait()
        except KeyboardInterrupt as error:
            # The command is interrupted as well and may still write its results; a further Ctrl-C
            # ends it.
            launch.send_signal(signal.SIGTERM)
            launch.wait(TERMINATED_S if isinstance(error, Terminated) else math.inf)
    return launch.exit_code

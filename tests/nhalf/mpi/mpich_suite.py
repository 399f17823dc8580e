"""MPICH's own tests, from Debian's source package: what is in them, and how they are compiled."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.base.processes import ProgramOutcome, run
from tests.patience import patience_s

PACKAGE = "mpich"
TIMEOUT_S = 120.0
RANKS_MAX = 10
THREADS = "-DMTEST_USE_THREAD"
FOLDERS = (
    *("coll", "comm", "datatype", "threads/coll", "threads/comm"),
    *("errors/coll", "errors/comm", "errors/datatype", "errors/group", "errors/pt2pt"),
)
ROUTED = re.compile(
    r"\bM(?:PI|Test)_(Barrier|Bcast|Reduce|Allreduce|Allgather|Alltoall|Gather|Scatter|Scan"
    r"|Reduce_scatter_block)\b"
)
WRONG_CALLS = re.compile(r"noalias\d?|\w+length")
"""Programs that alias buffers or give lengths that differ, and expect the library to find it."""
CONFIGURED = (
    *("HAVE_STDARG_H", "HAVE_STDINT_H", "HAVE_STDLIB_H", "HAVE_STRING_H", "HAVE_UNISTD_H"),
    *("HAVE_INTTYPES_H", "HAVE_SYS_TIME_H", "HAVE_SYS_TYPES_H", "HAVE_SYS_STAT_H"),
    *("HAVE_LONG_LONG", "HAVE_LONG_DOUBLE", "HAVE__BOOL", "HAVE_FLOAT__COMPLEX"),
    *("HAVE_DOUBLE__COMPLEX", "HAVE_LONG_DOUBLE__COMPLEX", "HAVE_PTHREAD_H", "HAVE_USLEEP"),
    *("HAVE_STRDUP", "HAVE_LIMITS_H", "HAVE_MEMSET", "STDC_HEADERS", "HAVE_MPI_WIN_CREATE"),
)
"""What its own configuration would find on any Linux."""


@dataclass(frozen=True)
class Case:
    """A line of a list of tests: a program, and how it is started."""

    source: Path
    ranks: int
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        folder = self.source.parent.name
        return " ".join([f"{folder}/{self.source.stem}", str(self.ranks), *self.arguments])


class Absent(Exception):
    """The tests cannot be had here, or not be compiled."""


def sources(folder: Path) -> Path:
    """The folder of the tests, from a source package that is fetched. Raises Absent."""
    if shutil.which("apt-get") is None:
        raise Absent("there is no apt-get")
    for name in ("lists/partial", "source"):
        (folder / name).mkdir(parents=True)
    listed = folder / "sources.list"
    listed.write_text("\n".join(_source_lines()) + "\n")
    own = [f"Dir::Etc::SourceList={listed}", "Dir::Etc::SourceParts=-"]
    own += [f"Dir::State::Lists={folder / 'lists'}"]
    apt = ["apt-get", "-qq", *(word for option in own for word in ("-o", option))]
    fetch = shlex.join([*apt, "source", "--download-only", PACKAGE])
    _do([*apt, "update"])
    _do(["sh", "-c", f"cd {shlex.quote(str(folder / 'source'))} && {fetch}"])
    archive = next((folder / "source").glob("*.orig.tar.*"), None)
    if archive is None:
        raise Absent("the source package has no archive")
    _do(["tar", "-C", str(folder), "-xf", str(archive), "--wildcards", "*/test/mpi/*"])
    return next(folder.glob("*/test/mpi"))


def _source_lines() -> list[str]:
    """Where this machine's packages come from, as places of source packages."""
    form = "$(REPO_URI) $(CODENAME) $(COMPONENT)"
    outcome = _do(["apt-get", "indextargets", "--format", form, "Created-By: Packages"])
    places = dict.fromkeys(line for line in outcome.stdout.splitlines() if line.count(" ") == 2)
    keys = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    signed = f"[signed-by={keys}] " if keys.is_file() else ""
    return [f"deb-src {signed}{place}" for place in places]


def _do(command: list[str]) -> ProgramOutcome:
    outcome = run(command, patience_s(TIMEOUT_S))
    if not outcome.succeeded:
        raise Absent(outcome.reason)
    return outcome


def cases(
    suite: Path, folders: Sequence[str] = FOLDERS, calls: re.Pattern[str] = ROUTED
) -> list[Case]:
    """The tests on few ranks of folders that make some calls: those of routed operations."""
    return [one for folder in folders for one in _listed(suite / folder, calls)]


def _listed(folder: Path, calls: re.Pattern[str]) -> Iterator[Case]:
    lists = (folder / name for name in ("testlist", "testlist.in"))
    text = next(path for path in lists if path.is_file()).read_text()
    for line in dict.fromkeys(text.splitlines()):
        words = line.split()
        if len(words) < 2 or words[0].startswith(("#", "@")):
            continue
        path = folder / f"{words[0]}.c"
        told = [word.partition("=")[::2] for word in words[2:]]
        variables = dict(value.split("=", 1) for name, value in told if name == "env")
        if WRONG_CALLS.fullmatch(words[0]):
            continue
        starts = any(name == "mpiexecarg" for name, _ in told)
        few = 1 < int(words[1]) <= RANKS_MAX
        if few and not starts and path.is_file() and calls.search(path.read_text()):
            arguments = tuple(value for name, value in told if name == "arg")
            yield Case(path, int(words[1]), arguments, variables)


def compiled(
    suite: Path, wanted: Sequence[Case], wrapper: Path, variables: dict[str, str], to: Path
) -> dict[Path, Path]:
    """The programs by their sources, for one library; those that do not compile are left out.

    Raises Absent if none does.
    """
    beside = to / "include"  # where "../" is looked for from
    beside.mkdir(parents=True)
    defined = "".join(f"#define {name} 1\n" for name in CONFIGURED)
    (to / "mpitestconf.h").write_text(f"{defined}#define THREAD_PACKAGE_NAME 2\n")
    (to / "dtpoolsconf.h").write_text(defined)
    places = [to, beside, suite / "include", suite / "dtpools/include", suite / "util"]
    command = [str(wrapper), "-w", "-O0", *(f"-I{place}" for place in places)]
    make = Compiler(command, variables, to)
    beside_all = ("mtest.c", "mtest_common.c", "dtypes.c")
    parts = [suite / "util" / name for name in beside_all]
    parts += sorted((suite / "dtpools/src").glob("*.c"))
    single = make.objects([*parts, suite / "util/mtest_single.c"], "-DSINGLE")
    threads = make.objects([*parts, suite / "util/mtest_thread.c"], THREADS)

    def program(source: Path) -> tuple[Path, Path | None]:
        own = [THREADS, *threads] if "threads" in source.parts else single
        return source, make.program(source, own)

    with ThreadPoolExecutor(2) as pool:
        sources = dict.fromkeys(one.source for one in wanted)
        return {source: made for source, made in pool.map(program, sources) if made}


@dataclass(frozen=True)
class Compiler:
    """What compiles for one library, into a folder."""

    command: list[str]
    variables: dict[str, str]
    folder: Path

    def objects(self, sources: list[Path], flag: str) -> list[str]:
        """What every test is linked with. Raises Absent if that does not compile."""
        made = [self.folder / f"{source.stem}{flag}.o" for source in sources]
        for source, path in zip(sources, made, strict=True):
            words = [*self.command, flag, "-c", str(source), "-o", str(path)]
            outcome = run(words, patience_s(TIMEOUT_S), self.variables)
            if not outcome.succeeded:
                raise Absent(f"{source.name} does not compile: {outcome.reason}")
        return [str(path) for path in made]

    def program(self, source: Path, words: list[str]) -> Path | None:
        """A test; None if it does not compile."""
        path = self.folder / f"{source.parent.name}-{source.stem}"
        command = [*self.command, *words, str(source), "-o", str(path), "-lm", "-lpthread"]
        return path if run(command, patience_s(TIMEOUT_S), self.variables).succeeded else None

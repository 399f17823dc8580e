"""A C file after the preprocessor, with own headers, so that no C library is needed.

Headers that are not there are empty: what needs them is refused where it stands.
"""

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.launch.survivor import Survivor
from nhalf.base.processes import ProgramOutcome, run
from nhalf.loops.source.refusal import RefusedSource

HEADERS = Path(__file__).parent / "headers"
COMPILERS = ("gcc", "clang", "cc")
TIMEOUT_S = 20.0
MISSING_MAX = 200
"""After this many headers that are not there the file is refused."""
MACROS = (
    *("__attribute__(x)=", "__extension__=", "__restrict=restrict", "__restrict__=restrict"),
    *("__inline=inline", "__inline__=inline", "__const=const", "__volatile__=volatile"),
    *("__signed__=signed", "__alignof__=sizeof", "__builtin_expect(x,y)=(x)"),
    *("_Pragma(x)=", "__declspec(x)=", "__forceinline=inline"),
)
"""Extensions of GNU C, defined away or as words of the standard."""
_NOT_THERE = re.compile(r"fatal error: '?([^\s':]+)'?(?::| file not found)")


@dataclass(frozen=True)
class HeaderSearch:
    """Where headers are looked for, and macros: what a user gives with -I and -D."""

    folders: tuple[Path, ...] = ()
    macros: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preprocessed:
    """The text with line markers, and the headers that were not there, the first at a line."""

    text: str
    missing_headers: tuple[str, ...] = ()
    missing_line: int = 0

    @property
    def remedy(self) -> str:
        """What a user can do about missing headers; '' if there are none."""
        if not self.missing_headers:
            return ""
        return f"give the folder of its headers with -I (not there: {self._listed})"

    @property
    def _listed(self) -> str:
        names = self.missing_headers
        return ", ".join(names[:4]) + (" and others" if len(names) > 4 else "")


def preprocessed(path: Path, search: HeaderSearch | None = None) -> Preprocessed:
    """Preprocess a file; raises RefusedSource if that is not possible."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RefusedSource(f"it cannot be read: {error.strerror or error}") from None
    if b"\0" in content:
        raise RefusedSource("it is not a text file", remedy="name a C source")
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise MissingError(
            "there is no compiler to preprocess C", f"install one of {', '.join(COMPILERS)}"
        )
    with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-headers-")) as folder:
        # Deep, so that ../x.h is inside as well.
        return _with_empty_headers(
            compiler, path, search or HeaderSearch(), Path(folder, "a/b/c/d")
        )


def _with_empty_headers(
    compiler: str, path: Path, search: HeaderSearch, folder: Path
) -> Preprocessed:
    """Preprocess again with each header that was not there as an empty file."""
    folder.mkdir(parents=True)
    missing: dict[str, int] = {}
    while True:
        outcome = run(_command(compiler, path, search, folder), TIMEOUT_S)
        if outcome.succeeded:
            return Preprocessed(outcome.stdout, tuple(missing), next(iter(missing.values()), 0))
        match = _NOT_THERE.search(outcome.stderr)
        name = match[1] if match else ""
        place = (folder / name).resolve()
        top = folder.parents[3].resolve()
        if not name or name in missing or len(missing) > MISSING_MAX or top not in place.parents:
            raise _refusal(outcome)
        missing[name] = _refusal(outcome).line
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def _command(compiler: str, path: Path, search: HeaderSearch, folder: Path) -> Sequence[str]:
    defines = [f"-D{macro}" for macro in (*MACROS, *search.macros)]
    folders = [word for include in search.folders for word in ("-I", str(include))]
    own = ["-isystem", str(HEADERS), "-idirafter", str(folder)]
    return [compiler, "-E", "-xc", "-nostdinc", *folders, *own, *defines, str(path)]


def _refusal(outcome: ProgramOutcome) -> RefusedSource:
    """A refusal with the first error of the preprocessor."""
    match = re.search(r":(\d+):\d+: (?:fatal )?error: (.*)", outcome.stderr)
    if match is None:
        return RefusedSource(f"it cannot be preprocessed: {outcome.reason}")
    return RefusedSource(f"it cannot be preprocessed: {match[2]}", int(match[1]))

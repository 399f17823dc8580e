# SPDX-License-Identifier: Apache-2.0
"""The style test: what a formatter cannot see, checked over the whole tree.

`python tools/style.py [ROOT]` prints one line per complaint and fails if there is any. A rule is a
function from a source file to complaints; `RULES` lists them, `TREE_RULES` those that need to see
all files at once.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from style_native import NATIVE_TREE_RULES, closing

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
LINE_LENGTH_MAX = 100
LICENSE_LINE = "SPDX-License-Identifier: Apache-2.0"

SKIPPED_FOLDERS = {"build", "dist", "runs", "site", "locks", "node_modules"}
SHOWN = {".ci", ".clang-format", ".gitignore"}
PYTHON = {".py", ".pyi"}
CPP = {".cpp", ".hpp", ".h", ".c"}
CODE = PYTHON | CPP | {".sh", ".cmake", ".toml", ".yml", ".yaml", ".js", ".css"}
PROSE = {".md", ".txt", ".json", ".html", ".svg"}
PLUGIN_FOLDERS = {
    *("cli/verbs", "exchange/exporters", "exchange/importers", "exchange/styles", "models/forms"),
    *("mpi/vendors", "present/findings", "present/panels", "results", "sites/batch"),
    "sites/launchers",
}
NATIVE_PLUGINS = (
    *("native/patterns", "native/transports", "native/algorithms", "native/multicast"),
)
CLOCK_ROOMS = ("native/timing/", "native/simulator/", "native/transports/", "tests/native/")


@dataclass(frozen=True)
class Complaint:
    """One place where a rule is broken."""

    path: str
    line: int
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.what}"


class Source:
    """One file of the tree: its path from the root, its text, and what can be read from it."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.suffix = PurePosixPath(path).suffix

    @property
    def is_code(self) -> bool:
        """Whether it is code: by its suffix, its name or its first line."""
        name = PurePosixPath(self.path).name
        return (
            self.suffix in CODE
            or name in {"Makefile", "CMakeLists.txt", ".clang-format"}
            or self.text.startswith("#!")
        )

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of a Python file."""
        return ast.parse(self.text, self.path)

    @cached_property
    def bare(self) -> str:
        """A C++ text with comments and literals blanked out, positions unchanged."""
        return _CPP_NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), self.text)

    def line_at(self, position: int) -> int:
        """The line number of a position in the text."""
        return self.text.count("\n", 0, position) + 1

    def complain(self, line: int, rule: str, what: str) -> Complaint:
        """A complaint about this file."""
        return Complaint(self.path, line, rule, what)


_CPP_NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)

Rule = Callable[[Source], Iterable[Complaint]]
TreeRule = Callable[[list[Source]], Iterable[Complaint]]


def licensed(source: Source) -> Iterator[Complaint]:
    """The first line names the licence, or the second after a `#!` line."""
    if source.is_code and source.text.strip():
        first = source.lines[1:2] if source.text.startswith("#!") else source.lines[:1]
        if not first or LICENSE_LINE not in first[0]:
            yield source.complain(1, "licence", f"the first line does not say {LICENSE_LINE}")


def short_lines(source: Source) -> Iterator[Complaint]:
    """No line of code is longer than the limit."""
    if source.is_code:
        for number, line in enumerate(source.lines, 1):
            if len(line) > LINE_LENGTH_MAX:
                yield source.complain(number, "line", f"{len(line)} characters")


def short_file(source: Source) -> Iterator[Complaint]:
    """No file of code is longer than the limit."""
    if source.is_code and len(source.lines) > FILE_LINES_MAX:
        yield source.complain(1, "file", f"{len(source.lines)} lines, {FILE_LINES_MAX} at most")


def short_functions(source: Source) -> Iterator[Complaint]:
    """No function is longer than the limit."""
    for name, first, last in _functions(source):
        length = last - first + 1
        if length > FUNCTION_LINES_MAX:
            what = f"{name} has {length} lines, {FUNCTION_LINES_MAX} at most"
            yield source.complain(first, "function", what)


def _functions(source: Source) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of every function."""
    if source.suffix in PYTHON:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name, node.lineno, node.end_lineno or node.lineno
    elif source.suffix in CPP:
        import lizard

        analysed = lizard.analyze_file.analyze_source_code(source.path, source.text)
        for function in analysed.function_list:
            yield function.name, function.start_line, function.end_line


_CPP_CLOCKS = re.compile(
    r"\b(?:(?:steady|system|high_resolution)_clock|clock_gettime|gettimeofday|P?MPI_Wtime|rdtscp?|"
    r"__rdtscp?|__builtin_ia32_rdtscp?|omp_get_wtime)\b"
)
_PYTHON_CLOCKS = re.compile(r"\b(?:perf_counter(?:_ns)?|process_time(?:_ns)?|timeit|thread_time)\b")


def clocks_in_their_rooms(source: Source) -> Iterator[Complaint]:
    """Measuring is the sampler's: clocks are read in timing and transports, not in Python."""
    if source.suffix in CPP and not source.path.startswith(CLOCK_ROOMS):
        found = _CPP_CLOCKS.finditer(source.bare)
    elif source.suffix in PYTHON and source.path.startswith("src/"):
        found = _PYTHON_CLOCKS.finditer(source.text)
    else:
        return
    for match in found:
        yield source.complain(source.line_at(match.start()), "clock", f"{match[0]} is not for here")


_LEFTOVER = re.compile(r"\b(?:FIX" + r"ME|TO" + r"DO|XX" + r"X|HA" + r"CK)\b")
_ISSUE = re.compile(r"(?<![\w&/])#\d{1,5}\b(?![-\w])|\b[Ii]ssue \d+\b|\bGH-\d+\b")
_PLACE = re.compile(
    r"(?<![\w.}$*/-])/(?:work|ro" + r"ot|Users)/|(?<![\w.}$*-])/home/\w|/tmp/[\w-]+"
)
_REGISTRY = re.compile(
    r"\bpypi\.or" + r"g|pythonhos" + r"ted|debian\.or" + r"g|artifactre" + r"gistry"
)


def nothing_private(source: Source) -> Iterator[Complaint]:
    """No leftover marks, issue numbers, places of one machine, or addresses of registries."""
    rules = (
        ("leftover", _LEFTOVER, "do it or drop it"),
        ("issue", _ISSUE, "say why here, not where it was discussed"),
        ("place", _PLACE, "a place on one machine"),
        ("registry", _REGISTRY, "the address is the machine's matter"),
    )
    for number, line in enumerate(source.lines, 1):
        for rule, pattern, what in rules:
            match = pattern.search(line)
            is_colour = rule == "issue" and source.suffix == ".css"
            if match and not is_colour:
                yield source.complain(number, rule, f"{match[0]!r}: {what}")


def one_pattern_per_file(source: Source) -> Iterator[Complaint]:
    """A file in native/patterns registers exactly one pattern."""
    if PurePosixPath(source.path).parent == PurePosixPath("native/patterns"):
        count = len(re.findall(r"^\s*NHALF_PATTERN\w*\s*\(", source.bare, re.MULTILINE))
        if count != 1:
            yield source.complain(1, "one-idea", f"{count} NHALF_PATTERN lines instead of one")


UNITS = re.compile(
    r"(?:^|_)(?:s|bytes|Bps|hz|ratio|fraction|relative|percent|per_\w+|level|factor|share|"
    r"probability|confidence|coverage|error|weight|score|cost|threshold|importance|ci|median|p95)$"
)
UNITLESS = {"median", "low", "high", "value", "x", "y"}  # in the unit of what they came from
UNITLESS |= {"o_r", "g", "L", "G", "rendezvous_G"}  # as LogGP calls them
UNITLESS |= {"precision", "noise", "drift", "launch_noise", "state_slow"}  # pure numbers
UNITLESS |= {"state_dwell", "to_ranks"}
UNITLESS |= {"place", "scale", "nugget", "variance", "mean_variance"}  # of logarithms
UNITLESS |= {"gram", "moment", "square", "ends", "slopes"}  # of relative least squares
UNITLESS |= {"a", "b"}  # of two machines, in the unit that a name beside them has
"""Names of real numbers that need no unit."""


def units_in_names(source: Source) -> Iterator[Complaint]:
    """Real-valued fields say their unit: last in the name."""
    for line, name in _real_fields(source):
        if name not in UNITLESS and not UNITS.search(name):
            yield source.complain(line, "unit", f"{name} does not end with its unit")


_CPP_FIELD = re.compile(r"^[ \t]*(?:const )?double\s+(\w[^;()]*);", re.MULTILINE)
_CPP_STRUCT = re.compile(r"\b(?:struct|class)\s+\w+[^;{}()]*\{")


def _real_fields(source: Source) -> Iterator[tuple[int, str]]:
    """Line and name of the real-valued fields of a file's classes."""
    if source.suffix in PYTHON and source.path.startswith("src/"):
        classes = (node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef))
        for item in (item for node in classes for item in node.body):
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                annotation = ast.unparse(item.annotation)
                if re.search(r"\b(?:float|Floats)\b", annotation):
                    yield item.lineno, item.target.id
    elif source.suffix in CPP and source.path.startswith("native/"):
        yield from _cpp_real_fields(source)


def _cpp_real_fields(source: Source) -> Iterator[tuple[int, str]]:
    """The same for C++: fields of structs, not the local variables of their functions."""
    for head in _CPP_STRUCT.finditer(source.bare):
        end = closing(source.bare, head.end())
        body = list(source.bare[head.end() : end])
        depth = 0
        for position, letter in enumerate(body):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if depth > 0 and letter not in "{\n":
                body[position] = " "
        for match in _CPP_FIELD.finditer("".join(body)):
            line = source.line_at(head.end() + match.start(1))
            for field in match[1].split(","):
                yield line, re.split(r"[\s={]", field.strip())[0].rstrip("_")


def no_dead_module(sources: list[Source]) -> Iterator[Complaint]:
    """Every module of the package is imported somewhere in it, or found by its folder."""
    modules = {s for s in sources if s.suffix in PYTHON and s.path.startswith("src/nhalf/")}
    imported = {name for source in modules for name in _imports(source)}
    for source in modules:
        parts = list(PurePosixPath(source.path).with_suffix("").parts[1:])
        if parts[-1] in {"__init__", "__main__"} or "/".join(parts[1:-1]) in PLUGIN_FOLDERS:
            continue
        called_by_name = any(f'"{parts[-1]}.py"' in other.text for other in modules)
        if ".".join(parts) not in imported and not called_by_name:
            yield source.complain(1, "dead", "nothing in the package imports it")


def _imports(source: Source) -> Iterator[str]:
    """Every dotted name that a module may import."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"nhalf(\.\w+)+", str(node.value)):
            yield str(node.value)


def no_dead_header(sources: list[Source]) -> Iterator[Complaint]:
    """Every header is included by another native file, or found by its folder."""
    native = [s for s in sources if s.suffix in CPP and s.path.startswith("native/")]
    for source in native:
        plugin = source.path.startswith(NATIVE_PLUGINS) and "/bases/" not in source.path
        if source.suffix not in {".hpp", ".h"} or plugin:
            continue
        name = PurePosixPath(source.path).name
        include = re.compile(rf'#\s*include\s+["<](?:[\w./-]*/)?{re.escape(name)}[">]')
        others = (other for other in native if other is not source)
        if not any(include.search(other.text) for other in others):
            yield source.complain(1, "dead", "no native file includes it")


RULES: tuple[Rule, ...] = (
    licensed,
    short_lines,
    short_file,
    short_functions,
    clocks_in_their_rooms,
    nothing_private,
    one_pattern_per_file,
    units_in_names,
)
TREE_RULES: tuple[TreeRule, ...] = (no_dead_module, no_dead_header, *NATIVE_TREE_RULES)


def read_tree(root: Path) -> list[Source]:
    """Every text file below `root` that is ours."""
    sources = []
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        hidden = any(part.startswith(".") and part not in SHOWN for part in inside.parts)
        if hidden or SKIPPED_FOLDERS.intersection(inside.parts) or not path.is_file():
            continue
        if path.suffix in CODE | PROSE or not path.suffix:
            try:
                sources.append(Source(inside.as_posix(), path.read_text(encoding="utf-8")))
            except UnicodeDecodeError:
                continue
    return sources


def check(sources: list[Source]) -> list[Complaint]:
    """Every complaint about the files given."""
    found = [complaint for source in sources for rule in RULES for complaint in rule(source)]
    found += [complaint for rule in TREE_RULES for complaint in rule(sources)]
    return sorted(found, key=lambda complaint: (complaint.path, complaint.line, complaint.rule))


def main(arguments: list[str]) -> int:
    """Check the tree named, or the one that this file is in."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    sources = read_tree(root)
    found = check(sources)
    for complaint in found:
        print(complaint)
    print(f"style: {len(sources)} files, {len(found)} complaints", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

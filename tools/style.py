"""The style test: what a formatter cannot see, checked over the whole tree.

`python tools/style.py [ROOT]` prints one line per complaint and fails if there is any. A rule is a
function from a source file to complaints; `RULES` lists them, `TREE_RULES` those that need to see
all files at once.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from style_classes import class_names_stand_once, is_plugin
from style_names import bindings_say_what_they_hold
from style_native import NATIVE_TREE_RULES
from style_native_names import declarations_say_what_they_hold
from style_present import PRESENT_TREE_RULES
from style_prose import docstrings_stand_alone, plain_words
from style_source import (
    CODE,
    CPP,
    JAVA,
    PROSE,
    PYTHON,
    Complaint,
    Rule,
    Source,
    TreeRule,
    imports,
)
from style_units import units_in_names

FUNCTION_LINES_MAX = 60
PARAMETERS_MAX = 8
FILE_LINES_MAX = 600
LONG_FILE_LINES = 400
LONG_FILES_MAX = 5
"""This many files of code may have more than LONG_FILE_LINES."""
FOLDER_FILES_MAX = 45
FULL_FOLDERS: tuple[str, ...] = ()
"""Folders that still have more files than FOLDER_FILES_MAX."""
LINE_LENGTH_MAX = 100
LICENSE_LINE = "SPDX-License-Identifier:"
COPIED_OUT = ("examples/", "packaging/", "docs/", "locks/")
"""What leaves the repository file by file, and so says its licence itself."""

SKIPPED_FOLDERS = {"build", "dist", "runs", "site", "locks", "node_modules"}
SHOWN = {".ci", ".clang-format", ".gitignore"}
NATIVE_PLUGINS = (
    *("native/patterns", "native/transports", "native/algorithms", "native/multicast"),
    "apps/npb",
)
C_INTERFACES = (
    *("native/interposer/", "native/trace/", "native/simulator/sends.hpp"),
    *("tests/native/apps/counter.cpp", "tests/native/apps/gpu_aware.cpp"),
    "tests/native/host/gpu_stand_in.cpp",
)
"""Where functions are given what those of MPI, SMPI and CUDA are given."""

CLOCK_ROOMS = (
    *("native/timing/", "native/simulator/", "native/transports/", "tests/native/"),
    *("native/node/livermore/", "native/trace/", "apps/npb/", "native/fabric/"),
)


def licensed_once(source: Source) -> Iterator[Complaint]:
    """No file says the licence: REUSE.toml says it for all, but what people copy from here."""
    if source.is_code and not source.path.startswith(COPIED_OUT):
        for number, line in enumerate(source.lines[:2], 1):
            if LICENSE_LINE in line:
                yield source.complain(number, "licence", "REUSE.toml says it for all files")


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
    """No function is longer than the limit, or takes more than can be kept in mind."""
    for function in _functions(source):
        if function.lines > FUNCTION_LINES_MAX:
            what = f"{function.name} has {function.lines} lines, {FUNCTION_LINES_MAX} at most"
            yield source.complain(function.line, "function", what)
        if function.parameters > PARAMETERS_MAX and not source.path.startswith(C_INTERFACES):
            what = f"{function.name} has {function.parameters} parameters, {PARAMETERS_MAX} at most"
            yield source.complain(function.line, "parameters", what)


class Function(NamedTuple):
    """A function of a file: where it begins, its length, and what it is given."""

    name: str
    line: int
    lines: int
    parameters: int


def _functions(source: Source) -> Iterator[Function]:
    if source.suffix in PYTHON:
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield Function(node.name, node.lineno, lines, len(given))
    elif source.suffix in CPP | JAVA:
        import lizard

        analysed = lizard.analyze_file.analyze_source_code(source.path, source.text)
        for one in analysed.function_list:
            lines = one.end_line - one.start_line + 1
            yield Function(one.name, one.start_line, lines, len(one.parameters))


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


_READS_PATTERNS = re.compile(r"(?:scan|sink)_\w+|(?:read|write)_parquet\w*")


def exact_names(source: Source) -> Iterator[Complaint]:
    """No name that a user gave is taken for a pattern: neither by polars nor in `glob`."""
    if source.suffix not in PYTHON or not source.path.startswith("src/"):
        return
    for node in source.nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name = node.func.attr
        if _READS_PATTERNS.fullmatch(name) and not source.path.endswith("/store/parquet.py"):
            what = f"{name} takes a name for a pattern: call nhalf.store.parquet"
            yield source.complain(node.lineno, "exact-name", what)
        elif name in {"glob", "iglob", "rglob"} and any(map(_is_unescaped, node.args)):
            what = f"a name in the pattern of {name} is not escaped"
            yield source.complain(node.lineno, "exact-name", what)


def _is_unescaped(pattern: ast.expr) -> bool:
    """Whether a pattern holds a variable that is neither a constant nor escaped."""
    parts = pattern.values if isinstance(pattern, ast.JoinedStr) else []
    values = [part.value for part in parts if isinstance(part, ast.FormattedValue)]
    return any(not re.match(r"(?:[\w.]+\.)?(?:escape\(|[A-Z_]+$)", ast.unparse(v)) for v in values)


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


_REGISTERED = re.compile(
    r"^\s*NHALF_(?:PATTERN\w*\s*\([^;]*|FORMS\s*\(\w+),\s*([\w#]+)(?:,\s*\w+)?\)", re.M
)


def one_idea_per_file(source: Source) -> Iterator[Complaint]:
    """A file of patterns registers one, operations, or several that have words of its name."""
    subject = re.match(r"native/patterns/(?:(\w+)/)?(?!README)[^/]+$", source.path)
    if subject and subject[1] is None:
        yield source.complain(1, "one-idea", "it is in no folder of native/patterns/")
    elif subject and subject[1] != "bases":
        registered = _REGISTERED.findall(source.bare)
        words = PurePosixPath(source.path).stem.removesuffix("s").split("_")
        if not registered:
            yield source.complain(1, "one-idea", "there is no NHALF_PATTERN line")
        elif len(registered) > 1 and "operation" not in words:
            strange = [name for name in registered if not any(w in name.lower() for w in words)]
            if strange:
                what = f"{strange[0]} is one of several patterns and has no word of its file's name"
                yield source.complain(1, "one-idea", what)


def no_dead_module(sources: list[Source]) -> Iterator[Complaint]:
    """Every module of the package is imported somewhere in it, or found by its folder."""
    modules = {s for s in sources if s.suffix in PYTHON and s.path.startswith("src/nhalf/")}
    imported = {name for source in modules for name in imports(source)}
    for source in modules:
        parts = list(PurePosixPath(source.path).with_suffix("").parts[1:])
        if parts[-1] in {"__init__", "__main__"} or is_plugin(source.path):
            continue
        if ".".join(parts) in imported:
            continue
        if not any(f'"{parts[-1]}.py"' in other.text for other in modules):
            yield source.complain(1, "dead", "nothing in the package imports it")


def no_dead_header(sources: list[Source]) -> Iterator[Complaint]:
    """Every header is included by another native file, or found by its folder."""
    native = [s for s in sources if s.suffix in CPP and s.path.startswith(("native/", "apps/"))]
    for source in native:
        plugin = source.path.startswith(NATIVE_PLUGINS) and "/bases/" not in source.path
        if source.suffix not in {".hpp", ".h"} or plugin:
            continue
        name = PurePosixPath(source.path).name
        include = re.compile(rf'#\s*include\s+["<](?:[\w./-]*/)?{re.escape(name)}[">]')
        others = (other for other in native if other is not source)
        if not any(include.search(other.text) for other in others):
            yield source.complain(1, "dead", "no native file includes it")


def few_long_files(sources: list[Source]) -> Iterator[Complaint]:
    """Few files of code need more than LONG_FILE_LINES for their one idea."""
    code = [source for source in sources if source.suffix in PYTHON | CPP | JAVA | {".css", ".js"}]
    long = [source for source in code if len(source.lines) > LONG_FILE_LINES]
    if len(long) > LONG_FILES_MAX:
        for source in long:
            what = f"{len(source.lines)} lines; {len(long)} files have over {LONG_FILE_LINES}"
            yield source.complain(1, "long-files", f"{what}, {LONG_FILES_MAX} may")


def no_full_folder(sources: list[Source]) -> Iterator[Complaint]:
    """No folder of code has more files than a reader looks through."""
    code = [source for source in sources if source.suffix != ".md"]
    paths = [source.path for source in code if source.path.startswith(("src/", "native/", "apps/"))]
    files = Counter(PurePosixPath(path).parent.as_posix() for path in paths)
    for folder, count in files.items():
        if count > FOLDER_FILES_MAX and folder not in FULL_FOLDERS:
            what = f"{count} files, {FOLDER_FILES_MAX} at most: divide it by subject"
            yield Complaint(folder, 1, "folder", what)
        elif count <= FOLDER_FILES_MAX and folder in FULL_FOLDERS:
            yield Complaint(folder, 1, "folder", f"{count} files: take it out of FULL_FOLDERS")


RULES: tuple[Rule, ...] = (
    licensed_once,
    short_lines,
    short_file,
    short_functions,
    clocks_in_their_rooms,
    exact_names,
    nothing_private,
    one_idea_per_file,
    units_in_names,
    plain_words,
    docstrings_stand_alone,
)
TREE_RULES: tuple[TreeRule, ...] = (
    *(few_long_files, no_full_folder, no_dead_module, no_dead_header),
    *(bindings_say_what_they_hold, declarations_say_what_they_hold, class_names_stand_once),
    *NATIVE_TREE_RULES,
    *PRESENT_TREE_RULES,
)


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


def check(sources: list[Source], kept: Path | None = None) -> list[Complaint]:
    """Every complaint about the files given.

    A rule of one file says the same of the same text: which were without complaint is `kept`.
    """
    clean = set(kept.read_text("utf-8").split()) if kept is not None and kept.is_file() else set()
    mark = _rules_digest() if kept is not None else b""
    found = []
    without = []
    for source in sources:
        digest = hashlib.sha256(mark + f"{source.path}\0{source.text}".encode()).hexdigest()
        own = [] if digest in clean else [each for rule in RULES for each in rule(source)]
        found += own
        without += [digest] if not own else []
    if kept is not None and kept.parent.is_dir():
        kept.write_text("\n".join(without), "utf-8")
    found += [complaint for rule in TREE_RULES for complaint in rule(sources)]
    return sorted(found, key=lambda complaint: (complaint.path, complaint.line, complaint.rule))


def _rules_digest() -> bytes:
    """Another one where a rule, or what reads the files for it, is another one."""
    import lizard

    rules = sorted(Path(__file__).parent.glob("style*.py"))
    texts = [f"{sys.version} {lizard.version}".encode(), *(path.read_bytes() for path in rules)]
    return hashlib.sha256(b"\0".join(texts)).digest()


def main(arguments: list[str]) -> int:
    """Check the tree named, or the one that this file is in."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    sources = read_tree(root)
    found = check(sources, root / "build" / "style-clean")
    for complaint in found:
        print(complaint)
    print(f"style: {len(sources)} files, {len(found)} complaints", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

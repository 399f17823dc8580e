"""Files and modules that are named in prose, in comments and in docstrings are there.

`python tools/style_paths.py` prints one line per file with names that lead nowhere, and fails if
there is any.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import wings

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src")]

CHECKED = (
    *("apps", "docs", "src", "native", "tools"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile"),
)
"""Where names of files are looked for."""
MODULES_CHECKED = ("docs", "src")
FOLDERS = ("apps", "src", "native", "tests", "tools", "examples", "docs")
SUFFIXES = {".py", ".hpp", ".cpp", ".md", ".toml", ".txt", ".cmake", ""}
_PATH = re.compile(
    r"(?<![\w./<>{}~$*\"'-])"
    r"((?:src/nhalf|apps|native|tests|tools|docs|examples)/[\w./-]*\w"
    r"|(?:[\w-]+/)*[\w-]+\.(?:py|hpp|cpp))"
    r"(?![\w*{/]|\.\w)"
)
_GROUP = re.compile(r'^ENTRY_POINTS = "([\w.]+)"$', re.MULTILINE)
_MODULE = re.compile(r"\bnhalf(?:\.[a-z]\w*)+(?:\.\w+)?\b")
PLACEHOLDERS = re.compile(r"NAME|nhalf_check\.py|build/|(?:^|/)(?:x|solver|dataset)\.py")
"""Names that stand for any, and files that a reader makes."""
NOT_MODULES = {"nhalf.schema", "nhalf.fish", "nhalf.journal_bytes", "nhalf.table", "nhalf.xml"}
"""Keys of files and names of files."""


@cache
def named_files() -> frozenset[str]:
    """Every file and folder, by its path and by each end of its path."""
    found = {path.name for path in ROOT.iterdir()}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if "__pycache__" not in parts:
                found.update("/".join(parts[start:]) for start in range(len(parts)))
    return frozenset(found)


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text that are not `#include`, which a compiler checks."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.lstrip().startswith("#include"):
            yield line


def missing_files(path: Path) -> list[str]:
    """What a file names that is not there."""
    named = {match[1] for line in lines_of(path) for match in _PATH.finditer(line)}
    return sorted(name for name in named - named_files() if not PLACEHOLDERS.search(name))


def missing_modules(path: Path) -> list[str]:
    """What a file names as a module of the package, or as something in one, that is not there."""
    named = {match[0] for line in lines_of(path) for match in _MODULE.finditer(line)}
    return sorted(name for name in named - NOT_MODULES if not _is_there(name))


def _is_there(name: str) -> bool:
    from nhalf.base import plugins

    modules = module_files()
    own = {plugins.group(module) for module in modules if module.endswith(name[len("nhalf") :])}
    if name in own | entry_points():
        return True
    parts = name.split(".")
    depth = next(n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in modules)
    left = parts[depth:]
    return not left or left[0] in names_in(modules[".".join(parts[:depth])])


@cache
def module_files() -> dict[str, Path]:
    """Every module of the package with its file."""
    return wings.module_files(ROOT)


@cache
def entry_points() -> frozenset[str]:
    """The groups that packages of plug-ins call otherwise than their folder."""
    texts = (path.read_text(encoding="utf-8") for path in module_files().values())
    return frozenset(found for text in texts for found in _GROUP.findall(text))


@cache
def names_in(path: Path) -> frozenset[str]:
    """What a module defines or imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
    return frozenset(found)


def texts(folder: str) -> list[Path]:
    """The files of a folder that are read, or the file named."""
    paths = [ROOT / folder] if (ROOT / folder).is_file() else (ROOT / folder).rglob("*")
    return sorted(
        path
        for path in paths
        if path.suffix in SUFFIXES and path.is_file() and "__pycache__" not in path.parts
    )


def complaints() -> Iterator[str]:
    """What every file of the tree names that is not there."""
    for folder in CHECKED:
        for path in texts(folder):
            missing = missing_files(path)
            missing += missing_modules(path) if folder in MODULES_CHECKED else []
            if missing:
                yield f"{path.relative_to(ROOT)}: path: {', '.join(missing)}: not there"


def main() -> int:
    """Check the tree that this file is in."""
    found = list(complaints())
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

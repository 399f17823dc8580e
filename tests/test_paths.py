# SPDX-License-Identifier: Apache-2.0
"""Files and modules that are named in prose, in comments and in docstrings are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import wings
from nhalf.base import plugins

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "native", "tests", "tools", "examples", "docs")
SUFFIXES = {".py", ".hpp", ".cpp", ".md", ".toml", ".txt", ".cmake", ""}
_PATH = re.compile(
    r"(?<![\w./<>{}~$*\"'-])"
    r"((?:src/nhalf|native|tests|tools|docs|examples)/[\w./-]*\w"
    r"|(?:[\w-]+/)*[\w-]+\.(?:py|hpp|cpp))"
    r"(?![\w*{/]|\.\w)"
)
_GROUP = re.compile(r'^ENTRY_POINTS = "([\w.]+)"$', re.MULTILINE)
_MODULE = re.compile(r"\bnhalf(?:\.[a-z]\w*)+(?:\.\w+)?\b")
PLACEHOLDERS = re.compile(r"NAME|nhalf_check\.py|build/|(?:^|/)x\.py")
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
    known = module_files()
    own = {plugins.group(each) for each in known if each.endswith(name[len("nhalf") :])}
    if name in own | entry_points():
        return True
    parts = name.split(".")
    depth = next(n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in known)
    left = parts[depth:]
    return not left or left[0] in names_in(known[".".join(parts[:depth])])


@cache
def module_files() -> dict[str, Path]:
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
    paths = [ROOT / folder] if (ROOT / folder).is_file() else (ROOT / folder).rglob("*")
    return sorted(
        path
        for path in paths
        if path.suffix in SUFFIXES and path.is_file() and "__pycache__" not in path.parts
    )


@pytest.mark.parametrize(
    "folder",
    ["docs", "src", "native", "tools", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile"],
)
def test_files_and_modules_that_are_named_exist(folder: str) -> None:
    wrong = {}
    for path in texts(folder):
        missing = missing_files(path)
        if folder in ("docs", "src"):
            missing += missing_modules(path)
        if missing:
            wrong[path.relative_to(ROOT).as_posix()] = missing
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("as in src/nhalf/store/journal.py and store/journal.py.", []),
        ("as in src/nhalf/store/gone.py, runs/gone.txt and (gone.hpp)",
         ["gone.hpp", "src/nhalf/store/gone.py"]),
        ("`tests/nhalf/store/test_journal.py`, src/nhalf/*/x.py, NAME.py, runs/gone.toml", []),
        ("#include \"gone.hpp\"", []),
    ],
)  # fmt: skip
def test_paths_are_told_from_other_words(tmp_path: Path, text: str, missing: list[str]) -> None:
    path = tmp_path / "page.md"
    path.write_text(text)
    assert missing_files(path) == missing


def test_modules_are_told_from_other_words(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("nhalf.store, nhalf.store.journal.Journal, nhalf.store.gone, nhalf.gone.x")
    assert missing_modules(path) == ["nhalf.gone.x", "nhalf.store.gone"]

"""What rules of style read: one file of the tree, and what is complained of."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

PYTHON = {".py", ".pyi"}
CPP = {".cpp", ".hpp", ".h", ".c"}
JAVA = {".java"}
CODE = PYTHON | CPP | JAVA | {".sh", ".cmake", ".toml", ".yml", ".yaml", ".js", ".css"}
PROSE = {".md", ".txt", ".json", ".html", ".svg"}


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
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the syntax tree of a Python file."""
        return tuple(ast.walk(self.tree))

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


def closing(text: str, start: int, pair: str = "{}") -> int:
    """The position of the brace that closes the one before `start`."""
    depth = 1
    for position in range(start, len(text)):
        depth += {pair[0]: 1, pair[1]: -1}.get(text[position], 0)
        if depth == 0:
            return position
    return len(text)


def imports(source: Source) -> Iterator[str]:
    """Every dotted name that a module may import."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"nhalf(\.\w+)+", str(node.value)):
            yield str(node.value)

# SPDX-License-Identifier: Apache-2.0
"""Bindings that do not say what they hold: pronouns and participles.

`python tools/style_names.py` prints the share of every wing; with files or folders as arguments,
where their vague bindings are. A binding is a parameter, or a name or attribute that is assigned
to. `self` and `_` do not count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

VAGUE_WORDS = """
asked both done each every found given here it kept known left made meant named noted one ones other
others rest said same seen taken that them there these this those told wanted what which
"""
VAGUE = frozenset(VAGUE_WORDS.split())
"""Bindings that a reader has to look up before knowing what they are."""
NOT_COUNTED = frozenset({"self", "cls", "_"})
SHARE_MAX = 0.025
"""This share of a wing's bindings may be vague."""
PACKAGE = Path("src/nhalf")


class Binding(NamedTuple):
    """A name that is given a value, and the line where."""

    name: str
    line: int

    @property
    def is_vague(self) -> bool:
        """Whether the name says nothing."""
        return self.name in VAGUE


def bindings(tree: ast.AST) -> Iterator[Binding]:
    """Every binding of a syntax tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.attr
        elif isinstance(node, ast.arg):
            name = node.arg
        else:
            continue
        if name not in NOT_COUNTED:
            yield Binding(name, node.lineno)


class Share(NamedTuple):
    """How many bindings there are, and how many of them are vague."""

    vague: int
    all: int

    def __str__(self) -> str:
        return f"{self.vague / max(self.all, 1):6.1%}  {self.vague:5d} of {self.all}"


def share(paths: list[Path]) -> Share:
    """The share of vague bindings in files."""
    every_binding = [b for path in paths for b in bindings(ast.parse(path.read_text("utf-8")))]
    return Share(sum(binding.is_vague for binding in every_binding), len(every_binding))


def shares(root: Path) -> dict[str, Share]:
    """The share of every wing below `root`, and of all of the package."""
    package = root / PACKAGE
    wings = sorted(path for path in package.iterdir() if (path / "__init__.py").is_file())
    named = {wing.name: share(sorted(wing.rglob("*.py"))) for wing in wings}
    return {**named, "nhalf": share(sorted(package.rglob("*.py")))}


def main(arguments: list[str]) -> int:
    """Print every wing's share, or the vague bindings of the files or folders named."""
    places = [Path(argument) for argument in arguments]
    for place in places:
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for binding in bindings(ast.parse(path.read_text("utf-8"))):
                if binding.is_vague:
                    print(f"{path}:{binding.line}: {binding.name}")
    if places:
        return 0
    by_wing = shares(Path(__file__).resolve().parent.parent)
    for wing, part in by_wing.items():
        print(f"{wing:12} {part}")
    return 1 if any(part.vague > SHARE_MAX * part.all for part in by_wing.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

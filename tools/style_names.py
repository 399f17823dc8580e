"""Bindings that do not say what they hold: pronouns and participles.

`python tools/style_names.py` prints the share of every wing; with files or folders as arguments,
where their vague bindings are. A binding is a parameter, or a name or attribute that is assigned
to. `self` and `_` do not count. `vague_names.txt` lists the files that still have some, each with
their number: a budget that may only shrink.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from style_source import PYTHON, Complaint, Source

VAGUE_WORDS = """
asked both done each every found given here it kept known left made meant named noted one ones other
others rest said same seen taken that them there these this those told wanted what which
"""
VAGUE = frozenset(VAGUE_WORDS.split())
"""Bindings that a reader has to look up before knowing what they are."""
NOT_COUNTED = frozenset({"self", "cls", "_"})
SHARE_MAX = 0.025
"""This share of a wing's bindings may be vague."""
PACKAGE = "src/nhalf"
BUDGET = "tools/vague_names.txt"
"""Lines `COUNT PATH`, sorted by path; `#` begins a comment."""


class Binding(NamedTuple):
    """A name that is given a value, and the line where."""

    name: str
    line: int

    @property
    def is_vague(self) -> bool:
        """Whether the name says nothing."""
        return self.name in VAGUE


def bindings(source: Source) -> Iterator[Binding]:
    """Every binding of a file."""
    for node in source.nodes:
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

    @property
    def is_too_large(self) -> bool:
        """Whether more of them are vague than may be."""
        return self.vague > SHARE_MAX * self.all

    def __str__(self) -> str:
        return f"{self.vague / max(self.all, 1):6.1%}  {self.vague:5d} of {self.all}"


def vague(source: Source) -> list[Binding]:
    """The vague bindings of a file, by line."""
    unclear = (binding for binding in bindings(source) if binding.is_vague)
    return sorted(unclear, key=lambda binding: binding.line)


def shares(sources: list[Source]) -> dict[str, Share]:
    """The share of every wing, and of all of the package."""
    count: dict[str, Counter[bool]] = {}
    for source in sources:
        parts = PurePosixPath(source.path).parts
        if source.suffix in PYTHON and source.path.startswith(f"{PACKAGE}/"):
            own = Counter(binding.is_vague for binding in bindings(source))
            for name in {parts[2], "nhalf"} if len(parts) > 3 else {"nhalf"}:
                count.setdefault(name, Counter()).update(own)
    return {name: Share(counter[True], counter.total()) for name, counter in sorted(count.items())}


def budgets(text: str) -> dict[str, tuple[int, int]]:
    """The number of vague bindings of every file of a budget, and the line that says so."""
    counts = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            count, path = line.split()
            counts[path] = (int(count), number)
    return counts


def bindings_say_what_they_hold(sources: list[Source]) -> Iterator[Complaint]:
    """No file of the package has more vague bindings than its budget, or less: it shrinks."""
    budget = next((source for source in sources if source.path == BUDGET), Source(BUDGET, ""))
    allowed = budgets(budget.text)
    files = {s.path: s for s in sources if s.suffix in PYTHON and s.path.startswith("src/")}
    for path, source in files.items():
        unclear = vague(source)
        count, line = allowed.get(path, (0, 1))
        if len(unclear) > count:
            for binding in unclear:
                message = f"{binding.name} does not say what it holds ({len(unclear)}, {count} may)"
                yield source.complain(binding.line, "vague", message)
        elif len(unclear) < count:
            message = f"{path} has {len(unclear)} vague bindings; lower its budget from {count}"
            yield budget.complain(line, "vague", message)
    for path in allowed.keys() - files.keys():
        yield budget.complain(allowed[path][1], "vague", f"{path} does not exist")
    for wing, share in shares(sources).items():
        if share.is_too_large:
            message = (
                f"{share.vague} of {share.all} bindings of {wing} are vague, {SHARE_MAX:.1%} may"
            )
            yield Complaint(PACKAGE, 1, "vague-share", message)


def _sources(place: Path) -> Iterator[Source]:
    """The Python files of a folder, or the file named."""
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        yield Source(path.as_posix(), path.read_text("utf-8"))


def main(arguments: list[str]) -> int:
    """Print every wing's share, or the vague bindings of the files or folders named."""
    for argument in arguments:
        for source in _sources(Path(argument)):
            for binding in vague(source):
                print(f"{source.path}:{binding.line}: {binding.name}")
    if not arguments:
        root = Path(__file__).resolve().parent.parent
        package = [Source(Path(file.path).relative_to(root).as_posix(), file.text)
                   for file in _sources(root / PACKAGE)]  # fmt: skip
        for wing, share in shares(package).items():
            print(f"{wing:12} {share}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

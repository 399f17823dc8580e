"""The wings of the Python package in their order: who imports whom, whether up, and how long.

`python tools/wings.py [ROOT]` prints the wings, the arrows between them, the lines of every wing
and native room, and every circle of files, every arrow up and every exceeded budget; it fails if
there is one. Lazy imports count, and so do imports for types alone: a reader has to know whatever a
file names.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ORDER = {
    "base": "errors, units, processes, whole files, plug-ins",
    "store": "journal, Parquet, the record of a point and its keys",
    "statistics": "intervals, summaries, states, advice",
    "models": "time against size, time against size and ranks",
    "machines": "the machine file and what it says; machines of record",
    "mpi": "libraries found, installed, identified; one file a vendor",
    "sites": "hosts, placement, launchers, batch systems, the lab",
    "measure": "what is asked, the probe, the loop, and the same simulated",
    "node": "the machine's units, caches and memory, measured",
    "loops": "bounds of loops: MA of the source, MAC of the listing, MACS of its schedule",
    "results": "one derived result: its method and its table",
    "facts": "all that is known of a run, computed once",
    "exchange": "importers, exporters, tables in other suites' styles",
    "decide": "compare, check, predict, choose",
    "experiment": "launches in turns, judged: improve, why, tune, race, explore, selftest",
    "studies": "published studies: their tables, and what of them holds elsewhere",
    "present": "findings, panels, report, terminal",
    "jobs": "a run as a job",
    "cli": "verbs: options, a request, a call",
}
"""From the ground up, with what each is for: a wing imports only itself and those above it here."""

BUDGET_LINES = {
    "base": 2_890,
    "store": 1_250,
    "statistics": 3_960,
    "models": 2_450,
    "machines": 4_990,
    "mpi": 7_200,
    "sites": 4_140,
    "measure": 11_140,
    "node": 2_670,
    "loops": 8_360,
    "results": 2_890,
    "facts": 11_000,
    "exchange": 8_170,
    "decide": 10_930,
    "experiment": 6_420,
    "studies": 4_460,
    "present": 15_440,
    "jobs": 840,
    "cli": 8_430,
    "native/algorithms": 1_680,
    "native/calls": 880,
    "apps/npb": 11_970,
    "native/composer": 740,
    "native/contract": 1_780,
    "native/fabric": 5_250,
    "native/host": 1_950,
    "native/interposer": 5_280,  # buffers that a library touches first say little of it
    "native/multicast": 1_100,
    "native/network": 1_510,
    "native/node": 3_840,
    "native/patterns": 8_440,
    "native/pgas": 460,
    "native/preloaded": 1_010,
    "native/probe": 1_150,
    "native/replay": 1_520,
    "native/simulator": 1_290,
    "native/timing": 2_100,
    "native/trace": 5_080,
    "native/transports": 9_870,
}
"""This many lines of code each wing and each room of native/ may have, blank ones and comments
included. To raise one takes a reason, in the message of the commit that does it."""

CODE_SUFFIXES = frozenset({".py", ".hpp", ".cpp", ".inc", ".h", ".c", ".java"})
WINGS_MAX = 19
DOOR = ("nhalf", "nhalf.__main__")
"""What lies above all wings: the way in from a notebook and from a shell."""


@dataclass(frozen=True)
class Arrow:
    """One file imports another."""

    importer: str
    imported: str

    def __str__(self) -> str:
        return f"{self.importer} -> {self.imported}"


def module_files(root: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    source = root / "src"
    found = {}
    for path in sorted((source / "nhalf").rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def arrows(files: Mapping[str, Path]) -> set[Arrow]:
    """Every import of one module by another, wherever in the file it stands."""
    return {
        Arrow(name, imported)
        for name, path in files.items()
        for imported in _imported(path.read_text("utf-8"), files, _package(name, path))
        if imported != name
    }


def _package(name: str, path: Path) -> list[str]:
    """The folder in which a module stands, from which it may count dots."""
    parts = name.split(".")
    return parts if path.name == "__init__.py" else parts[:-1]


def _imported(text: str, files: Mapping[str, Path], package: list[str]) -> Iterator[str]:
    """The modules of the package that a file names; plug-ins are loaded from a package's name."""
    for node in _naming_nodes(text):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            outer = ".".join([*above, *filter(None, [node.module])])
            inner = (f"{outer}.{alias.name}" for alias in node.names)
            yield from {name if name in files else outer for name in inner} & files.keys()
        else:
            yield from {str(node.value)} & (files.keys() - set(DOOR))


@cache
def _naming_nodes(text: str) -> tuple[ast.Import | ast.ImportFrom | ast.Constant, ...]:
    """Imports and strings that could be a module's name; the same text is parsed once."""
    return tuple(
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Constant) and str(node.value).startswith("nhalf"))
    )


def wing(module: str) -> str:
    """The wing in which a module stands; '' for the door."""
    return "" if module in DOOR else module.split(".")[1]


def arrows_up(found: set[Arrow]) -> list[Arrow]:
    """Imports of a wing that stands below in the order, or of the door."""
    place = {name: number for number, name in enumerate([*ORDER, ""])}
    unknown = len(place)
    return sorted(
        (a for a in found if place.get(wing(a.imported), unknown) > place[wing(a.importer)]),
        key=str,
    )


def circles(found: set[Arrow]) -> list[list[str]]:
    """Groups of files that import each other, by R. Tarjan's components (SIAM J. Comput. 1, 1972).

    Found by leaving out, again and again, what imports nothing or is imported by nothing.
    """
    left = {(a.importer, a.imported) for a in found}
    while True:
        ends = {imported for _, imported in left} & {importer for importer, _ in left}
        kept = {(a, b) for a, b in left if a in ends and b in ends}
        if kept == left:
            break
        left = kept
    return _groups(left)


def _groups(edges: set[tuple[str, str]]) -> list[list[str]]:
    """The files of `edges` that reach themselves, grouped by whom they reach and are reached by."""
    reach = {start: _reached(start, edges) for start, _ in edges}
    groups = {
        tuple(sorted(other for other in reach[one] if one in reach.get(other, ())))
        for one in reach
        if one in reach[one]
    }
    return [list(group) for group in sorted(groups)]


def _reached(start: str, edges: set[tuple[str, str]]) -> set[str]:
    found: set[str] = set()
    ahead = {start}
    while ahead:
        ahead = {b for a, b in edges if a in ahead} - found
        found |= ahead
    return found


def between_wings(found: set[Arrow]) -> Counter[tuple[str, str]]:
    """How many imports there are between two wings."""
    pairs = ((wing(a.importer), wing(a.imported)) for a in found)
    return Counter(pair for pair in pairs if pair[0] != pair[1] and all(pair))


def lines(root: Path) -> dict[str, int]:
    """The lines of code of every wing, and of every room of the C++ side."""
    folders = [
        *((folder.name, folder) for folder in sorted((root / "src" / "nhalf").glob("*/"))),
        *(
            (f"{part}/{folder.name}", folder)
            for part in ("apps", "native")
            for folder in sorted((root / part).glob("*/"))
        ),
    ]
    counts = {}
    for name, folder in folders:
        code = [path for path in folder.rglob("*") if path.suffix in CODE_SUFFIXES]
        if code:
            counts[name] = sum(len(path.read_text("utf-8").splitlines()) for path in code)
    return counts


def exceeded(counts: Mapping[str, int]) -> list[str]:
    """What has more lines than its budget, or no budget; and budgets of what does not exist."""
    over = [
        f"{name} has {count} lines, {budget} may: shorten it, "
        "or raise its budget in tools/wings.py and give the reason in the same commit"
        for name, count in counts.items()
        if count > (budget := BUDGET_LINES.get(name, count))
    ]
    return [
        *over,
        *(f"{name} has no budget of lines" for name in counts if name not in BUDGET_LINES),
        *(f"{name} has a budget and does not exist" for name in BUDGET_LINES if name not in counts),
    ]


def complaints(root: Path) -> list[str]:
    """What is against the order or over its budget, a line each."""
    files = module_files(root)
    found = arrows(files)
    there = {wing(name) for name in files} - {""}
    said = [f"wing {name} has no place in the order" for name in sorted(there - ORDER.keys())]
    said += [f"wing {name} is in the order and not there" for name in ORDER if name not in there]
    if len(there) > WINGS_MAX:
        said.append(f"{len(there)} wings, {WINGS_MAX} at most")
    said += [f"up: {arrow}" for arrow in arrows_up(found)]
    said += [f"circle: {', '.join(group)}" for group in circles(found)]
    return said + exceeded(lines(root))


def _of_budget(name: str, counts: Mapping[str, int]) -> str:
    """How many lines a wing or a room has, and how many it may have."""
    return f"{counts.get(name, 0):>5} of {BUDGET_LINES.get(name, 0):>5} lines"


def main(arguments: list[str]) -> int:
    """Print the house; 1 if something is against its order."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    files = module_files(root)
    found = arrows(files)
    pairs = between_wings(found)
    counts = lines(root)
    for name, what in ORDER.items():
        members = sum(wing(module) == name for module in files)
        below = [f"{to} {count}" for (of, to), count in sorted(pairs.items()) if of == name]
        size = f"{members:>3} files {_of_budget(name, counts)}"
        print(f"{name:<10} {size}  {what}\n{'':<42}imports {', '.join(below) or '–'}")
    for name in counts:
        if name not in ORDER:
            print(f"{name:<20} {_of_budget(name, counts)}")
    said = complaints(root)
    print(
        f"{len(ORDER)} wings, {sum(pairs.values())} arrows between {len(pairs)} pairs, "
        f"{len(circles(found))} circles, {len(arrows_up(found))} up"
    )
    for line in said:
        print(line)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The published studies that can be repeated, one file each in `records/`: read, and checked."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec

from nhalf.base.errors import InputError, NhalfError, unknown
from nhalf.base.typed_toml import read_toml, typed
from nhalf.machines import catalogue
from nhalf.mpi.transport_files import kernels_of, program_files, transport_files
from nhalf.studies.counted import PREFIX
from nhalf.studies.derived import DERIVED
from nhalf.studies.form import (
    Conclusion,
    ContradictionCause,
    Figure,
    FigureForm,
    OptionsForm,
    Quantity,
    StudyForm,
    TableForm,
)

OF_KERNELS = frozenset({"class", "barriers", "threads"})
"""Axes of the kernels of an application, which no probe has."""


def check_names(path: Path, form: StudyForm) -> None:
    """Check the names and sizes in a study before anything is measured for it.

    Raises InputError with the place and the closest names for a machine, a pattern, a transport or
    an axis that is unknown, and for a size or an axis that cannot be read.
    """
    machines = catalogue.names()
    groups = [name for group in form.machines for name in group]
    _check(path, "machines", "machine of record", groups, machines)
    for conclusion in form.conclusion:
        _check(path, conclusion.id, "machine of this study", conclusion.drawn_on, groups)
        records = [*conclusion.not_of, *conclusion.contained_in]
        records += [conclusion.published.machine] if conclusion.published else []
        _check(path, conclusion.id, "machine of record", records, machines)
    for place, quantity in quantities(form):
        try:
            _check_quantity(path, place, quantity)
        except InputError as error:
            start = "" if str(path) in error.message else f"{path}: {place}: "
            raise InputError(f"{start}{error.message}", error.remedy) from error


def quantities(form: StudyForm) -> Iterator[tuple[str, Quantity]]:
    """Every number of a study, with the id of what it belongs to."""
    for table in form.table:
        yield from ((table.id, column.value) for column in table.column)
    yield from ((figure.id, figure.value) for figure in form.figure)
    for options in form.options:
        yield from ((options.id, quantity) for quantity in options.options.values())
    for conclusion in form.conclusion:
        yield conclusion.id, conclusion.value
        if conclusion.over is not None:
            yield conclusion.id, conclusion.over


def _check_quantity(path: Path, place: str, quantity: Quantity) -> None:
    if quantity.machine:
        _check(path, place, "machine of record", [quantity.machine], catalogue.names())
    if quantity.transport and len(transport_files()) > 1:
        _check(path, place, "transport", [quantity.transport], _transports())
    axes = _axes_by_pattern()
    if quantity.pattern and axes:
        _check(path, place, "pattern", [quantity.pattern], axes)
        of_kernel = OF_KERNELS if quantity.pattern.startswith(PREFIX) else frozenset[str]()
        _check(path, place, "axis", quantity.axes, axes[quantity.pattern] | of_kernel)
    quantity.axis_values(max(4, quantity.ranks))
    if quantity.size_bytes < 0 or quantity.ranks < 1:
        raise InputError("bytes must be at least 0, and ranks at least 1")


def _check(path: Path, place: str, kind: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raises InputError for a name that is not allowed."""
    for name in names:
        if name not in allowed:
            error = unknown(kind, name, allowed)
            raise InputError(f"{path}: {place}: {error.message}", error.remedy)


@cache
def _transports() -> frozenset[str]:
    """The transports of probes and of records."""
    recorded = {
        curve.transport for name in catalogue.names() for curve in catalogue.machine(name).models
    }
    return frozenset(transport_files()) | recorded


@cache
def _axes_by_pattern() -> dict[str, frozenset[str]]:
    """The axes of every pattern that a probe, a record or a result has; none without probes."""
    from nhalf.measure.probe.pattern import every_info

    try:
        infos = every_info()
    except NhalfError:
        return {}
    patterns = set(DERIVED)
    for program in program_files().values():
        patterns.update(f"{program.app}-{kernel}" for kernel in kernels_of(program))
    for machine in map(catalogue.machine, catalogue.names()):
        patterns.update(point.pattern for point in machine.points)
        patterns.update(curve.pattern for curve in machine.models)
        patterns.update(model.pattern for model in machine.patterns)
    axes = {name: frozenset[str]() for name in patterns}
    return axes | {name: frozenset(a.name for a in info.axes) for name, info in infos.items()}


FIGURES = frozenset(name for literal in get_args(Figure) for name in get_args(literal))
MEMBERS = {
    **dict.fromkeys(("on-node", "off-node"), "placement"),
    **dict.fromkeys(("first", "middle", "last"), "phase"),
    **dict.fromkeys(FIGURES, "figure"),
    "cyclic": "mapping",
}
"""Words that are the value of a member."""
BEFORE = {"by": "transport", "of": "machine", "its": "extra"}
"""Words before the value of a member."""
_SIZE = re.compile(r"\d+[KMG]?")
_RANKS = re.compile(r"\b(?:on\s+)?(\d+)\s+ranks?\b")
REMEDY = (
    "write pattern/algorithm, a size, on N ranks, on-node or off-node, axis=value, by TRANSPORT, "
    "of MACHINE, its RESULT or a figure; or the members in braces"
)


def members(text: str) -> dict[str, Any]:
    """The members of a number from its words, the pattern first, or of a node from its name.

    'traffic 10K on 16 ranks to=cube rate' has the pattern traffic, bytes, ranks, an axis and a
    figure; 'node l1-size' is of a node. Raises InputError for a word that means nothing.
    """
    ranks = _RANKS.search(text)
    pattern, *words = _RANKS.sub("", text).split() or [""]
    if pattern == "node":
        return {"node": " ".join(words)}
    name, _, algorithm = pattern.partition("/")
    number: dict[str, Any] = {"pattern": name} | ({"algorithm": algorithm} if algorithm else {})
    number |= {"ranks": int(ranks[1])} if ranks else {}
    further = iter(words)
    for word in further:
        axis, equals, value = word.partition("=")
        if equals:
            number.setdefault("axes", {})[axis] = int(value) if value.isdecimal() else value
        elif word in MEMBERS:
            number[MEMBERS[word]] = word
        elif word in BEFORE:
            number[BEFORE[word]] = next(further, "")
        elif word == "predicted":
            number[word] = True
        elif _SIZE.fullmatch(word):
            number["bytes"] = int(word) if word.isdecimal() else word
        else:
            raise InputError(f"unknown word '{word}' in the number '{text}'", REMEDY)
    return number


FOLDER = Path(__file__).parent / "records"
TABLES: dict[str, type[msgspec.Struct]] = {
    "table": TableForm,
    "figure": FigureForm,
    "options": OptionsForm,
    "conclusion": Conclusion,
    "cause": ContradictionCause,
}
NUMBERS = "number"
"""The table of numbers that a file names, where words would be too long or stand too often."""


def names() -> list[str]:
    """The studies by name."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def path_of(name: str) -> Path:
    """The file of a study, or a file of the same form that ends in .toml.

    Raises InputError for an unknown name, with the closest names.
    """
    if name.endswith(".toml"):
        return Path(name)
    if name not in names():
        raise unknown("published study", name, names())
    return FOLDER / f"{name}.toml"


def study(name: str) -> StudyForm:
    """Read a study; raises InputError for a file that is none, and for an id that stands twice."""
    path = path_of(name)
    content = _content(path)
    for part in _parts(path, content):
        for key, rows in _content(path.parent / part).items():
            if key not in TABLES:
                error = unknown("key", key, [*TABLES, NUMBERS])
                raise InputError(f"{path.parent / part}: {key}: {error.message}", error.remedy)
            content[key] = [*content.get(key, []), *rows]
    form = typed(path, content, StudyForm, TABLES)
    if not form.conclusion:
        raise InputError(f"{path} has no conclusion", "add a [[conclusion]] with a claim and value")
    ids = [table.id for table in form.table] + [figure.id for figure in form.figure]
    ids += [options.id for options in form.options]
    ids += [conclusion.id for conclusion in form.conclusion]
    for name_of_part, count in Counter(ids).items():
        if count > 1:
            raise InputError(f"{path}: id {name_of_part} stands {count} times", "rename one")
    check_names(path, form)
    return form


def _parts(path: Path, content: Mapping[str, Any]) -> list[str]:
    """The files of a study beside its own."""
    parts = content.get("parts", [])
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise InputError(f"{path}: parts is not a list of files", 'write parts = ["more.toml"]')
    return parts


def _content(path: Path) -> dict[str, Any]:
    """The content of a file, in which numbers that it names stand for their names."""
    content = read_toml(path)
    numbers = content.pop(NUMBERS, {})
    for key in TABLES:
        rows = content.get(key, [])
        for row in rows if isinstance(rows, list) else []:
            columns = row.get("column", []) if isinstance(row, dict) else []
            for place in (row, *(columns if isinstance(columns, list) else [])):
                _fill_in(path, place, numbers)
    return content


def _fill_in(path: Path, row: Any, numbers: Mapping[str, Any]) -> None:
    """Replace numbers in words, or by a name of their file, with their members.

    Raises InputError for words that mean nothing.
    """
    for key in ("value", "over"):
        text = row.get(key) if isinstance(row, dict) else None
        if isinstance(text, str):
            try:
                row[key] = numbers[text] if text in numbers else members(text)
            except InputError as error:
                raise InputError(f"{path}: {key}: {error.message}", error.remedy) from error

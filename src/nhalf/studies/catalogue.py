"""The published studies that can be repeated, one file each in `records/`."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.typed_toml import read_toml, typed
from nhalf.studies.checks import check_names
from nhalf.studies.form import (
    Conclusion,
    ContradictionCause,
    FigureForm,
    OptionsForm,
    StudyForm,
    TableForm,
)
from nhalf.studies.number_words import members

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

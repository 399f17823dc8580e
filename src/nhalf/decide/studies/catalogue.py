# SPDX-License-Identifier: Apache-2.0
"""The published studies that can be repeated, one file each in `records/`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.typed_toml import read_toml, typed
from nhalf.decide.studies.form import Conclusion, FigureForm, OptionsForm, StudyForm, TableForm

FOLDER = Path(__file__).parent / "records"
TABLES: dict[str, type[msgspec.Struct]] = {
    "table": TableForm,
    "figure": FigureForm,
    "options": OptionsForm,
    "conclusion": Conclusion,
}


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
    form = typed(path, read_toml(path), StudyForm, TABLES)
    ids = [table.id for table in form.table] + [figure.id for figure in form.figure]
    ids += [options.id for options in form.options]
    ids += [conclusion.id for conclusion in form.conclusion]
    for name_of_part, count in Counter(ids).items():
        if count > 1:
            raise InputError(f"{path}: id {name_of_part} stands {count} times", "rename one")
    return form

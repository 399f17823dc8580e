"""Names of classes: one name, one thing in all of the package.

A plug-in is found by its folder: only there a name may stand again, as that of a finding beside
that of the panel that draws it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from style_source import PYTHON, Complaint, Source

PACKAGE = "src/nhalf/"
PLUGIN_FOLDERS = {
    *(
        "cli/forms",
        "cli/verbs",
        "exchange/exporters",
        "exchange/importers",
        "exchange/styles",
        "models/forms",
    ),
    *("mpi/vendors", "present/findings", "present/panels", "results", "sites/batch"),
    *("sites/launchers", "measure/apps", "present/program/findings", "present/program/panels"),
    *("experiment/improve/candidates", "experiment/improve/forms"),
}


def is_plugin(path: str) -> bool:
    """Whether a file is a plug-in: all that a folder of plug-ins holds beside `__init__.py`."""
    inside = PurePosixPath(path.removeprefix(PACKAGE))
    folder = inside.parent.as_posix()
    return folder in PLUGIN_FOLDERS and inside.name != "__init__.py"


def class_names_stand_once(sources: list[Source]) -> Iterator[Complaint]:
    """No public class has the name of another one; plug-ins may."""
    first_place: dict[str, str] = {}
    for source in sorted(sources, key=lambda source: source.path):
        is_package = source.suffix in PYTHON and source.path.startswith(PACKAGE)
        if not is_package or is_plugin(source.path):
            continue
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                place = first_place.setdefault(node.name, source.path)
                if place != source.path:
                    what = f"{place} has another {node.name}: say in the name what each of them is"
                    yield source.complain(node.lineno, "class-name", what)

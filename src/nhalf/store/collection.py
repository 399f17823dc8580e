# SPDX-License-Identifier: Apache-2.0
"""Collections: folders of runs that are queried as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.store.run import DESCRIPTION, Run

USUAL = Path("runs")
"""The default folder of runs."""


def collected(places: Iterable[Path]) -> list[Run]:
    """The runs at `places`, each a run or a folder of runs, in that order; each run once.

    Raises InputError if there is none, or if a place is neither.
    """
    runs_by_path: dict[Path, Run] = {}
    for place in places:
        for path in _run_folders(place):
            run = Run.open(path)
            runs_by_path.setdefault(run.path, run)
    return list(runs_by_path.values())


def _run_folders(place: Path) -> list[Path]:
    """A run itself, or the runs below a folder, however deep, by name."""
    if not place.is_dir() or (place / DESCRIPTION).is_file():
        return [place]
    inside = sorted(file.parent for file in place.rglob(DESCRIPTION))
    if not inside:
        raise InputError(f"{place} holds no run", "name run directories, or a folder of them")
    return inside


def distinct(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by unique name: the folder's, prefixed with its parent's if that is ambiguous.

    A folder given twice counts once, so that its launches do not count double.
    """
    runs_by_name: dict[str, Run] = {}
    for run in {run.path.resolve(): run for run in runs}.values():
        path = run.path.resolve()
        candidates = [path.name, f"{path.parent.name}/{path.name}", str(path)]
        runs_by_name[next(name for name in candidates if name not in runs_by_name)] = run
    return runs_by_name

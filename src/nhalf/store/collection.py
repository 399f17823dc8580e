"""Collections: folders of runs that are queried as one."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.store.run import DESCRIPTION, Run, as_text


@dataclass(frozen=True)
class Collection:
    """Runs that are read as one; `unreadable` says for each folder that is left out why."""

    runs: list[Run]
    unreadable: dict[Path, str]


def collected(
    places: Iterable[Path], check: Callable[[Run], None] = lambda run: None
) -> Collection:
    """The runs at `places`, each a run or a folder of runs, in that order; each run once.

    A run that a folder holds and that cannot be read, or for which `check` raises InputError, is
    left out. Raises InputError for a place that is no such run itself, and if there is no run.
    """
    runs_by_path: dict[Path, Run] = {}
    unreadable: dict[Path, str] = {}
    for place in places:
        if not place.is_dir() or (place / DESCRIPTION).is_file():
            run = Run.open(place)
            run.check()
            check(run)
            runs_by_path.setdefault(run.path, run)
            continue
        for path in _run_folders(place, unreadable):
            try:
                run = Run.open(path)
                if run.path not in runs_by_path:
                    run.check()
                    check(run)
                    runs_by_path[run.path] = run
            except InputError as error:
                unreadable[path] = str(error)
    if unreadable and not runs_by_path:
        raise InputError("no run can be read", "; ".join(dict.fromkeys(unreadable.values())))
    return Collection(list(runs_by_path.values()), unreadable)


def _run_folders(place: Path, unreadable: dict[Path, str]) -> list[Path]:
    """The runs below a folder, however deep, by name; notes folders that cannot be listed.

    Raises InputError if there is neither.
    """

    def note(error: OSError) -> None:
        path = Path(error.filename)
        unreadable[path] = f"{path} cannot be listed: {error.strerror}"

    inside = sorted(
        Path(folder) for folder, _, files in os.walk(place, onerror=note) if DESCRIPTION in files
    )
    if not inside and not unreadable:
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
        names = (name for name in map(as_text, candidates) if name not in runs_by_name)
        runs_by_name[next(names)] = run
    return runs_by_name

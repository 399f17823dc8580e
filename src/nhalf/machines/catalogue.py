"""Machines of record, one file each in `records/`, and machine files of users, by name or path."""

from functools import cache
from pathlib import Path

from nhalf.base.errors import InputError, UnknownName, unknown
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import read

FOLDER = Path(__file__).parent / "records"
OF_RECORD = (
    "machines of record are of publications from 1995 to 2025; make a file of your own with "
    "nhalf fit RUN --out mine.toml"
)


def names() -> list[str]:
    """The machines of record."""
    return sorted(path.stem for path in FOLDER.rglob("*.toml"))


def of_studies() -> list[str]:
    """The machines up to 2005, whose studies give parameters; later ones have tables of curves."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def path_of(name: str | Path) -> Path:
    """The file of a machine of record, or the path itself; a record's name goes first.

    Raises InputError for a name that is neither, with the closest names.
    """
    text = str(name)
    if text in names():
        return next(path for path in FOLDER.rglob("*.toml") if path.stem == text)
    path = Path(name)
    if path.exists():
        return path
    if path.suffix or path.parent != Path():
        remedy = "name another file, or a machine of `nhalf machines list`"
        raise InputError(f"there is no machine file {text}", remedy)
    raise unknown_machine("machine", text)


def unknown_machine(kind: str, name: str) -> UnknownName:
    """The error for a machine that is neither of record nor a file; it says how to make one."""
    error = unknown(kind, name, names())
    return UnknownName(kind, name, error.known_names, f"{error.remedy} ({OF_RECORD})")


def machine(name: str | Path) -> Machine:
    """A machine of record by its name, else the machine in a file.

    Raises InputError for an unknown name, and for a file that is no machine file.
    """
    path = path_of(name)
    return _of_record(path) if path.is_relative_to(FOLDER) else read(path)


@cache
def _of_record(path: Path) -> Machine:
    """A machine of record, whose file does not change: studies ask for it thousands of times."""
    return read(path)


def is_machine(name: str | Path) -> bool:
    """Whether this is a machine of record, or a file (no directory) that ends with .toml."""
    if Path(name).is_dir():
        return False
    return str(name) in names() or (Path(name).suffix == ".toml" and Path(name).is_file())

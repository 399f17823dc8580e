"""The prefixes of `nhalf mpi install`, without those that another user could have put there."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.folders import DATA, mpi_folder
from nhalf.base.trusted import why_not_own

_PARTS = ("", "lib", "bin", "bin/mpiexec", "bin/mpirun")
"""Parts of a prefix that are checked before anything of it runs."""


@dataclass(frozen=True)
class OwnPrefixes:
    """The prefixes that may be used; for others the mpiexec that is not run, and why."""

    prefixes: list[Path] = field(default_factory=list)
    not_run: dict[Path, str] = field(default_factory=dict)


def own_prefixes() -> OwnPrefixes:
    """The prefixes in the data folder, without those that another user could have put there."""
    try:
        folder = mpi_folder()
        names = sorted(os.listdir(folder))
    except MissingError as error:
        return OwnPrefixes(not_run=_whole_folder(error))
    except OSError:  # nothing installed yet, or not ours to read
        return OwnPrefixes()
    own = OwnPrefixes()
    for prefix in (folder / name for name in names if not name.startswith(".")):
        if reason := _why_not_own(prefix):
            own.not_run[prefix / "bin" / "mpiexec"] = f"not run: {reason}"
        else:
            own.prefixes.append(prefix)
    return own


def _whole_folder(error: MissingError) -> dict[Path, str]:
    """All prefixes as one pattern, since another user may have chosen the names."""
    with suppress(MissingError):
        folder = DATA.place() / "mpi"
        if os.path.isdir(folder):
            return {folder / "*" / "bin" / "mpiexec": error.message}
    return {}


def _why_not_own(prefix: Path) -> str:
    return next(filter(None, (why_not_own(prefix / part) for part in _PARTS)), "")

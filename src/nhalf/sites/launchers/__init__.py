"""Launchers that do not belong to a library: one file per launcher.

To add one, put a file into this folder: `NAME.py` with one class that derives from
`nhalf.mpi.job.Launcher`. It is then `nhalf run --launcher NAME`; no other file changes.
"""

import shutil

from nhalf.base import plugins
from nhalf.base.errors import MissingError, unknown
from nhalf.mpi.job import Launcher, MpiJob
from nhalf.mpi.vendors import vendors

PACKAGE = "nhalf.sites.launchers"
OWN = "mpirun"
"""Asks for the launcher that came with each library."""


def launchers() -> dict[str, type[Launcher]]:
    """Every launcher by its name for users: those of the libraries, and of this folder."""
    own: dict[str, type[Launcher]] = {
        vendor.launcher: type(vendor) for vendor in vendors().values()
    }
    independent = plugins.load(PACKAGE, Launcher)
    for name in {OWN, *own} & set(independent):
        raise MissingError(
            f"{independent[name].__module__} has the name of an MPI library's launcher, {name}",
            "give it another one",
        )
    return own | independent


def check_launcher(name: str) -> None:
    """Raises InputError for a launcher that is unknown; '' is each library's own."""
    if name not in ("", OWN) and name not in launchers():
        raise unknown("launcher", name, [OWN, *launchers()])


def notice(name: str) -> str:
    """A launcher's warning before its first start, '' if there is none."""
    own = ("", OWN, *(vendor.launcher for vendor in vendors().values()))
    return "" if name in own else launchers()[name]().notice()


def check_is_here(name: str) -> None:
    """Raises MissingError if the program of a launcher in this folder is missing."""
    if name in ("", OWN, *(vendor.launcher for vendor in vendors().values())):
        return
    program = launchers()[name]().tokens(MpiJob(("probe",), ranks=1))[0]
    if shutil.which(program) is None:
        raise MissingError(
            f"{program} is not found", f"load the module that has it, or use --launcher {OWN}"
        )

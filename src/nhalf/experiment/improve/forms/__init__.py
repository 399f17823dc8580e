"""Forms of the file that switches on what was proven to help."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from nhalf.base import plugins
from nhalf.base.errors import InputError, unknown
from nhalf.experiment.improve.winner import Winner

PACKAGE = "nhalf.experiment.improve.forms"
ENTRY_POINTS = "nhalf.improve_forms"
USUAL = "script"
"""The form of a file whose name does not tell, and of what another form cannot hold."""


class WinnerForm(ABC):
    """One form: how it is chosen, what it can hold, and its text."""

    endings: ClassVar[tuple[str, ...]]
    """Ends of file names that choose it, with the dot."""

    is_executable: ClassVar[bool] = False

    needs_ending: ClassVar[bool] = False
    """Whether what reads it wants one of these ends."""

    def problem(self, winner: Winner) -> str:
        """Why the form cannot hold a winner, '' if it can."""
        return ""

    @abstractmethod
    def text(self, winner: Winner) -> str:
        """The whole file."""


def forms() -> dict[str, WinnerForm]:
    """All forms by name."""
    return {name: kind() for name, kind in plugins.load(PACKAGE, WinnerForm).items()}


def form_for(path: Path, name: str = "") -> str:
    """The name of the form of a file: the one that is asked for, or that of the file's ending.

    Raises InputError for a form that there is not, or that such a file cannot have.
    """
    all_forms = forms()
    if name and name not in all_forms:
        raise unknown("form", name, all_forms)
    by_ending = {ending: key for key, form in all_forms.items() for ending in form.endings}
    chosen = name or by_ending.get(path.suffix, USUAL)
    form = all_forms[chosen]
    if form.needs_ending and path.suffix not in form.endings:
        raise InputError(
            f"{path} is not read as {chosen}", f"let its name end in {' or '.join(form.endings)}"
        )
    return chosen

"""Forms of the file that switches on what was proven to help, and what goes into each of them."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from nhalf.base import plugins
from nhalf.base.errors import InputError, unknown
from nhalf.experiment.improve.change import LaunchChange, rules_of
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.mpi.tuner import Tuner


@dataclass(frozen=True)
class Winner:
    """The plain launch and the improved one, with the `changes` that make the difference by name.

    `remarks` are the proof in words. `settings` are variables that are set even where they do not
    differ, since the proof holds with them. `ranks` and `hosts` are 0 if unknown. `in_batch` are
    variables that the launcher needs within a job, `tuning` is the file that variables name.
    """

    plain: LaunchCommand
    improved: LaunchCommand
    changes: Mapping[str, LaunchChange] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    settings: Collection[str] = ()
    ranks: int = 0
    hosts: int = 0
    in_batch: Mapping[str, str] = field(default_factory=dict)
    tuning: Path | None = None

    @property
    def gone(self) -> list[str]:
        """The variables of the plain launch's environment that the improved one lacks."""
        return sorted(set(self.plain.environment) - set(self.improved.environment))

    @property
    def exported(self) -> dict[str, str]:
        """The variables of the environment that differ, or that the proof holds with."""
        before, after = self.plain.environment, self.improved.environment
        changed = {name for name in after if before.get(name) != after[name]}
        return {name: after[name] for name in sorted(changed | (set(self.settings) & set(after)))}

    @property
    def rules(self) -> list[Rule]:
        """The choices of algorithms among the changes."""
        return rules_of(self.changes.values())

    @property
    def tuner(self) -> Tuner | None:
        """What writes them; None without any."""
        return next((change.tuner for change in self.changes.values() if change.rules), None)

    @property
    def variable_lines(self) -> list[str]:
        """The lines of a shell that make one environment the other."""
        exports = [f"export {name}={shlex.quote(text)}" for name, text in self.exported.items()]
        return [*(f"unset {name}" for name in self.gone), *exports]

    @property
    def about(self) -> str:
        """The winner in a line, for those who list modules."""
        return " ".join((self.remarks[0] if self.remarks else "nhalf improve").split())

    def comments(self, mark: str) -> list[str]:
        """The remarks as lines of comment."""
        return [f"{mark} {' '.join(remark.split())}" for remark in self.remarks]


PACKAGE = "nhalf.experiment.improve.forms"
BY_SUBJECT = True
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

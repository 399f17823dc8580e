"""What was proven to help, as all forms of the file need it that switches it on."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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

    def comments(self, mark: str) -> list[str]:
        """The remarks as lines of comment."""
        return [f"{mark} {' '.join(remark.split())}" for remark in self.remarks]

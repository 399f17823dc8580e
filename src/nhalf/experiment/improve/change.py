"""A change of how a program is launched, as data: it can be applied, combined and written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.experiment.improve.algorithm_rules import forcing_variables, overlap, rule_variables
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.launch_settings import (
    LaunchCommand,
    with_options,
    with_variable,
    without_variable,
)
from nhalf.mpi.tuner import Tuner


@dataclass(frozen=True)
class LaunchChange:
    """Variables to set, or to take away where the value is None, and options of the launcher.

    `options` take the place of all options named in `replaced`, written without dashes;
    `launcher` takes that of the launcher, unless it is empty. `rules` choose algorithms of the
    library, for which `tuner` has a file or variables. `starts` is the vendor of another library
    that the launch gets, `honoured_by` that of the only one that honours it.
    """

    variables: Mapping[str, str | None] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    launcher: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    tuner: Tuner | None = None
    starts: str = ""
    honoured_by: str = ""

    def applied(self, launch: LaunchCommand) -> LaunchCommand:
        """The launch with this change, but for its rules, which go into one file with others."""
        changed = launch
        for name, value in self.variables.items():
            changed = (
                without_variable(changed, name)
                if value is None
                else with_variable(changed, name, value)
            )
        if self.replaced or self.options:
            changed = with_options(changed, self.replaced, self.options)
        return replace(changed, launcher=self.launcher) if self.launcher else changed

    @property
    def only_removes(self) -> bool:
        """Whether it takes settings away, and sets nothing."""
        is_set = any(value is not None for value in self.variables.values())
        return bool(self.variables) and not (is_set or self.options or self.launcher)

    @property
    def subjects(self) -> frozenset[str]:
        """What it changes besides its rules."""
        launcher = {"the launcher"} if self.launcher else set()
        return frozenset({*self.variables, *self.replaced, *launcher})

    @property
    def ruled(self) -> frozenset[str]:
        """The variables that its rules may set or take away."""
        operations = {rule.operation for rule in self.rules}
        names = forcing_variables(self.tuner, operations) if self.tuner else ()
        return frozenset(names)

    def excludes(self, change: LaunchChange) -> bool:
        """Whether it changes what another one has changed, or says nothing to the library that the
        other one starts. Rules come last, and need not mind.
        """
        is_lost = bool(change.starts) and self.honoured_by not in ("", change.starts)
        return bool(
            is_lost
            or self.subjects & change.subjects
            or self.subjects & change.ruled
            or any(overlap(own, rule) for own in self.rules for rule in change.rules)
        )


def applied(
    changes: Iterable[LaunchChange], launch: LaunchCommand, tuning: Path | None = None
) -> LaunchCommand:
    """The launch with several changes, in their order.

    Their rules go together into the file `tuning`, which is written if variables do not hold them.
    """
    chosen = list(changes)
    for change in chosen:
        launch = change.applied(launch)
    rules = rules_of(chosen)
    tuner = next((change.tuner for change in chosen if change.tuner is not None), None)
    if tuner is None or not rules:
        return launch
    assert tuning is not None
    return LaunchChange(rule_variables(tuner, rules, tuning, launch.variables)).applied(launch)


def rules_of(changes: Iterable[LaunchChange]) -> list[Rule]:
    """The rules of all changes."""
    return [rule for change in changes for rule in change.rules]

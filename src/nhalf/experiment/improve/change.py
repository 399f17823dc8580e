"""A change of a launch, and a candidate: a change that may be faster, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.mpi.decision_table import Rule
from nhalf.mpi.launch_settings import LaunchCommand, with_options, with_variable, without_variable
from nhalf.mpi.tuner import OwnFile, Tuner


def overlap(first: Rule, second: Rule) -> bool:
    """Whether two rules decide on the same calls."""
    return (
        first.operation == second.operation
        and max(first.from_ranks, second.from_ranks) <= min(first.to_ranks, second.to_ranks)
        and max(first.from_bytes, second.from_bytes) <= min(first.to_bytes, second.to_bytes)
    )


def is_for_all(rule: Rule) -> bool:
    """Whether a rule is for all calls of its operation, which variables hold without a file."""
    ends = (rule.from_bytes, rule.to_bytes, rule.from_ranks, rule.to_ranks)
    return ends == (0, math.inf, 0, math.inf)


def _written(
    tuner: Tuner, rules: Sequence[Rule], path: Path, environment: Mapping[str, str]
) -> dict[str, str]:
    """The variables of a file that is written: over a launch's own, or in place of it."""
    all_rules = tuner.expressible(tuner.beside_own(rules, environment))
    if any(not file.problem for file in tuner.own_files(environment)):
        return tuner.extend(path, all_rules, environment)
    tuner.write(path, all_rules)
    tuner.read(path)
    return tuner.activate(path)


def replaced_files(tuner: Tuner, environment: Mapping[str, str]) -> list[OwnFile]:
    """The files of a launch that a rule takes the place of, since it cannot be added to them."""
    return [file for file in tuner.own_files(environment) if file.problem]


def forcing_variables(tuner: Tuner, operations: Iterable[str]) -> list[str]:
    """The variables that force an algorithm of these operations, whichever it is."""
    names = {
        name
        for operation in operations
        for algorithm in tuner.algorithms(operation)
        for name in tuner.force({operation: algorithm})
    }
    return sorted(names)


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
        return frozenset(forcing_variables(self.tuner, operations) if self.tuner else ())

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

    Rules for some calls only go together into the file `tuning`, which stays if variables name it.
    Those of the files and variables that the launch has already stay behind them, as far as they
    can be read.
    """
    chosen = list(changes)
    for change in chosen:
        launch = change.applied(launch)
    rules = rules_of(chosen)
    tuner = next((change.tuner for change in chosen if change.tuner is not None), None)
    if tuner is None or not rules:
        return launch
    assert tuning is not None
    # Variables that would hide the rules are taken away.
    hiding = forcing_variables(tuner, {rule.operation for rule in rules})
    variables: dict[str, str | None] = dict.fromkeys(hiding)
    held = [rule for rule in rules if not is_for_all(rule)]
    if held:
        tuning.parent.mkdir(parents=True, exist_ok=True)
        variables.update(_written(tuner, held, tuning, launch.variables))
        if str(tuning.resolve()) not in variables.values():
            tuner.remove(tuning)
    forced = {rule.operation: rule.algorithm for rule in rules if is_for_all(rule)}
    if forced:
        variables.update(tuner.force(forced))
    return LaunchChange(variables).applied(launch)


def rules_of(changes: Iterable[LaunchChange]) -> list[Rule]:
    """The rules of all changes."""
    return [rule for change in changes for rule in change.rules]


LEAST_SHARE = 0.01
"""Candidates that can save less than this share of the time are not tried."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A change of the launch: `text` says what it does, `undo` how to take it back.

    `upper_share` is the largest share of the time that it can save, `expected_share` the share by
    which candidates are ordered.
    """

    name: str
    text: str
    undo: str
    change: LaunchChange
    upper_share: float = 1.0
    expected_share: float = 0.0

    @property
    def is_worth_a_launch(self) -> bool:
        """Whether it can save as much as matters."""
        return self.upper_share >= LEAST_SHARE

    def excludes(self, winner: Candidate) -> bool:
        """Whether it changes what a winner changes; what a winner takes away can be set upon it."""
        is_replacement = winner.change.only_removes and not self.change.only_removes
        return self.change.excludes(winner.change) and not is_replacement


Setting = tuple[Candidate, ...]
"""Candidates together; the empty one is the plain program."""
PLAIN: Setting = ()


def in_order(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates to try, the largest expected saving first."""
    return sorted(
        (candidate for candidate in candidates if candidate.is_worth_a_launch),
        key=lambda candidate: (-candidate.expected_share, candidate.name),
    )


def title(setting: Setting) -> str:
    """The name of a setting."""
    return " and ".join(candidate.name for candidate in setting) or "plain"

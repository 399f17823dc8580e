"""Rules for a library's algorithms in a launch: the variables, and the file that they name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nhalf.mpi.decision_table import Rule
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


def rule_variables(
    tuner: Tuner, rules: Sequence[Rule], path: Path, environment: Mapping[str, str]
) -> dict[str, str | None]:
    """The variables under which a library follows rules, None for those that would hide them.

    Rules for some calls only go into a file, which stays if the variables name it. Those of the
    files and variables that a launch has already stay behind them, as far as they can be read.
    """
    names = forcing_variables(tuner, {rule.operation for rule in rules})
    variables: dict[str, str | None] = dict.fromkeys(names)
    held = [rule for rule in rules if not is_for_all(rule)]
    if held:
        path.parent.mkdir(parents=True, exist_ok=True)
        variables.update(_written(tuner, held, path, environment))
        if str(path.resolve()) not in variables.values():
            tuner.remove(path)
    forced = {rule.operation: rule.algorithm for rule in rules if is_for_all(rule)}
    if forced:
        variables.update(tuner.force(forced))
    return variables


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

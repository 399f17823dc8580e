# SPDX-License-Identifier: Apache-2.0
"""Rules for a library's algorithms in a launch: the variables, and the file that they name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from nhalf.mpi.decision_table import Rule
from nhalf.mpi.tuner import Tuner


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


def rule_variables(tuner: Tuner, rules: Sequence[Rule], path: Path) -> dict[str, str | None]:
    """The variables under which a library follows rules, None for those that would hide them.

    Rules for some calls only go into a file, which stays if the variables name it.
    """
    names = forcing_variables(tuner, {rule.operation for rule in rules})
    variables: dict[str, str | None] = dict.fromkeys(names)
    held = [rule for rule in rules if not is_for_all(rule)]
    if held:
        path.parent.mkdir(parents=True, exist_ok=True)
        tuner.write(path, tuner.expressible(held))
        tuner.read(path)
        variables.update(tuner.activate(path))
        if str(path.resolve()) not in variables.values():
            tuner.remove(path)
    forced = {rule.operation: rule.algorithm for rule in rules if is_for_all(rule)}
    if forced:
        variables.update(tuner.force(forced))
    return variables


def forcing_variables(tuner: Tuner, operations: Iterable[str]) -> list[str]:
    """The variables that force an algorithm of these operations, whichever it is."""
    names = {
        name
        for operation in operations
        for algorithm in tuner.algorithms(operation)
        for name in tuner.force({operation: algorithm})
    }
    return sorted(names)

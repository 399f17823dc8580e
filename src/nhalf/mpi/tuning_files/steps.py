"""Rules as steps: for each number of ranks, the algorithm from a size to the next one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from nhalf.base.operations import CALLS, PER_RANK
from nhalf.mpi.decision_table import NATIVE, Rule, choice

RANK_BLOCKS_MAX = 64
"""Largest range of ranks with steps of their own, if sizes depend on the number of ranks."""

Value = TypeVar("Value")
Steps = list[tuple[int, str]]
"""Sizes in bytes from which algorithms apply; the first is 0."""


def steps_of(rules: Sequence[Rule], operation: str, ranks: int) -> Steps:
    """The steps of an operation for this many ranks."""
    own = [rule for rule in rules if rule.operation == operation]
    begins = {0, *(rule.from_bytes for rule in own)}
    begins |= {int(rule.to_bytes) + 1 for rule in own if math.isfinite(rule.to_bytes)}
    steps: Steps = []
    for begin_bytes in sorted(begins):
        algorithm = choice(own, operation, ranks, begin_bytes)
        if not steps or steps[-1][1] != algorithm:
            steps.append((begin_bytes, algorithm))
    return steps


def blocks_of(rules: Sequence[Rule], operation: str) -> list[tuple[int, Steps]]:
    """The numbers of ranks from which steps apply; the first block begins at 0.

    Sizes are those of the rules: of those that are PER_RANK one block, while libraries count all
    blocks of a rank. Blocks equal to the one before are omitted, except for operations
    whose size a library multiplies by the number of ranks.
    """
    own = [rule for rule in rules if rule.operation == operation]
    begins = {0}
    for rule in own:
        begins.add(rule.from_ranks)
        if math.isfinite(rule.to_ranks):
            begins.add(int(rule.to_ranks) + 1)
            count = int(rule.to_ranks) - rule.from_ranks
            if operation in PER_RANK and count <= RANK_BLOCKS_MAX:
                begins |= set(range(rule.from_ranks, int(rule.to_ranks) + 1))
    blocks: list[tuple[int, Steps]] = []
    for begin in sorted(begins):
        steps = steps_of(own, operation, begin)
        is_repeated = bool(blocks) and blocks[-1][1] == steps
        if not is_repeated or (operation in PER_RANK and len(steps) > 1):
            blocks.append((begin, steps))
    return blocks


def rules_from(operation: str, blocks: Sequence[tuple[int, Steps]]) -> list[Rule]:
    """The rules of blocks of steps; the library's own choice needs no rule."""
    rules = []
    for number, (begin, steps) in enumerate(blocks):
        end = blocks[number + 1][0] - 1 if number + 1 < len(blocks) else math.inf
        for place, (begin_bytes, algorithm) in enumerate(steps):
            last = place + 1 == len(steps)
            end_bytes = math.inf if last else steps[place + 1][0] - 1
            if algorithm != NATIVE:
                rules.append(Rule(operation, begin, end, begin_bytes, end_bytes, algorithm))
    return rules


def changed_between(
    steps: Sequence[tuple[int, Value]],
    begin: int,
    end: float,
    change: Callable[[int, Value], Value],
) -> list[tuple[int, Value]]:
    """Steps in which `change` has altered what applies from `begin` to `end`, and nothing else.

    It takes each begin of a step between them with what applied there; the first step begins at 0.
    """
    begins = {at for at, _ in steps} | {begin}
    if math.isfinite(end):
        begins.add(int(end) + 1)
    changed: list[tuple[int, Value]] = []
    for at in sorted(begins):
        value = next(held for first, held in reversed(steps) if first <= at)
        changed.append((at, change(at, value) if begin <= at <= end else value))
    return changed


def call_of(operation: str) -> str:
    """The name of an operation in libraries."""
    return CALLS.get(operation, operation)

# SPDX-License-Identifier: Apache-2.0
"""Rules as steps: for each number of ranks, what holds from a size on until the next one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nhalf.mpi.decision_table import NATIVE, Rule, choice

PER_RANK = ("allgather", "alltoall", "gather", "scatter")
"""Operations whose size in a rule is one block, where libraries count all blocks of a rank."""
EACH_MAX = 64
"""Where sizes depend on the number of ranks, this many of them have steps of their own."""

CALLS = {"reduce-scatter": "reduce_scatter_block"}
"""Names of operations in libraries if they differ: blocks are of one size."""

Steps = list[tuple[int, str]]
"""From this many bytes on this algorithm; the first begins at 0."""


def steps_of(rules: Sequence[Rule], operation: str, ranks: int) -> Steps:
    """The choices for this many ranks, by the size from which they hold."""
    own = [rule for rule in rules if rule.operation == operation]
    begins = {0, *(rule.from_bytes for rule in own)}
    begins |= {int(rule.to_bytes) + 1 for rule in own if math.isfinite(rule.to_bytes)}
    found: Steps = []
    for begin_bytes in sorted(begins):
        algorithm = choice(own, operation, ranks, begin_bytes)
        if not found or found[-1][1] != algorithm:
            found.append((begin_bytes, algorithm))
    return found


def blocks_of(rules: Sequence[Rule], operation: str) -> list[tuple[int, Steps]]:
    """From this many ranks on these steps; the first block begins at 0.

    Sizes are those of the rules. Blocks that say the same as the one before are left out, except
    for operations whose size a library multiplies by the number of ranks.
    """
    own = [rule for rule in rules if rule.operation == operation]
    begins = {0}
    for rule in own:
        begins.add(rule.from_ranks)
        if math.isfinite(rule.to_ranks):
            begins.add(int(rule.to_ranks) + 1)
            count = int(rule.to_ranks) - rule.from_ranks
            if operation in PER_RANK and count <= EACH_MAX:
                begins |= set(range(rule.from_ranks, int(rule.to_ranks) + 1))
    found: list[tuple[int, Steps]] = []
    for begin in sorted(begins):
        steps = steps_of(own, operation, begin)
        same = bool(found) and found[-1][1] == steps
        if not same or (operation in PER_RANK and len(steps) > 1):
            found.append((begin, steps))
    return found


def rules_from(operation: str, blocks: Sequence[tuple[int, Steps]]) -> list[Rule]:
    """The rules that blocks of steps stand for; the library's own choice needs no rule."""
    found = []
    for number, (begin, steps) in enumerate(blocks):
        end = blocks[number + 1][0] - 1 if number + 1 < len(blocks) else math.inf
        for place, (begin_bytes, algorithm) in enumerate(steps):
            last = place + 1 == len(steps)
            end_bytes = math.inf if last else steps[place + 1][0] - 1
            if algorithm != NATIVE:
                found.append(Rule(operation, begin, end, begin_bytes, end_bytes, algorithm))
    return found


def call_of(operation: str) -> str:
    """The name of an operation in libraries."""
    return CALLS.get(operation, operation)

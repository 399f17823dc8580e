# SPDX-License-Identifier: Apache-2.0
"""How many messages and bytes of an operation of several ranks follow each other.

The usual ones are those of the algorithms in R. Thakur, R. Rabenseifner, W. Gropp, Optimization of
collective communication operations in MPICH, IJHPCA 19 (2005), with the sizes at which they change:
trees, dissemination and recursive doubling up to a size, rings and pairs beyond. What a library
does is not known, so that there are the fewest and the most that algorithms of use have as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from nhalf.decide.program.costs import pattern_of
from nhalf.facts.program.operations import operation

LINEAR = ("gatherv", "scatterv")
"""The root has a message for or from each other rank, all at once."""
TREES = ("gather", "scatter")
BRUCK_BYTES, PAIRS_BYTES = 256, 32 << 10
"""An all-to-all goes through other ranks up to the first size, in pairs from the second on."""
RING_BYTES = 512 << 10
"""From this size on, of all ranks together, blocks go around."""
BROADCAST_BYTES, BROADCAST_RANKS = 12 << 10, 8
"""From this size and number of ranks on, a broadcast scatters the data and gathers it again."""
SUM_BYTES = 2 << 10
"""Beyond this size, vectors are summed in parts, which are gathered then."""


@dataclass(frozen=True)
class Path:
    """Messages one after another, and the bytes that they have together."""

    messages: float
    bytes: float


Paths = Callable[[str, int, int], Path]
"""By call, ranks, and what a rank puts in."""


def usual_path(call: str, ranks: int, size_bytes: int) -> Path:
    """What the algorithm of that size has."""
    if ranks < 2:
        return Path(0, 0)
    pattern, part_bytes = pattern_of(operation(call), ranks, size_bytes)
    rounds, others = math.ceil(math.log2(ranks)), ranks - 1
    if operation(call) in LINEAR:
        return Path(1, others * part_bytes)
    if pattern in TREES:
        return Path(rounds, others * part_bytes)
    if pattern == "alltoall":
        if part_bytes <= BRUCK_BYTES:
            return Path(rounds, rounds * ranks / 2 * part_bytes)
        return Path(1 if part_bytes < PAIRS_BYTES else others, others * part_bytes)
    if pattern == "allgather":
        around = ranks * part_bytes >= RING_BYTES
        return Path(others if around else rounds, others * part_bytes)
    if pattern == "reduce-scatter":
        around = part_bytes >= RING_BYTES
        return Path(others if around else rounds, others / ranks * part_bytes)
    in_parts = Path(2 * rounds, 2 * others / ranks * part_bytes)
    if pattern == "bcast":
        is_long = part_bytes >= BROADCAST_BYTES and ranks >= BROADCAST_RANKS
        return in_parts if is_long else Path(rounds, rounds * part_bytes)
    if pattern in ("reduce", "allreduce") and part_bytes > SUM_BYTES:
        return in_parts
    return Path(rounds, rounds * part_bytes)


def fewest_path(call: str, ranks: int, size_bytes: int) -> Path:
    """As few as any algorithm of use has: one message where each rank may send to each other one,
    log2 p where all need what all have; each byte once.
    """
    if ranks < 2:
        return Path(0, 0)
    pattern, part_bytes = pattern_of(operation(call), ranks, size_bytes)
    usual = usual_path(call, ranks, size_bytes)
    each = pattern in (*TREES, "alltoall", "allgather", "bcast", "reduce")
    rounds = math.ceil(math.log2(ranks))
    return Path(1 if each else rounds, min(usual.bytes, part_bytes))


def most_path(call: str, ranks: int, size_bytes: int) -> Path:
    """As many as any algorithm of use has: a tree up and down again, or a message for each rank."""
    if ranks < 2:
        return Path(0, 0)
    _, part_bytes = pattern_of(operation(call), ranks, size_bytes)
    rounds = math.ceil(math.log2(ranks))
    usual = usual_path(call, ranks, size_bytes)
    return Path(max(ranks - 1, 2 * rounds), max(usual.bytes, 2 * rounds * part_bytes))

"""The level of cache that holds the buffers of a repeated operation, so that they are warm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nhalf.facts.causes import caches

ALL_TO_ALL = ("alltoall", "alltoallv", "alltoallw")
"""Their size is that for each pair of ranks, in either buffer."""
GATHERED = ("gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv")
"""Their size is that of each rank; one buffer has all of them."""
OF_A_CORE = ("L1", "L2")
"""Levels that each core has for itself; others hold the buffers of all ranks."""
MEMORY = "memory"
SURELY_HELD_BYTES = 2**14
"""Buffers that the first level of every processor of today holds."""


def buffers_bytes(pattern: str, size_bytes: int, ranks: int) -> int:
    """The bytes that one rank of an operation reads or writes in its buffers."""
    if pattern in ALL_TO_ALL:
        return 2 * size_bytes * ranks
    if pattern in GATHERED:
        return size_bytes * (ranks + 1)
    return 2 * size_bytes


def level_of(environment: Mapping[str, Any], pattern: str, size_bytes: int, ranks: int) -> str:
    """The smallest cache that holds the buffers, 'L2', or 'memory'; '' if that is not known.

    All ranks are taken to share the last level.
    """
    levels = caches(environment)
    own_bytes = buffers_bytes(pattern, size_bytes, ranks)
    for cache in levels:
        shared = 1 if cache.name in OF_A_CORE else ranks
        if own_bytes * shared <= cache.size_bytes:
            return cache.name
    if not levels and own_bytes <= SURELY_HELD_BYTES:
        return "L1"
    return MEMORY if levels else ""


def size_words(pattern: str) -> str:
    """What the size of an operation counts, in words: ' per pair', ' per rank' or ''."""
    if pattern.removeprefix("neighbor-") in ALL_TO_ALL:
        return " per pair"
    return " per rank" if pattern.removeprefix("neighbor-") in GATHERED else ""

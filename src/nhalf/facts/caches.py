# SPDX-License-Identifier: Apache-2.0
"""Caches of the machine on which a run was measured, and those that may bend a curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nhalf.facts.jumps import Jump

BUFFERS_MAX = 4
"""Buffers of a message that may share a cache: sender's, receiver's, and a copy of each."""


@dataclass(frozen=True)
class Cache:
    """One level of cache, 'L2', as one core sees it."""

    name: str
    size_bytes: int


def caches(environment: Mapping[str, Any]) -> list[Cache]:
    """The caches listed in the environment of a run, smallest first; none for older runs."""
    size_by_name = environment.get("caches")
    if not isinstance(size_by_name, Mapping):
        return []
    levels = [Cache(name.removesuffix("_bytes"), int(size)) for name, size in size_by_name.items()]
    return sorted(levels, key=lambda cache: cache.size_bytes)


def cache_near(environment: Mapping[str, Any], jump: Jump) -> Cache | None:
    """The cache that a message's buffers outgrow somewhere between the sizes beside a jump.

    A message that no longer fits a cache takes longer, so a jump that saves time has another cause.
    """
    if not jump.costs:
        return None
    return cache_between(environment, jump.before_bytes, jump.after_bytes)


def cache_between(
    environment: Mapping[str, Any], before_bytes: int, after_bytes: int
) -> Cache | None:
    """The smallest cache that a message's buffers outgrow somewhere between two sizes."""
    for cache in caches(environment):
        if after_bytes > cache.size_bytes / BUFFERS_MAX and before_bytes < cache.size_bytes:
            return cache
    return None

# SPDX-License-Identifier: Apache-2.0
"""What a run measures: the plan, its points and the time that each of them gets."""

from __future__ import annotations

import time
from dataclasses import dataclass

import msgspec

SLICE_MIN_S = 0.001
SLICE_MAX_S = 0.1
POINT_COST_S = 0.003
"""Verifying, growing the batch and handing over a point, beside its samples."""
LAUNCH_COST_S = 1.0
"""Starting and ending the processes, until it has been measured."""


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The choices of one run, kept in run.json, so that it can be resumed.

    `bytes` is the text that study/sizes.py reads; `budget_s` 0 means as long as the target
    precision needs, within a limit per point; `options` goes to the transport (model parameters).
    """

    transports: list[str]
    mpi: list[str]
    patterns: list[str]
    ranks: list[int]
    bytes: str
    launches: int
    budget_s: float
    precision: float
    placement: str
    options: str
    seed: int
    timeout_s: float
    mpi_prefixes: list[str] = []


@dataclass(frozen=True, order=True)
class Point:
    """One thing to measure on one subject."""

    pattern: str
    ranks: int
    size_bytes: int


class Budget:
    """Gives every point still to come the same share of the time that is left."""

    def __init__(self, budget_s: float, launches: int) -> None:
        """`launches` counts the starts of processes to come."""
        self._ends_s = time.monotonic() + budget_s if budget_s > 0 else None
        self._launches = launches
        self._launch_cost_s = LAUNCH_COST_S

    def launched(self, cost_s: float) -> None:
        """Take note that a launch began, which took `cost_s` seconds without its points."""
        self._launches = max(0, self._launches - 1)
        self._launch_cost_s += 0.3 * (cost_s - self._launch_cost_s)

    def slice_s(self, points: int) -> float:
        """Seconds of sampling for the next of `points` points, never below SLICE_MIN_S."""
        if self._ends_s is None:
            return SLICE_MAX_S
        left_s = self._ends_s - time.monotonic() - self._launches * self._launch_cost_s
        share_s = left_s / max(1, points) - POINT_COST_S
        return min(SLICE_MAX_S, max(SLICE_MIN_S, share_s))

    def left_s(self) -> float | None:
        """Seconds until the budget is spent, None without one."""
        return None if self._ends_s is None else max(0.0, self._ends_s - time.monotonic())

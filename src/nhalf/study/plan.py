# SPDX-License-Identifier: Apache-2.0
"""What a run measures: the plan, its points and the time that each of them gets."""

from __future__ import annotations

import time
from dataclasses import dataclass

import msgspec

SLICE_MIN_S = 0.001
SLICE_MAX_S = 0.4
POINT_COST_S = 0.003
"""What a point takes beside its slice, until it has been measured."""
LAUNCH_COST_S = 1.0
"""Starting and ending the processes, until it has been measured."""
CURVE_BUDGET_S = 14.0
"""What a curve (a pattern on a library) may take where no budget is given, unless it is long."""
POINT_BUDGET_S = 0.02
"""What a point of a long curve may take in each launch where no budget is given."""
LAUNCHES_MIN = 2
"""So many launches are made even when the budget is spent: fewer give no interval over launches."""


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The choices of one run, kept in run.json, so that it can be resumed.

    `bytes` is the text that study/sizes.py reads; `budget_s` 0 means so many seconds for
    each curve (`budget_of`); `options` goes to the transport (model parameters).
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


def budget_of(plan: Plan, curves: int, sizes: int) -> float:
    """The time in seconds for a run of so many curves with so many coarse sizes each."""
    if plan.budget_s > 0:
        return plan.budget_s
    return curves * max(CURVE_BUDGET_S, plan.launches * sizes * POINT_BUDGET_S)


class Budget:
    """Gives every point still to come the same share of the time that is left.

    Points that reach their precision early and points that take longer than their slice are
    learned from: their mean difference is added to or taken from the slices to come.
    """

    def __init__(self, budget_s: float, launches: int) -> None:
        """`launches` counts the starts of processes to come."""
        self._ends_s = time.monotonic() + budget_s
        self._launches = launches
        self._launch_cost_s = LAUNCH_COST_S
        self._point_cost_s = POINT_COST_S

    def launched(self, cost_s: float) -> None:
        """Take note of a launch that took `cost_s` seconds without its points."""
        self._launches = max(0, self._launches - 1)
        self._launch_cost_s += 0.3 * (cost_s - self._launch_cost_s)

    def answered(self, spent_s: float, slice_s: float) -> None:
        """Take note of a point that took `spent_s` seconds in all, given a slice of `slice_s`."""
        self._point_cost_s += 0.05 * (spent_s - slice_s - self._point_cost_s)

    def slice_s(self, points: int) -> float:
        """Seconds of sampling for the next of `points` points, never below SLICE_MIN_S."""
        left_s = self._ends_s - time.monotonic() - self._launches * self._launch_cost_s
        share_s = left_s / max(1, points) - self._point_cost_s
        return min(SLICE_MAX_S, max(SLICE_MIN_S, share_s))

    def spent(self, launch: int) -> bool:
        """Whether there is no time for launch number `launch`, from 0."""
        return launch >= LAUNCHES_MIN and time.monotonic() > self._ends_s

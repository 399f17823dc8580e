# SPDX-License-Identifier: Apache-2.0
"""How the time of a run is shared: over blocks by weight, inside a block over its points."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nhalf.measure.plan.plan import Start

SLICE_MIN_S = 0.001
SLICE_MAX_S = 0.4
POINT_COST_S = 0.003
"""What a point takes beside its slice, until it has been measured."""
CROWDED_COST_S = 0.03
"""The same where ranks outnumber cores and wait for each other."""
LAUNCH_COST_S = 1.0
"""Starting and ending the processes, until it has been measured."""
CURVE_BUDGET_S = 14.0
"""What a curve (a pattern on a library) may take where no budget is given, unless it is long."""
POINT_BUDGET_S = 0.02
"""What a point of a long curve may take in each launch where no budget is given."""
AXES_POINT_BUDGET_S = 0.05
"""What a point of a pattern with further axes may take then: it has many short curves."""
KERNEL_BUDGET_S = 24 * 3600.0
"""What the kernel of an application may take then: its runs last as long as they last."""
LAUNCHES_MIN = 2
"""Points are left out until this many launches fit: fewer give no interval over launches."""
OVERTIME_LEAST_S, OVERTIME_SHARE = 20.0, 0.1
"""By so much longer than planned may these take; by the share alone where a budget was given."""
_POINT_LEAST_S = 1e-4
_LEARNED_SLOWLY = 0.05
_COSTS_BELIEVED = 2
"""As if the assumed cost of a point had been seen so often."""


class Group(NamedTuple):
    """Points that cost about the same: those of a block at one number of ranks."""

    block: int
    ranks: int


Left = Mapping[tuple[Start, int, int], int]
"""Points still to come by start, launch and block."""


def curve_budget(launches: int, sizes: int, has_axes: bool) -> float:
    """Seconds for a curve of this many coarse sizes where no budget is given."""
    if has_axes:
        return launches * sizes * AXES_POINT_BUDGET_S
    return max(CURVE_BUDGET_S, launches * sizes * POINT_BUDGET_S)


class Budget:
    """Gives every point still to come its share of the time that is left.

    A block's share is its weight times the part of its points that is still to come, so that
    blocks end together; what one cannot use flows to the others. Points that reach their
    precision early and points that take longer than their slice are learned from: their mean
    difference is added to or taken from the slices to come.
    """

    def __init__(
        self,
        budget_s: float,
        weights: Sequence[float] = (1.0,),
        cores: int = 0,
        is_given: bool = False,
    ) -> None:
        """`weights` by block; with more ranks than `cores` (0: unknown) points cost more.

        A budget that was given is kept to; another is what a run may take as a rule.
        """
        self._budget_s = budget_s
        self._is_given = is_given
        self._ends_s = time.monotonic() + budget_s
        self._weights = list(weights)
        self._cores = cores
        self._launch_cost_s = LAUNCH_COST_S
        self._launches: set[tuple[Start, int]] = set()
        self._begun: set[tuple[Start, int]] = set()
        self._costs_s: dict[Group, float] = {}
        self._answers: Counter[Group] = Counter()
        self._left: Counter[Group] = Counter()
        self._needed: Counter[Group] = Counter()
        self._most: Counter[int] = Counter()

    def count(self, left: Left, anew: bool = False) -> None:
        """Take note of the points still to come, and of the launches that they make necessary.

        `anew` where points were left out: blocks then begin again with their weights.
        """
        self._left, self._needed = Counter(), Counter()
        self._launches = {(start, launch) for start, launch, _ in left} - self._begun
        blocks: Counter[int] = Counter()
        for (start, launch, block), points in left.items():
            group = Group(block, start.ranks)
            self._left[group] += points
            blocks[block] += points
            if launch < LAUNCHES_MIN:
                self._needed[group] += points
        self._most = blocks if anew else self._most | blocks

    def begun(self, start: Start, launch: int) -> None:
        """Take note of a launch that begins."""
        self._begun.add((start, launch))
        self._launches.discard((start, launch))

    def launched(self, cost_s: float) -> None:
        """Take note of a launch that took `cost_s` seconds without its points."""
        self._launch_cost_s += 0.3 * (cost_s - self._launch_cost_s)

    def learn(self, group: Group, spent_s: float, slice_s: float) -> None:
        """Take note of what a point cost that took `spent_s` seconds, given `slice_s`."""
        self._answers[group] += 1
        share = max(_LEARNED_SLOWLY, 1 / (self._answers[group] + _COSTS_BELIEVED))
        cost_s = self.cost_s(group)
        self._costs_s[group] = cost_s + share * (spent_s - slice_s - cost_s)

    def answered(self, group: Group, launch: int, spent_s: float, slice_s: float) -> None:
        """Take note of a point that took `spent_s` seconds in all, given a slice of `slice_s`."""
        self.learn(group, spent_s, slice_s)
        self._left[group] = max(0, self._left[group] - 1)
        if launch < LAUNCHES_MIN:
            self._needed[group] = max(0, self._needed[group] - 1)

    def cost_s(self, group: Group) -> float:
        """Seconds that a point of a group takes beside its slice; negative where it ends early."""
        crowded = 0 < self._cores < group.ranks
        return self._costs_s.get(group, CROWDED_COST_S if crowded else POINT_COST_S)

    def least_s(self, group: Group) -> float:
        """Seconds that a point of a group takes with the shortest slice."""
        return max(_POINT_LEAST_S, SLICE_MIN_S + self.cost_s(group))

    def share_spent(self) -> float:
        """Which part of the time is over."""
        return 1 - self.ahead_s() / self._budget_s

    def left_s(self) -> float:
        """Seconds left for points."""
        return self.ahead_s() - len(self._launches) * self._launch_cost_s

    def ahead_s(self) -> float:
        """Seconds left in all."""
        return self._ends_s - time.monotonic()

    @property
    def launch_cost_s(self) -> float:
        """Seconds that starting and ending the processes takes."""
        return self._launch_cost_s

    def short_s(self) -> float:
        """Seconds that the first two launches lack for their least slices; 0 for none."""
        starts = sum(1 for _, launch in self._launches if launch < LAUNCHES_MIN)
        starts_s = starts * self._launch_cost_s
        need_s = sum(points * self.least_s(group) for group, points in self._needed.items())
        return max(0.0, need_s + starts_s - self.ahead_s())

    def slice_s(self, group: Group) -> float:
        """Seconds of sampling for the next point of a group, never below SLICE_MIN_S."""
        share_s = self._shares_s().get(group, 0.0) / max(1, self._left[group])
        return min(SLICE_MAX_S, max(SLICE_MIN_S, share_s - self.cost_s(group)))

    def spent(self, launch: int) -> bool:
        """Whether there is no time for launch number `launch`, from 0.

        The first has some overtime where a budget was given; else it is always made, and the
        second has the overtime.
        """
        over_s = -self.ahead_s()
        if self._is_given:
            return over_s > (OVERTIME_SHARE * self._budget_s if launch == 0 else 0.0)
        if launch < LAUNCHES_MIN:
            return launch > 0 and over_s > max(OVERTIME_LEAST_S, OVERTIME_SHARE * self._budget_s)
        return over_s > 0

    def fits(self, launch: int) -> bool:
        """Whether the processes of launch number `launch` can be started and still measure."""
        if self._is_given and launch > 0:
            return self.ahead_s() > self._launch_cost_s
        return not self.spent(launch)

    def _shares_s(self) -> dict[Group, float]:
        """The time of each group: what it needs at least, and its part of the rest."""
        groups = [group for group, points in self._left.items() if points]
        shares = {group: self._left[group] * self.least_s(group) for group in groups}
        room = {group: self._left[group] * (SLICE_MAX_S - SLICE_MIN_S) for group in groups}
        rest_s = self.left_s() - sum(shares.values())
        while groups and rest_s > 0:
            weights = {group: self._weight(group) for group in groups}
            part_s = rest_s / sum(weights.values())
            full = [group for group in groups if weights[group] * part_s >= room[group]]
            given = {group: room[group] for group in full} or {
                group: weights[group] * part_s for group in groups
            }
            for group, given_s in given.items():
                shares[group] += given_s
                rest_s -= given_s
            groups = [group for group in groups if group not in given]
        return shares

    def _weight(self, group: Group) -> float:
        return self._weights[group.block] * self._left[group] / max(1, self._most[group.block])

"""How the time of a run is shared among blocks and points, and how long applications may run."""

import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nhalf.base.listing import ranks_text
from nhalf.base.units import format_duration
from nhalf.measure.plan.plan import Start

SLICE_MIN_S = 0.001
SLICE_MAX_S = 0.4
POINT_COST_S = 0.003
"""Time of a point beside its slice, until it has been measured."""
CROWDED_COST_S = 0.03
"""Time of a point beside its slice under oversubscription, until it has been measured."""
LAUNCH_COST_S = 1.0
"""Time to start and end the processes, until it has been measured."""
CURVE_BUDGET_S = 14.0
"""Time for a curve (a pattern on a library) without a budget, unless it is long."""
LAUNCH_BUDGET_S = 2.8
"""Time for a curve in each of many launches without a budget."""
POINT_BUDGET_S = 0.02
"""Time for a point of a long curve in each launch without a budget."""
AXES_POINT_BUDGET_S = 0.05
"""Time for a point of a pattern with further axes without a budget: it has many short curves."""
KERNEL_BUDGET_S = 24 * 3600.0
"""Time for an application's kernel without a budget: its runs cannot be shortened."""
LAUNCHES_MIN = 5
"""Points are left out until this many launches fit: fewer decide hardly anything."""
EVERY_LAUNCH = sys.maxsize
OVERTIME_LEAST_S, OVERTIME_SHARE = 20.0, 0.1
"""Overtime without a budget before points are left out: the larger of the two.

With a budget, only the share.
"""
POINT_LEAST_S = 1e-4
_LEARNED_SLOWLY = 0.05
_COSTS_BELIEVED = 2
"""Weight of the assumed cost of a point, in observations."""
VISITS_MAX = 3
"""A launch visits a point up to this often, so that a change of the machine meets whole curves."""
VISIT_LEAST_S = 0.006
"""Shortest time of sampling that is worth a separate visit."""


class Group(NamedTuple):
    """Points of about the same cost: those of a block at one number of ranks."""

    block: int
    ranks: int


PointCounts = Mapping[tuple[Start, int, int], int]
"""Points still to come by start, launch and block."""


def curve_budget(launches: int, sizes: int, has_axes: bool) -> float:
    """Return the seconds for a curve of this many coarse sizes without a budget."""
    if has_axes:
        return launches * sizes * AXES_POINT_BUDGET_S
    return max(CURVE_BUDGET_S, launches * LAUNCH_BUDGET_S, launches * sizes * POINT_BUDGET_S)


class Budget:
    """Gives every remaining point its share of the remaining time.

    A block's share is its weight times the fraction of its points that remain, so that blocks end
    together; what one cannot use goes to the others. The mean difference between the time that
    points took and their slice, which is negative where they reach their precision early, is
    subtracted from later slices.
    """

    def __init__(
        self,
        budget_s: float,
        weights: Sequence[float] = (1.0,),
        cores: int = 0,
        is_given: bool = True,
    ) -> None:
        """Begin a budget; with more ranks than `cores` (0: unknown) points cost more.

        `weights` are those of the blocks. A given budget is a limit, for which launches after the
        first LAUNCHES_MIN are given up; any other is a guideline, and every launch is made.
        """
        self.launches_kept = LAUNCHES_MIN if is_given else EVERY_LAUNCH
        self._budget_s = budget_s
        self._is_given = is_given
        self._ends_s = time.monotonic() + budget_s
        self._weights = list(weights)
        self._cores = cores
        self._launch_cost_s = LAUNCH_COST_S
        self._launches: set[tuple[Start, int]] = set()
        self._begun: set[tuple[Start, int]] = set()
        self._costs_s: dict[Group, float] = {}
        self._owed_s = 0.0
        self._answers: Counter[Group] = Counter()
        self._left: Counter[Group] = Counter()
        self._needed: Counter[Group] = Counter()
        self._most: Counter[int] = Counter()

    def count(self, point_counts: PointCounts, anew: bool = False) -> None:
        """Note the remaining points and the launches that they need.

        With `anew`, because points were left out, blocks start again with their full weights.
        """
        self._left, self._needed = Counter(), Counter()
        self._launches = {(start, launch) for start, launch, _ in point_counts} - self._begun
        blocks: Counter[int] = Counter()
        for (start, launch, block), points in point_counts.items():
            group = Group(block, start.ranks)
            self._left[group] += points
            blocks[block] += points
            if launch < self.launches_kept:
                self._needed[group] += points
        self._most = blocks if anew else self._most | blocks

    def begun(self, start: Start, launch: int) -> None:
        """Note a launch that begins."""
        self._begun.add((start, launch))
        self._launches.discard((start, launch))

    def launched(self, cost_s: float) -> None:
        """Learn from a launch that took `cost_s` seconds beside its points."""
        self._owed_s = 0.0
        self._launch_cost_s += 0.3 * (cost_s - self._launch_cost_s)

    def learn(self, group: Group, spent_s: float, slice_s: float) -> None:
        """Learn the cost of a point that took `spent_s` seconds, given a slice of `slice_s`."""
        self._answers[group] += 1
        share = max(_LEARNED_SLOWLY, 1 / (self._answers[group] + _COSTS_BELIEVED))
        cost_s = self.cost_s(group)
        self._costs_s[group] = cost_s + share * (spent_s - slice_s - cost_s)

    def answered(
        self, group: Group, launch: int, spent_s: float, slice_s: float, visits: int = 1
    ) -> None:
        """Count a point whose first visit took `spent_s` seconds, given a slice of `slice_s`.

        Its further `visits` will take as long.
        """
        self.learn(group, visits * spent_s, visits * slice_s)
        self._owed_s += (visits - 1) * spent_s
        self._left[group] = max(0, self._left[group] - 1)
        if launch < self.launches_kept:
            self._needed[group] = max(0, self._needed[group] - 1)

    def revisited(self, spent_s: float) -> None:
        """Note a further visit to a point, which took `spent_s` seconds."""
        self._owed_s = max(0.0, self._owed_s - spent_s)

    def visits(self, group: Group, slice_s: float) -> int:
        """Return in how many visits of a launch to spend a slice: more cost more, too."""
        visit_least_s = max(VISIT_LEAST_S, self.cost_s(group))
        return max(1, min(VISITS_MAX, int(slice_s / visit_least_s)))

    def cost_s(self, group: Group) -> float:
        """Return the seconds of a point beside its slice; negative where it ends early."""
        crowded = 0 < self._cores < group.ranks
        return self._costs_s.get(group, CROWDED_COST_S if crowded else POINT_COST_S)

    def least_s(self, group: Group) -> float:
        """Return the seconds that a point takes with the shortest slice."""
        return max(POINT_LEAST_S, SLICE_MIN_S + self.cost_s(group))

    def share_spent(self) -> float:
        """Return the fraction of the time that is spent."""
        return 1 - self.ahead_s() / self._budget_s

    def left_s(self) -> float:
        """Return the seconds left for points."""
        return self.ahead_s() - len(self._launches) * self._launch_cost_s - self._owed_s

    def ahead_s(self) -> float:
        """Return the seconds left in total."""
        return self._ends_s - time.monotonic()

    @property
    def launch_cost_s(self) -> float:
        """The seconds that starting and ending the processes takes."""
        return self._launch_cost_s

    def short_s(self) -> float:
        """Return the seconds that the kept launches lack for least slices; 0 if they fit."""
        starts = sum(1 for _, launch in self._launches if launch < self.launches_kept)
        starts_s = starts * self._launch_cost_s
        need_s = sum(points * self.least_s(group) for group, points in self._needed.items())
        over_s = 0.0 if self._is_given else self._overtime_s()
        return max(0.0, need_s + starts_s - self.ahead_s() - over_s)

    def slice_s(self, group: Group) -> float:
        """Return the seconds of sampling for the next point of a group, at least SLICE_MIN_S."""
        share_s = self._shares_s().get(group, 0.0) / max(1, self._left[group])
        return min(SLICE_MAX_S, max(SLICE_MIN_S, share_s - self.cost_s(group)))

    def spent(self, launch: int) -> bool:
        """Whether the time for launch number `launch`, counted from 0, is spent.

        With a given budget the first launch has some overtime; without one every launch is made.
        """
        if not self._is_given:
            return False
        return -self.ahead_s() > (self._overtime_s() if launch == 0 else 0.0)

    def fits(self, launch: int) -> bool:
        """Whether the processes of launch number `launch` can be started and still measure."""
        if self._is_given and launch > 0:
            return self.ahead_s() > self._launch_cost_s
        return not self.spent(launch)

    def _overtime_s(self) -> float:
        share_s = OVERTIME_SHARE * self._budget_s
        return share_s if self._is_given else max(OVERTIME_LEAST_S, share_s)

    def _shares_s(self) -> dict[Group, float]:
        """Return the time of each group: its minimum, and its part of the remaining time."""
        groups = [group for group, points in self._left.items() if points]
        shares = {group: self._left[group] * self.least_s(group) for group in groups}
        room = {group: self._left[group] * (SLICE_MAX_S - SLICE_MIN_S) for group in groups}
        rest_s = self.left_s() - sum(shares.values())
        while groups and rest_s > 0:
            weights = {group: self._weight(group) for group in groups}
            part_s = rest_s / sum(weights.values())
            full = [group for group in groups if weights[group] * part_s >= room[group]]
            granted_s = {group: room[group] for group in full} or {
                group: weights[group] * part_s for group in groups
            }
            for group, share_s in granted_s.items():
                shares[group] += share_s
                rest_s -= share_s
            groups = [group for group in groups if group not in granted_s]
        return shares

    def _weight(self, group: Group) -> float:
        return self._weights[group.block] * self._left[group] / max(1, self._most[group.block])


RUNS = 3
"""Whole runs of a kernel in a launch; short ones are repeated until their slice is over."""
LONG_S = 10.0
"""A launch or plan that takes longer is announced."""
SLOW_RATE = 1e8
"""Operations per second that any core reaches: what is short at this rate needs no estimate."""
TRIAL_OPERATIONS = 5e8
"""Most operations of a class that is run to learn the rate of larger ones."""
ELSEWHERE = 1.0
"""A rate of another start is worth one whose class has e times as many operations, or 1/e."""


class Rate(NamedTuple):
    """Operations per second of a kernel in a class of `operations`, and where it ran."""

    start: Start
    operations: float
    per_s: float


class KernelRates:
    """Rates of kernels by pattern; a rate of other ranks is scaled by the cores that compute."""

    def __init__(self, cores: int) -> None:
        """Begin without rates, on a machine with this many cores."""
        self._cores = max(1, cores)
        self._rates: dict[str, dict[tuple[Start, float], Rate]] = {}

    def learn(self, pattern: str, rate: Rate) -> None:
        """Note a rate, which replaces an earlier one of its class and start."""
        if rate.operations > 0 and 0 < rate.per_s < math.inf:
            self._rates.setdefault(pattern, {})[rate.start, rate.operations] = rate

    def run_s(self, pattern: str, start: Start, operations: float) -> float | None:
        """Return the seconds of a run of these operations, by the nearest rate; None if unknown.

        Nearest is a rate of a class with about as many operations, if possible of this start.
        """
        rates = self._rates.get(pattern, {}).values()
        if not rates or operations <= 0:
            return None

        def distance(rate: Rate) -> float:
            return abs(math.log(rate.operations / operations)) + ELSEWHERE * (rate.start != start)

        nearest = min(rates, key=distance)
        workers = min(start.ranks, self._cores) / min(nearest.start.ranks, self._cores)
        return operations / (nearest.per_s * workers)

    def point_s(self, pattern: str, start: Start, operations: float) -> float | None:
        """Return the seconds of a point, which is several runs; None if unknown."""
        run_s = self.run_s(pattern, start, operations)
        return None if run_s is None else max(RUNS * run_s, SLICE_MAX_S)


def trial_class(operations_by_class: Mapping[str, float], smallest: float) -> str:
    """Return the largest class that is quick and smaller than the smallest to be run; '' if none.

    A class that is run first shows the rate of others.
    """
    quick = [
        (operations, name)
        for name, operations in operations_by_class.items()
        if 0 < operations <= TRIAL_OPERATIONS and operations < smallest
    ]
    return max(quick)[1] if quick else ""


def plan_in_words(expected_s: float, launches: int, longest_s: float, budget_s: float) -> str:
    """Say how long a plan takes, and what to do if that is beyond its budget (0: none).

    '' for a short plan without a budget that it exceeds.
    """
    is_over = 0 < budget_s < expected_s
    if expected_s < LONG_S and not is_over:
        return ""
    whole = f"all {launches} launches take" if launches > 1 else "the launch takes"
    text = f"{whole} about {format_duration(expected_s)}"
    if launches > 1 and longest_s >= LONG_S:
        text += f", the longest {format_duration(longest_s)}"
    if not is_over:
        return text
    return (
        f"{text}, longer than --budget {format_duration(budget_s)}, which leaves launches out: "
        "give a longer --budget, a smaller --class or fewer --launches"
    )


def launch_in_words(title: str, ranks: int, kernels: str, expected_s: float) -> str:
    """Say what a launch runs, and for how long."""
    expected = format_duration(expected_s)
    return f"{title}, {kernels} on {ranks_text(ranks)}: about {expected}"


def elapsed_in_words(elapsed_s: float, expected_s: float) -> str:
    """Say how much of the expected time is over: '3 min of about 9 min'."""
    if elapsed_s > expected_s:
        return f"{format_duration(elapsed_s)}, expected {format_duration(expected_s)}"
    return f"{format_duration(elapsed_s)} of about {format_duration(expected_s)}"

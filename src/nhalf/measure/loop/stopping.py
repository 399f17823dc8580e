# SPDX-License-Identifier: Apache-2.0
"""When to stop: the budget of a run and the time of its job; what is left out to keep to both."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nhalf.measure.loop.time_limit import TimeLimit
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.budget import (
    KERNEL_BUDGET_S,
    LAUNCHES_MIN,
    Budget,
    Group,
    curve_budget,
)
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.thinning import thin, widen

SCOUT_SHARE = 0.2
"""Looking for protocol changes takes this share of a given budget at most."""
LEAST_SHARE = 0.5
"""Of a given budget is left for measuring, however long libraries took to say what they can."""
POINTS_BETWEEN_LOOKS = 32
SHARE_BETWEEN_LOOKS = 0.02
"""After this many points, or this share of the time, one looks again at the time that is left."""
FURTHER_SLICE_S = 0.1
"""Of a point in a launch beyond the plan: launches differ more than the samples of one."""


class Stopping:
    """The time of a run: how much each point gets, and when there is none left."""

    def __init__(self, agenda: Agenda, limit: TimeLimit, resuming: str, cores: int) -> None:
        """`run` is where a job that ends goes on; with more ranks than `cores` points cost more."""
        plan = agenda.plan
        self._agenda = agenda
        self._limit = limit
        self._resuming = resuming
        self._is_given = bool(plan.budget_s)
        weights = [block.weight for block in plan.blocks]
        budget_s = _default_budget_s(agenda)
        if self._is_given:
            before_s = time.monotonic() - limit.began_s if limit.began_s is not None else 0.0
            budget_s = max(LEAST_SHARE * plan.budget_s, plan.budget_s - before_s)
        self._budget = Budget(budget_s, weights, cores, self._is_given)
        self._points_s = 0.0
        self._looked_at = 0.0

    def keep_to_budget(self) -> None:
        """Count what is to come; where a budget was given and does not do, leave points out."""
        self._agenda.changed()
        self._looked_at = self._budget.share_spent()
        if self._is_given:
            thin(self._agenda, self._budget)
        else:
            self._budget.count(self._agenda.left())

    def check_job(self) -> None:
        """Raises TimeUp if the time of the job is nearly up."""
        self._limit.check(self._resuming)

    def spent(self, launch: int) -> bool:
        """Whether no launch of this number can begin."""
        return not self._budget.fits(launch)

    def scouted_enough(self) -> bool:
        """Whether looking for sizes has taken its share of a given budget."""
        return self._budget.share_spent() > SCOUT_SHARE and self._is_given

    def scouted(self, group: Group, spent_s: float, slice_s: float) -> None:
        """Learn from a point that was measured to choose sizes: what others of its group cost."""
        self._budget.learn(group, spent_s, slice_s)

    def widened(self) -> bool:
        """Whether a budget has time for what was left out, which is then to be measured."""
        return (
            self._is_given and self._budget.fits(LAUNCHES_MIN) and widen(self._agenda, self._budget)
        )

    def fitting(self, wanted: Sequence[Point]) -> list[Point]:
        """The first of some points, as many as one more launch of all starts has time for."""
        if not self._is_given or self._limit.is_near():
            return []
        starts = self._agenda.starts()
        left_s = self._budget.ahead_s() - len(starts) * self._budget.launch_cost_s
        found = []
        for point in wanted:
            for start in starts:
                block = self._agenda.points(start).get(point)
                if block is not None:
                    left_s -= self._budget.least_s(Group(block, start.ranks))
            if left_s < 0:
                break
            found.append(point)
        return found

    @contextmanager
    def launch(self, start: Start, launch: int) -> Iterator[None]:
        """A launch: what it costs beside its points is learned from. Raises TimeUp."""
        self.check_job()
        self._budget.begun(start, launch)
        self.keep_to_budget()
        self._points_s = 0.0
        began_s = time.monotonic()
        yield
        self._budget.launched(time.monotonic() - began_s - self._points_s)

    def before_point(self, launch: int, position: int) -> bool:
        """Whether there is time for one more point of a launch; others may be left out for it."""
        if self._budget.spent(launch) or self._limit.is_near():
            return False
        is_time_to_look = (
            position % POINTS_BETWEEN_LOOKS == 0
            or self._budget.share_spent() > self._looked_at + SHARE_BETWEEN_LOOKS
        )
        if (
            is_time_to_look
            and launch < LAUNCHES_MIN
            and self._is_given
            and self._budget.short_s() > 0
        ):
            self.keep_to_budget()
        return True

    def slice_s(self, group: Group, launch: int) -> float:
        """Seconds of sampling for the next point of a group."""
        slice_s = self._budget.slice_s(group)
        return min(slice_s, FURTHER_SLICE_S) if launch in self._agenda.further else slice_s

    def answered(self, group: Group, launch: int, spent_s: float, slice_s: float) -> None:
        """Learn from a point that took `spent_s` seconds in all, given a slice of `slice_s`."""
        self._budget.answered(group, launch, spent_s, slice_s)
        self._points_s += spent_s


def _default_budget_s(agenda: Agenda) -> float:
    """Seconds for a run that was given no budget: this many for each of its curves."""
    kernels = sum(agenda.infos[family.curve.pattern].is_kernel for family in agenda.every_family())
    return kernels * KERNEL_BUDGET_S + sum(
        curve_budget(agenda.thinned[family.block].launches, len(family.sizes), bool(axes))
        for start in agenda.starts()
        for family in agenda.families(start)
        for axes in family.axes
    )

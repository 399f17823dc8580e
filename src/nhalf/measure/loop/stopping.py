"""When to stop: the budget of a run and the time of its job; what is left out, and what follows."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

import polars as pl

from nhalf.base.units import format_time
from nhalf.measure.loop.ending import TimeLimit
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.allocation import (
    PILOT_LAUNCHES,
    PointCosts,
    Variances,
    VisitAllocation,
    best,
    samples_variance_s,
    thin,
    variances_of,
    widen,
)
from nhalf.measure.plan.budget import (
    KERNEL_BUDGET_S,
    LAUNCHES_MIN,
    POINT_LEAST_S,
    SLICE_MAX_S,
    SLICE_MIN_S,
    Budget,
    Group,
    curve_budget,
)
from nhalf.measure.plan.plan import Point, Start
from nhalf.statistics.advice import with_states
from nhalf.statistics.next_run import half_widths
from nhalf.store.keys import RUN_POINT

SCOUT_SHARE = 0.2
"""Largest share of a given budget for finding protocol changes."""
LEAST_SHARE = 0.5
"""Share of a given budget that is reserved for measuring, however long preparation took."""
POINTS_BETWEEN_LOOKS = 32
SHARE_BETWEEN_LOOKS = 0.02
"""The remaining time is checked again after this many points, or this share of the time."""


class Stopping:
    """Divides the time of a run among its points, and decides when to stop."""

    def __init__(self, agenda: Agenda, limit: TimeLimit, resuming: str, cores: int) -> None:
        """Begin the budget; `resuming` is the command that continues after the job's end.

        With more ranks than `cores`, points cost more.
        """
        plan = agenda.plan
        self._agenda = agenda
        self._limit = limit
        self._resuming = resuming
        self._is_given = bool(plan.budget_s)
        self._allocating = Allocating(agenda)
        weights = [block.weight for block in plan.blocks]
        budget_s = _default_budget_s(agenda)
        if self._is_given:
            before_s = time.monotonic() - limit.began_s if limit.began_s is not None else 0.0
            budget_s = max(LEAST_SHARE * plan.budget_s, plan.budget_s - before_s)
        self._budget = Budget(budget_s, weights, cores, self._is_given)
        self._budget_s = plan.budget_s or budget_s
        self._points_s = 0.0
        self._looked_at = 0.0

    def keep_to_budget(self) -> None:
        """Count the remaining points; leave some out where the budget does not suffice."""
        self._agenda.changed()
        self._looked_at = self._budget.share_spent()
        thin(self._agenda, self._budget)

    def check_job(self) -> None:
        """Check the job's time limit. Raises TimeUp if it is near."""
        self._limit.check(self._resuming)

    def spent(self, launch: int) -> bool:
        """Whether it is too late for this launch to begin."""
        return not self._budget.fits(launch)

    def scouted_enough(self) -> bool:
        """Whether the search for sizes has used its share of a given budget."""
        return self._budget.share_spent() > SCOUT_SHARE and self._is_given

    def scouted(self, group: Group, spent_s: float, slice_s: float) -> None:
        """Learn the cost of a group's points from one that was measured to choose sizes."""
        self._budget.learn(group, spent_s, slice_s)

    def widened(self) -> bool:
        """Take points that were left out back in if the budget has time; whether there were any."""
        return self._budget.fits(LAUNCHES_MIN) and widen(self._agenda, self._budget)

    @property
    def limit_in_words(self) -> str:
        """The time of the run: 'time limit (30 s)'."""
        kind = "time limit" if self._is_given else "default time"
        return f"{kind} ({format_time(self._budget_s)})"

    def in_words(self) -> list[str]:
        """Describe what was left out to end in time, and how to go on; nothing if all was done."""
        left_out, unfinished = self._agenda.left_out(), self._agenda.unfinished()
        limit = self.limit_in_words
        if unfinished:
            reason = "points failed"
            if not self._budget.fits(LAUNCHES_MIN):
                reason = f"{limit} reached"
            if self._limit.is_near():
                reason = "the time of the job is nearly up"
            left_out.append(
                f"Stopped with {unfinished[0]} of {unfinished[1]} launches complete: {reason}"
            )
        elif left_out:
            left_out.append(f"Left out for the {limit}")
        if left_out:
            left_out[-1] += f"; continue: {self._resuming}"
        return left_out

    def fitting(self, points: Sequence[Point]) -> list[Point]:
        """Return as many of the points, in order, as one more launch of all starts has time for."""
        if not self._may_add or self._limit.is_near():
            return []
        starts = self._agenda.starts()
        left_s = self._budget.ahead_s() - len(starts) * self._budget.launch_cost_s
        fitting_points = []
        for point in points:
            for start in starts:
                block = self._agenda.points(start).get(point)
                if block is not None:
                    left_s -= self._budget.least_s(Group(block, start.ranks))
            if left_s < 0:
                break
            fitting_points.append(point)
        return fitting_points

    @contextmanager
    def launch(self, start: Start, launch: int) -> Iterator[None]:
        """Enclose a launch to learn what it costs beside its points. Raises TimeUp."""
        self.check_job()
        self._budget.begun(start, launch)
        self.keep_to_budget()
        self._points_s = 0.0
        began_s = time.monotonic()
        yield
        self._budget.launched(time.monotonic() - began_s - self._points_s)

    def before_point(self, launch: int, position: int) -> bool:
        """Whether there is time for one more point of a launch; may leave other points out."""
        if self._budget.spent(launch) or self._limit.is_near():
            return False
        is_time_to_look = (
            position % POINTS_BETWEEN_LOOKS == 0
            or self._budget.share_spent() > self._looked_at + SHARE_BETWEEN_LOOKS
        )
        if is_time_to_look and launch < self._budget.launches_kept and self._budget.short_s() > 0:
            self.keep_to_budget()
        return True

    def before_further_visit(self) -> bool:
        """Whether there is time to visit a point again in the same launch."""
        return self._budget.ahead_s() > 0 and not self._limit.is_near()

    def effort(
        self, start: Start, launch: int, point: Point, block: int, may_revisit: bool
    ) -> tuple[float, int]:
        """Return the seconds of sampling in each visit to a block's point, and the visits."""
        group = Group(block, start.ranks)
        slice_s = self._budget.slice_s(group)
        visits = self._budget.visits(group, slice_s) if may_revisit else 1
        plan = self._agenda.plan
        if not (self._may_add and plan.launches_of(plan.blocks[block]) > 1):
            return slice_s / visits, visits
        launch_s = self._budget.launch_cost_s / max(1, len(self._agenda.points(start)))
        costs = PointCosts(launch_s, max(POINT_LEAST_S, self._budget.cost_s(group)))
        allocation = self._allocating.effort(start, launch, point, costs, visits)
        return min(slice_s / allocation.visits, allocation.slice_s), allocation.visits

    @property
    def _may_add(self) -> bool:
        """Whether launches may be added to those of the plan."""
        return self._is_given and not self._agenda.plan.launches_fixed

    def answered(
        self, group: Group, launch: int, spent_s: float, slice_s: float, visits: int
    ) -> None:
        """Learn from the first of the visits to a point: it took `spent_s` seconds in total."""
        self._budget.answered(group, launch, spent_s, slice_s, visits)
        self._points_s += spent_s

    def revisited(self, spent_s: float) -> None:
        """Learn from a further visit to a point: it took `spent_s` seconds in total."""
        self._budget.revisited(spent_s)
        self._points_s += spent_s

    def sampled(self, start: Start, point: Point, record: dict[str, Any]) -> None:
        """Learn from the samples of an answer how much they differ within a visit."""
        self._allocating.learn(start, point, record)


def _default_budget_s(agenda: Agenda) -> float:
    """Return the seconds for a run without a budget: the sum over its curves."""
    kernels = sum(agenda.infos[family.curve.pattern].is_kernel for family in agenda.every_family())
    return kernels * KERNEL_BUDGET_S + sum(
        curve_budget(agenda.thinned[family.block].launches, len(family.sizes), bool(axes))
        for start in agenda.starts()
        for family in agenda.families(start)
        for axes in family.axes
    )


PILOT = VisitAllocation(visits=2, slice_s=0.004)
"""What a point gets until variances are known: two visits tell those within a launch from those
between launches."""
SAMPLES_LEAST = 12
"""Fewer samples may all be disturbed (decide/compare.py)."""
LEARNED_MAX = 2000
"""Visits of a start from which the variance within one is learned."""
LEARNED_EVERY = 1.2
"""Variances are computed again after this factor of launches, since that takes longer with each."""


class Allocating:
    """Chooses visits and slices for the points of each start."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._seconds: dict[Start, list[tuple[float, float]]] = {}
        self._sample_s: dict[tuple[Start, Point], float] = {}
        self._variances: dict[Start, tuple[int, Variances | None]] = {}

    def learn(self, start: Start, point: Point, record: dict[str, Any]) -> None:
        """Learn from the answer to a visit."""
        samples_s = record.get("samples_s", [])
        messages = record.get("batch", 1) * record.get("messages_per_round", 1)
        seconds = sum(samples_s) * messages
        variance_s = samples_variance_s(samples_s, seconds)
        if samples_s:
            self._sample_s[start, point] = seconds / len(samples_s)
        learned = self._seconds.setdefault(start, [])
        if variance_s is not None and len(learned) < LEARNED_MAX:
            learned.append((variance_s, seconds))

    def effort(
        self, start: Start, launch: int, point: Point, costs: PointCosts, visits_max: int
    ) -> VisitAllocation:
        """Up to `visits_max` visits of a launch to a point, and how long each samples."""
        least_s = min(SLICE_MAX_S, SAMPLES_LEAST * self._sample_s.get((start, point), 0.0))
        pilot = VisitAllocation(min(PILOT.visits, visits_max), max(least_s, PILOT.slice_s))
        if launch < PILOT_LAUNCHES and start not in self._variances:
            return pilot
        learned_at, variances = self._variances.get(start, (0, None))
        if launch > LEARNED_EVERY * learned_at:
            variances = self._variances_of(start)
            # What a resumed run has not learned yet it asks for again at once.
            self._variances[start] = (launch if variances else 0, variances)
        if variances is None:
            return pilot
        return best(variances, costs, max(least_s, SLICE_MIN_S), SLICE_MAX_S, visits_max)

    def _variances_of(self, start: Start) -> Variances | None:
        learned = self._seconds.get(start, [])
        if not learned:
            return None
        sampling_variance_s = median(variance_s for variance_s, _ in learned)
        slice_s = median(seconds for _, seconds in learned)
        return variances_of(self._medians(start), sampling_variance_s, slice_s)

    def _medians(self, start: Start) -> Iterator[dict[int, list[float]]]:
        """The medians of visits of each point of a start, by launch."""
        visits = self._agenda.state.visits
        for point in self._agenda.points(start):
            by_launch: dict[int, list[float]] = {}
            for launch, median_s, _ in visits.get((start.subject, point), []):
                by_launch.setdefault(launch, []).append(median_s)
            yield by_launch


UNREACHED = 1e-9
"""Half-width that no measured interval has."""
JUDGED_EVERY = 1.1
"""Intervals are computed again after this factor of launches, since that takes longer with each."""


class Further:
    """Decides which points one more launch measures."""

    def __init__(self, agenda: Agenda, stopping: Stopping) -> None:
        self._agenda = agenda
        self._stopping = stopping
        self._missing: list[Point] = []
        self._judged_at = 0

    def add_launch(self) -> bool:
        """Add one more launch to the agenda; False if there is no need or no time for it.

        All libraries measure the same points, so that they can be compared launch by launch.
        """
        if all(subject.is_exact for subject in self._agenda.subjects):
            return False
        launches = self._agenda.launches()
        if launches >= JUDGED_EVERY * self._judged_at:
            missed = sorted(self._missed().items(), key=lambda item: -item[1])
            self._missing, self._judged_at = [point for point, _ in missed], launches
        points = self._stopping.fitting(self._missing)
        if points:
            self._agenda.further[launches] = frozenset(points)
        return bool(points)

    def _missed(self) -> dict[Point, float]:
        """Return the points that miss their precision, with the factor on the worst library.

        A point with a single launch in the machine state that is reported for it has the largest
        factor.
        """
        targets, rows = self._visits()
        if not rows:
            return {}
        visits = pl.DataFrame(rows, schema_overrides={"flag_s": pl.Float64()})
        reported = with_states(visits).filter("counts")
        launches = reported.group_by([*RUN_POINT, "number", "launch"], maintain_order=True)
        widths = half_widths(launches.agg(pl.col("median_s").median()), "number")
        excess_factors: dict[Point, float] = {}
        for number, half_width in widths.select("number", "half_width").iter_rows():
            point, target = targets[number]
            if half_width > target:
                excess_factors[point] = max(excess_factors.get(point, 0.0), half_width / target)
        return excess_factors

    def _visits(self) -> tuple[list[tuple[Point, float]], list[dict[str, object]]]:
        """Return every point on every library with its target, and the rows of its visits."""
        targets: list[tuple[Point, float]] = []
        rows: list[dict[str, object]] = []
        for start in self._agenda.starts():
            for point, block in self._agenda.points(start).items():
                target = self._target(block)
                visits = self._agenda.state.visits.get((start.subject, point), [])
                if not target or len({launch for launch, _, _ in visits}) < 2:
                    continue
                key = ("", "", start.subject, point.pattern, "", point.ranks, point.placement)
                point_key = (*key, point.axes, point.size_bytes)
                point_columns = dict(zip(RUN_POINT, point_key, strict=True))
                rows += [
                    {**point_columns, "launch": launch, "median_s": median_s, "flag_s": flag_s}
                    | {"number": len(targets)}
                    for launch, median_s, flag_s in visits
                ]
                targets.append((point, target))
        return targets, rows

    def _target(self, number: int) -> float:
        """Return the half-width a block aims at; 0 with one launch, which gives no interval.

        Curves that a run goes on for are measured until its time is up.
        """
        plan = self._agenda.plan
        block = plan.blocks[number]
        if plan.launches_of(block) == 1:
            return 0.0
        return UNREACHED if self._agenda.state.pursued else plan.precision_of(block)

"""Scouting: the sizes at which curves change are found in a quick launch that is not reported.

Protocols change at sizes that no power of two brackets well. In a coarse curve, find the steps that
a straight line through their neighbours does not explain, then halve each (in the logarithm of the
size) until it is narrow. A step is compared with the line through its two left neighbours, as a
reader of the curve would.
"""

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from nhalf.measure.loop.records import Records, line
from nhalf.measure.loop.retry import FAILURES_MAX, Retries, Starting
from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda, Family
from nhalf.measure.plan.budget import Group
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.state import EVERYBODY, AdaptiveCurve
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Processes

WIDTH = 1.05
"""A bracket is narrow enough when its upper size is within this factor of its lower one."""
DEVIATION = 0.12
"""A step is a change where the time differs by more than this from the line of its neighbours."""
SLIGHT_DEVIATION = 0.06
"""A step that deviates less than a change, but more than this, gets one size at its midpoint."""
BRACKETS_MAX = 8

Curve = dict[int, float]


def changes(curve: Curve, deviation: float = DEVIATION) -> list[tuple[int, int]]:
    """Return neighbouring sizes between which the curve jumps or bends, the strongest first.

    `curve` maps sizes in bytes to times in seconds; a step counts above the relative `deviation`.
    """
    sizes = sorted(curve)
    steps = []
    for low, high in itertools.pairwise(sizes):
        steps.append((abs(_deviation(curve, sizes, low, high)), low, high))
    strong = [step for step in steps if step[0] > deviation and not _narrow(*step[1:])]
    return [(low, high) for _, low, high in sorted(strong, reverse=True)]


def refine(curve: Curve, measure: Callable[[int], float | None]) -> list[int]:
    """Return the sizes to add to a coarse curve, found by measuring some of them.

    `measure` returns the time in seconds at a size, None if it cannot. The strongest changes of
    the curve end up between two neighbouring sizes no further apart than WIDTH; slighter bends get
    one size at their midpoint, so that a model does not have to guess there.
    """
    refined = dict(curve)
    for size in sorted({size for bracket in changes(curve) for size in bracket}):
        # A second trial: a disturbance of one measurement is no change of the curve.
        time_s = measure(size)
        refined[size] = min(refined[size], time_s) if time_s is not None else refined[size]
    strong = changes(refined)[:BRACKETS_MAX]
    slight = [step for step in changes(refined, SLIGHT_DEVIATION) if step not in strong]
    for bracket in strong:
        _bisect(refined, *bracket, measure)
    for low, high in slight:
        middle = _middle(low, high)
        time_s = measure(middle)
        if time_s is not None:
            refined[middle] = time_s
    return sorted(set(refined) - set(curve))


def _bisect(curve: Curve, low: int, high: int, measure: Callable[[int], float | None]) -> None:
    """Halve a bracket until it is narrow, adding the measured times to `curve`."""
    while not _narrow(low, high):
        middle = _middle(low, high)
        time_s = measure(middle) if middle not in (low, high) else None
        if time_s is None:
            return
        curve[middle] = time_s
        if _belongs_left(curve, low, middle, high):
            low = middle
        else:
            high = middle


def _middle(low: int, high: int) -> int:
    """Return the geometric mean of two sizes."""
    return round(math.sqrt(max(low, 1) * high))


def _narrow(low: int, high: int) -> bool:
    return high - low <= 1 or high <= max(low, 1) * WIDTH


def _line(curve: Curve, points: Sequence[int], size: int) -> float:
    """Return the time at `size` on the line through two points, at least half the smaller time."""
    first, second = points
    slope = (curve[second] - curve[first]) / (second - first)
    return max(curve[first] + slope * (size - first), min(curve[first], curve[second]) * 0.5)


def _deviation(curve: Curve, sizes: Sequence[int], low: int, high: int) -> float:
    """Return the relative deviation of the time at `high` from the left neighbours' line."""
    left_sizes = [size for size in sizes if size <= low]
    if len(left_sizes) < 2:
        right_sizes = [size for size in sizes if size >= high]
        return 0.0 if len(right_sizes) < 2 else curve[low] / _line(curve, right_sizes[:2], low) - 1
    return curve[high] / _line(curve, left_sizes[-2:], high) - 1


def _belongs_left(curve: Curve, low: int, middle: int, high: int) -> bool:
    """Whether the time at `middle` continues the curve on the left rather than the right."""
    left_sizes = [size for size in sorted(curve) if size <= low]
    right_sizes = [size for size in sorted(curve) if size >= high]
    from_left = _line(curve, left_sizes[-2:], middle) if len(left_sizes) > 1 else curve[low]
    from_right = _line(curve, right_sizes[:2], middle) if len(right_sizes) > 1 else curve[high]
    time_s = curve[middle]
    return abs(math.log(time_s / from_left)) <= abs(math.log(time_s / max(from_right, 1e-12)))


SLICE_S = 0.004
PRECISION = 0.02


@dataclass(frozen=True)
class Scout:
    """Chooses sizes for the curves that may have more."""

    agenda: Agenda
    stopping: Stopping
    retries: Retries
    starting: Starting
    records: Records

    def look(self, start: Start) -> None:
        """Find the sizes at which the curves of a start change.

        A curve that ends launches, or is thinned, keeps its coarse sizes.
        """
        for attempt in islice(self.retries.attempts(start), FAILURES_MAX):
            families = self._unknown(start)
            if not families or self.stopping.scouted_enough():
                return
            doing = "looking for protocol changes"
            with attempt, self.starting.processes(start, doing, 0) as processes:
                for family in families:
                    self.stopping.check_job()
                    sizes = self._sizes(processes, start, family)
                    # An interrupted search gives no sizes: the curve then has its coarse ones.
                    if self.stopping.scouted_enough():
                        return
                    self.records.sizes(family.curve, sizes)

    def share(self) -> None:
        """Let all subjects measure the sizes found for any of them, so that they can be compared.

        A run that already has points keeps its sizes.
        """
        if self.records.state.done or len(self.agenda.subjects) < 2:
            return
        sizes_by_curve: dict[AdaptiveCurve, dict[str, list[int]]] = {}
        for curve, sizes in self.records.state.sizes.items():
            if curve.subject != EVERYBODY:
                shared_curve = curve._replace(subject=EVERYBODY)
                sizes_by_curve.setdefault(shared_curve, {})[curve.subject] = sizes
        for curve, by_subject in sizes_by_curve.items():
            sizes = sorted({size for sizes in by_subject.values() for size in sizes})
            if self.records.state.sizes.get(curve) != sizes:
                self.records.sizes(curve, sizes)

    def _unknown(self, start: Start) -> list[Family]:
        """Return the families that may get further sizes and have none yet."""
        return [
            family
            for family in self.agenda.families(start)
            if family.adaptive
            and self.agenda.thinned[family.block].sizes == 1
            and self.records.state.sizes_of(family.curve) is None
        ]

    def _sizes(self, processes: Processes, start: Start, family: Family) -> list[int]:
        """Return the coarse sizes and those that bracket the changes between them."""
        subject, curve = self.starting.subjects[start.subject], family.curve
        info = subject.infos[curve.pattern]

        def measure(size_bytes: int) -> float | None:
            point = Point(curve.pattern, start.ranks, size_bytes, start.placement)
            if self.retries.ended(start, point) or self.stopping.scouted_enough():
                return None
            asked_s = time.monotonic()
            try:
                processes.send(line("scout", point, SLICE_S, PRECISION, info.timing))
                record = processes.receive(self.agenda.plan.timeout_s, identity="scout")
            except LaunchError as error:
                self.retries.suspect(subject, point, error)
                raise
            self.retries.answered(start)
            group = Group(family.block, start.ranks)
            self.stopping.scouted(group, time.monotonic() - asked_s, SLICE_S)
            # The fastest sample: disturbances only ever add time.
            fastest_s = min(record.get("samples_s") or [0.0])
            return fastest_s if fastest_s > 0 else None

        coarse = family.sizes
        coarse_curve = {size: time_s for size in coarse if (time_s := measure(size)) is not None}
        return list(info.sizes(tuple({*coarse, *refine(coarse_curve, measure)})))

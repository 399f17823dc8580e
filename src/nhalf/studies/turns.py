"""A study measured in turns: first what decides most conclusions in a second, then what is open.

After each turn the conclusions are judged. One that is decided by a wide margin is left; of one
that is open the launches that it lacks are estimated, since intervals narrow with their square
root. That a verdict falls early takes MARGIN half-widths, about three standard deviations (R. Peto
et al., British Journal of Cancer 34 (1976) 585); the last turn is judged at 95 %, as any run is. Of
normal numbers that lie on their limit five looks at 5 to 27 launches so decide 7 %, where one look
decides 5 %, and five that each decide at 95 % decide 16 % (simulated).
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from nhalf.facts.facts import Facts
from nhalf.measure.loop import session
from nhalf.measure.loop.ending import RunOutcome
from nhalf.measure.loop.session import More, Prepared
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.axes import split
from nhalf.measure.plan.budget import LAUNCH_COST_S, LAUNCHES_MIN
from nhalf.measure.plan.plan import Block, Plan, Point, Start
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.subject import Subject
from nhalf.studies.form import StudyForm
from nhalf.studies.judge import UNTESTED, ConclusionJudgement, allowed, judge
from nhalf.studies.measured import Measured

MARGIN = 1.5
"""How many half-widths of its interval a number is from the limit if its verdict is left alone."""
FIRST_SHARE = 0.5
"""The share of the time for the first turn, when nothing is known of any conclusion."""
TURNS = 5
TURN_LEAST_S = 2.0
ENOUGH = 4
"""How many times as long as its launches should a turn takes at most: they then halve the widths
of their intervals, and the rest of the time is for what did not fit into the turn."""
POINT_S = 0.02
"""Time of a point in a launch relative to that of a start, which is learned."""
LAUNCHES_MOST = 500
"""A conclusion that lacks more launches comes last."""
CURVE = ("subject", "pattern", "algorithm", "ranks", "placement", "axes")
Work = frozenset[tuple[Start, Point]]


@dataclass
class DecisionTurns:
    """What every conclusion needs that can be decided, and the last verdict on it.

    `tables` is what the tables need. Where launches are exact one of each point is enough.
    """

    works: dict[str, Work]
    tables: Work
    is_exact: bool = False
    verdicts: dict[str, ConclusionJudgement] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    pace_ratio: float = 1.0
    """How many times as long as assumed launches take."""
    launches: int = 1
    """How many there were, for numbers that come from all of them together."""

    def next(self, slice_s: float, left_s: float = math.inf) -> tuple[Work, float, float]:
        """What to measure in the next seconds, most verdicts for the time first; nothing if no
        conclusion is open.

        Conclusions that were never tried come before those that are open, unless they take more
        than all that is left. The first of them may take more than the slice: their seconds are
        returned as well, and then those of all.
        """
        lacking = {name: lacks for name in self.works if (lacks := self._lacking(name))}
        chosen: Work = frozenset()
        spent_s = fresh_s = 0.0
        while lacking:
            all_costs = {
                name: self.pace_ratio * launches * _cost_s(self.works[name] - chosen, chosen)
                for name, launches in lacking.items()
            }
            fresh = {n: s for n, s in all_costs.items() if n not in self.tried and s <= left_s}
            costs = fresh or all_costs
            name = max(costs, key=lambda name: self._gain(name, chosen, costs))
            if chosen and spent_s + costs[name] > slice_s:
                break
            spent_s += costs[name]
            fresh_s = spent_s if fresh else fresh_s
            chosen |= self.works[name]
            lacking = {
                n: launches for n, launches in lacking.items() if not self.works[n] <= chosen
            }
        self.tried |= {name for name, work in self.works.items() if work <= chosen}
        return chosen, fresh_s, spent_s

    def _gain(self, name: str, chosen: Work, costs: Mapping[str, float]) -> float:
        """Verdicts that the work of one may bring, by the second."""
        within = chosen | self.works[name]
        verdicts = sum(self.works[name_within] <= within for name_within in costs)
        return verdicts / max(costs[name], 1e-6)

    def _lacking(self, name: str) -> int:
        """The launches that a verdict still takes; 0 if it fell, or more do not help."""
        if name not in self.tried:
            return 1 if self.is_exact else LAUNCHES_MIN
        judgement = self.verdicts.get(name)
        if self.is_exact or judgement is None or judgement.value is None:
            return 0
        launches = len(judgement.value.per_launch) or self.launches
        if judgement.value.ci is None:
            return LAUNCHES_MIN if launches < LAUNCHES_MIN else 0
        share = margin(judgement)
        if share >= MARGIN:
            return 0
        return min(LAUNCHES_MOST, math.ceil(launches * ((MARGIN / max(share, 0.05)) ** 2 - 1)))


def margin(judgement: ConclusionJudgement) -> float:
    """How far a number is from the nearest limit, in half-widths of its interval on that side.

    On the logarithmic scale; 0 for a number that has none, infinite without a width.
    """
    value, limit = judgement.value, judgement.limit
    if value is None or limit is None or not (value.ends[0] > 0 and value.median > 0):
        return math.inf if judgement.verdict != UNTESTED else 0.0
    ends = [end for end in allowed(judgement.conclusion, limit) if 0 < end < math.inf]
    least, most = allowed(judgement.conclusion, limit)
    passed = [end for end in ends if value.median < least == end or value.median > most == end]
    shares = []
    for end in passed or ends:
        width = abs(math.log(value.ends[end > value.median] / value.median))
        distance = abs(math.log(end / value.median))
        shares.append(distance / width if width else math.inf)
    return min(shares, default=math.inf)


def turns_of(
    needs: Mapping[str, Sequence[Block]], tables: Sequence[Block], plan: Plan, subjects: Any
) -> DecisionTurns:
    """The turns of a plan on its subjects; what none of these can measure is not needed."""
    works = {name: _work(blocks, plan, subjects) for name, blocks in needs.items()}
    is_exact = all(subject.is_exact for subject in subjects)
    return DecisionTurns(
        {name: work for name, work in works.items() if work},
        _work(tables, plan, subjects),
        is_exact,
    )


def _work(blocks: Sequence[Block], plan: Plan, subjects: Sequence[Subject]) -> Work:
    agenda = Agenda(msgspec.structs.replace(plan, blocks=[*blocks]), subjects, RunState())
    return frozenset((start, point) for start in agenda.starts() for point in agenda.points(start))


def _cost_s(work: Work, chosen: Work) -> float:
    """The seconds of a launch of this work beside what is taken."""
    begun_starts = {start for start, _ in chosen}
    starts = {start for start, _ in work} - begun_starts
    return LAUNCH_COST_S * sum(1 + start.ranks / 8 for start in starts) + POINT_S * len(work)


def measure_in_turns(
    prepared: Prepared,
    turns: DecisionTurns,
    form: StudyForm,
    name: str,
    measured: Callable[[Prepared], RunOutcome],
) -> RunOutcome:
    """Measure a study within its time; `name` is that of the machine, `measured` does one turn.

    The last turn, or one in which nothing is open, measures what stands in tables as well.
    """
    ends_s = prepared.began_s + prepared.plan.budget_s
    failed: dict[str, str] = {}
    outcome: RunOutcome | None = None
    for usual_s, is_last in _slices_s(ends_s):
        left_s = ends_s - time.monotonic()
        work, fresh_s, spent_s = turns.next(usual_s, left_s)
        if work and not is_last:
            usual_s = min(usual_s, max(TURN_LEAST_S, ENOUGH * spent_s))
        slice_s = max(usual_s, min(fresh_s, left_s))
        if is_last or slice_s > left_s - TURN_LEAST_S or not work:
            work |= turns.tables
        if not work:
            break
        began_s, before_s = time.monotonic(), _assumed_s(prepared)
        more = More(budget_s=slice_s, curves=_curves(work, prepared))
        outcome = measured(session.resume(prepared.run.path, more=more))
        failed |= outcome.failed
        if (assumed_s := _assumed_s(prepared) - before_s) > 0:
            turns.pace_ratio = (time.monotonic() - began_s) / assumed_s
        points = (event for event in prepared.run.events() if event["event"] == "point")
        turns.launches = len({event["launch"] for event in points}) or 1
        source = Measured(name, Facts.of([outcome.run]))
        for conclusion in form.conclusion:
            if conclusion.id in turns.works:
                turns.verdicts[conclusion.id] = judge(conclusion, source, form.machines)
    return replace(outcome, failed=failed) if outcome else measured(prepared)


def _assumed_s(prepared: Prepared) -> float:
    """The seconds that the launches and points of a run should have taken so far."""
    kinds = Counter(event["event"] for event in prepared.run.events())
    return LAUNCH_COST_S * kinds["launch"] + POINT_S * kinds["point"]


def _slices_s(ends_s: float) -> Iterator[tuple[float, bool]]:
    """The seconds of each turn, while there are enough for another, and whether it is the last."""
    yield FIRST_SHARE * (ends_s - time.monotonic()), False
    for number in range(1, TURNS):
        left_s = ends_s - time.monotonic()
        if left_s < TURN_LEAST_S:
            return
        is_last = number == TURNS - 1 or left_s < 3 * TURN_LEAST_S
        yield left_s if is_last else max(TURN_LEAST_S, left_s / (TURNS - number)), is_last


def _curves(work: Work, prepared: Prepared) -> list[dict[str, Any]]:
    """The curves of points, as a run that goes on names them; those of a range have all sizes."""
    infos = {name: info for of in prepared.subjects for name, info in of.infos.items()}
    ranges = {name for of in prepared.plan.blocks if ":" in of.bytes for name in of.patterns}
    sizes: dict[tuple[Any, ...], list[int]] = {}
    for start, point in work:
        algorithm, axes = split(infos[point.pattern], point.axes)
        key = (start.subject, point.pattern, algorithm, point.ranks, point.placement, axes)
        sizes.setdefault(key, []).append(point.size_bytes)
    return [
        dict(zip(CURVE, key, strict=True))
        | ({} if key[1] in ranges else {"sizes": sorted(sizes[key])})
        for key in sorted(sizes)
    ]

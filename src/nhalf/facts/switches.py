"""Changes of a curve that are no noise; jumps over all patterns: protocol switches, or caches."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from nhalf.base.operations import COLLECTIVES, NATIVE
from nhalf.facts import jumps as curve_jumps
from nhalf.facts.causes import CoreCache, cache_near, is_decided_cache, packets_explain
from nhalf.facts.contests import SETTING, contests
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import plain_points, with_series
from nhalf.machines.machine import Breakpoint, FittedModel, PeriodicSteps, Segment
from nhalf.statistics.state_groups import APART
from nhalf.store.keys import RUN_CURVE, without

CONFIDENCE = 0.99
"""Confidence required of a jump, since the fit chose the place where it is largest."""
LEAST = 1.03
"""Smaller jumps are what is left where a curve is not made of straight lines."""
SPAN_LEAST = 2
"""A segment whose last size is less than this many times its first has no rate of its own."""
SAME_PLACE = 1.1
"""Sizes within this factor of each other count as the same."""
AT_ONE_SIZE = 1.06
"""A jump between sizes this close is the library's: no cache effect is so sharp."""
EAGER_LEAST = 256
"""No library waits for the receiver of a smaller message, in bytes."""
EAGER_MOST = 2**20
"""Defaults of libraries lie below; only a limit that the library names may be larger."""
EAGER_STEPS_MAX = 2
"""Which of more steps is the one to rendezvous is unknown, unless the library says so."""
SUBJECT = without(RUN_CURVE, "pattern", "axes", "algorithm")


@dataclass(frozen=True)
class Quicker:
    """The library that is significantly faster in the same setting after a costly switch."""

    title: str
    size_bytes: int
    time_s: float


@dataclass(frozen=True)
class ProtocolSwitchPoint:
    """One significant change, in the pattern in which it is largest.

    `also` are the other patterns in which the same library changes there; `cache` is close enough
    in size to be the cause; `limits` are the eager limits that the library names, and `is_eager`
    says that it is taken for that limit: rendezvous from there on.
    """

    series: str
    mpi: str
    pattern: str
    subject: Mapping[str, Any]
    jump: curve_jumps.Jump
    quicker: Quicker | None
    cache: CoreCache | None
    limits: tuple[curve_jumps.EagerLimit, ...] = ()
    also: tuple[tuple[str, curve_jumps.Jump], ...] = ()
    is_eager: bool = False
    names_limits: bool = False
    """Whether the library names limits, of whatever component."""
    is_cache: bool | None = None
    """Whether other buffers moved it (a cache) or not (the library); None if not measured."""

    @property
    def at_one_size(self) -> bool:
        """Whether it is located to nearly one size."""
        return self.jump.after_bytes <= self.jump.before_bytes * AT_ONE_SIZE

    @property
    def limits_there(self) -> tuple[curve_jumps.EagerLimit, ...]:
        """The eager limits of the library that lie there."""
        ends_bytes = (self.jump.before_bytes, self.jump.after_bytes)
        return tuple(limit for limit in self.limits if limit.is_between(*ends_bytes))


@fact
def switches(facts: Facts) -> list[ProtocolSwitchPoint]:
    """The switches of all patterns whose jump exceeds COSTLY, each once per library."""
    merged: list[ProtocolSwitchPoint] = []
    largest_first = sorted(_all(facts), key=lambda switch: -abs(math.log(switch.jump.at_least)))
    for switch in largest_first:
        place = next((i for i, earlier in enumerate(merged) if _same(switch, earlier)), None)
        if place is None:
            merged.append(switch)
        elif switch.pattern != merged[place].pattern:
            also = (*merged[place].also, (switch.pattern, switch.jump))
            merged[place] = replace(merged[place], also=also)
    eager = _eager(merged)
    return [replace(switch, is_eager=place in eager) for place, switch in enumerate(merged)]


def _eager(merged: Sequence[ProtocolSwitchPoint]) -> set[int]:
    """The places of the switches to rendezvous: at the library's own limit, or the last switch.

    Only messages between two ranks have one, and it costs time, at one size.
    """
    by_subject: dict[tuple[Any, ...], list[int]] = {}
    for place, switch in enumerate(merged):
        if switch.pattern in COLLECTIVES or not switch.jump.costs:
            continue
        is_usual = EAGER_LEAST <= switch.jump.before_bytes <= EAGER_MOST
        is_alone = not switch.names_limits and switch.cache is None
        if switch.limits_there or (is_alone and switch.at_one_size and is_usual):
            by_subject.setdefault(tuple(switch.subject.values()), []).append(place)
    return {
        max(
            places,
            key=lambda place: (bool(merged[place].limits_there), merged[place].jump.before_bytes),
        )
        for places in by_subject.values()
        if len(places) <= EAGER_STEPS_MAX or any(merged[place].limits_there for place in places)
    }


def _same(first_switch: ProtocolSwitchPoint, second_switch: ProtocolSwitchPoint) -> bool:
    """Whether two switches are of one library, in one direction, at one size."""
    first, second = first_switch.jump, second_switch.jump
    last_before = max(first.before_bytes, second.before_bytes)
    first_after = min(first.after_bytes, second.after_bytes)
    is_same_size = last_before <= first_after * SAME_PLACE
    is_same_subject = first_switch.subject == second_switch.subject
    return is_same_size and is_same_subject and first.costs == second.costs


@fact
def _all(facts: Facts) -> Iterator[ProtocolSwitchPoint]:
    """Every jump of every curve of messages between two ranks and of blocking operations."""
    patterns = {*plain_points(facts)["pattern"].unique(), *COLLECTIVES}
    for model in facts.models:
        own = model.algorithm in ("", NATIVE) and not model.axes
        if not (own and model.pattern in patterns):
            continue
        launches = launches_of(model, facts.launches)
        by_state = launches_of(model, facts.launches_by_state)
        evident = evident_changes(facts, model)
        sides = zip(model.segments, model.segments[1:], strict=False)
        for change, (before, after) in zip(model.breakpoints, sides, strict=False):
            is_jump = change.kind == "jump" and change in evident
            jump = curve_jumps.jump_between(launches, by_state, before, after) if is_jump else None
            if jump is None or not _is_switch(facts, model, jump):
                continue
            switch = _switch(facts, launches, jump)
            is_cache = is_decided_cache(change.cause)
            if not (is_cache and _is_in_fall(model, jump)):  # named once, as the fall
                yield replace(switch, is_cache=is_cache)


def measured_fall(
    facts: Facts, model: FittedModel, fall: curve_jumps.RateFall
) -> curve_jumps.RateFall:
    """The fall of a fitted curve's rate, with the rates that were measured at its ends."""
    is_of_model = [pl.col(name) == getattr(model, name) for name in RUN_CURVE]
    points = facts.summary.filter(*is_of_model).select("bytes", "median_s")
    time_s = dict(points.iter_rows())
    if not {fall.from_bytes, fall.to_bytes} <= set(time_s):
        return fall
    from_Bps = fall.from_bytes / time_s[fall.from_bytes]
    return replace(fall, from_Bps=from_Bps, to_Bps=fall.to_bytes / time_s[fall.to_bytes])


def _is_in_fall(model: FittedModel, jump: curve_jumps.Jump) -> bool:
    """Whether a jump is a part of a gradual fall of the rate."""
    fall = curve_jumps.rate_fall(model)
    return fall is not None and fall.is_gradual and fall.holds(jump.before_bytes, jump.after_bytes)


@fact
def _packet_steps(facts: Facts, model: FittedModel) -> PeriodicSteps | None:
    """The packets of a library, whose steps may be clear in another pattern."""
    alike = (m for m in facts.models if all(getattr(m, n) == getattr(model, n) for n in SUBJECT))
    return next(filter(None, (m.packet_steps for m in (model, *alike))), None)


def _is_switch(facts: Facts, model: FittedModel, jump: curve_jumps.Jump) -> bool:
    """Whether neither further packets nor another state of the machine explain a jump."""
    excess_s = jump.after_s - jump.expected_s
    ends = (jump.before_bytes, jump.after_bytes)
    if packets_explain(_packet_steps(facts, model), *ends, excess_s):
        return False
    is_of_model = [pl.col(name) == getattr(model, name) for name in RUN_CURVE]
    beside = facts.summary.filter(pl.col("bytes").is_in(ends), *is_of_model)
    states_s = beside["state_s"].drop_nulls().drop_nans().to_list()
    return len(states_s) < 2 or max(states_s) < APART * min(states_s)


def _switch(facts: Facts, launches: pl.DataFrame, jump: curve_jumps.Jump) -> ProtocolSwitchPoint:
    first = launches.row(0, named=True)
    environment = facts.reported_environments.get(first["run"], {})
    switch = ProtocolSwitchPoint(
        series=with_series(launches.head(1), facts)["series"][0],
        mpi=first["mpi"],
        pattern=first["pattern"],
        subject={name: first[name] for name in SUBJECT},
        jump=jump,
        quicker=_quicker(facts, first, jump.after_bytes) if jump.costs else None,
        cache=cache_near(environment, jump),
        limits=curve_jumps.limits_in_use(environment, first["mpi"], first["placement"]),
        names_limits=bool(curve_jumps.eager_limits_of(environment, first["mpi"])),
    )
    is_sharp = switch.at_one_size and jump.is_between_its_sizes
    return replace(switch, cache=None) if is_sharp else switch


def _quicker(facts: Facts, point: dict[str, Any], size: int) -> Quicker | None:
    """The library measured to be faster in the same setting at this size or next to it."""
    for contest in contests(facts, point["pattern"]):
        if any(contest.setting[name] != point[name] for name in SETTING):
            continue
        quicker = contest.quicker(point["mpi"], size)
        if quicker is not None:
            mpi, near = quicker
            return Quicker(contest.titles[mpi], near, contest.time_s(mpi, near))
    return None


@fact
def evident_changes(facts: Facts, model: FittedModel) -> list[Breakpoint]:
    """The breaks of a fitted curve without those that may be noise."""
    if not model.breakpoints:
        return []
    launches, by_state = (
        launches_of(model, frame) for frame in (facts.launches, facts.launches_by_state)
    )
    sides = zip(model.breakpoints, model.segments, model.segments[1:], strict=False)
    return [
        change
        for change, before, after in sides
        if (
            jumps(launches, by_state, before, after)
            or (change.kind == "bend" and bends(before, after))
        )
        and not (change.kind == "jump" and _is_of_packets(model, change, before, after))
    ]


def _is_of_packets(model: FittedModel, change: Breakpoint, before: Segment, after: Segment) -> bool:
    """Whether the steps of packets explain a break of the fitted curve."""
    excess_s = after.time_s(change.high_bytes) - before.time_s(change.high_bytes)
    return packets_explain(model.packet_steps, change.low_bytes, change.high_bytes, excess_s)


def launches_of(model: FittedModel, launches: pl.DataFrame) -> pl.DataFrame:
    """The launch medians of the curve that a model describes."""
    is_of_model = [pl.col(name) == getattr(model, name) for name in RUN_CURVE]
    return launches.filter(pl.col("median_s") > 0, *is_of_model)


def jumps(launches: pl.DataFrame, by_state: pl.DataFrame, before: Segment, after: Segment) -> bool:
    """Whether the time rises more, or less, than the sizes before it can explain."""
    costs, saves = curve_jumps.jump_ratios(launches, by_state, before, after, CONFIDENCE)
    return (costs is not None and costs.low > 1 and costs.median > LEAST) or (
        saves is not None and saves.high < 1 and saves.median < 1 / LEAST
    )


def bends(before: Segment, after: Segment) -> bool:
    """Whether the rates differ; they do not if one of them has no interval, or hardly a range."""
    if any(side.to_bytes < SPAN_LEAST * side.from_bytes for side in (before, after)):
        return False
    if before.r_inf_ci is None or after.r_inf_ci is None:
        return False
    return before.r_inf_ci[1] < after.r_inf_ci[0] or after.r_inf_ci[1] < before.r_inf_ci[0]

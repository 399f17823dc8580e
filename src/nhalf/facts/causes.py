"""Caches of a core, and changes of a curve that they explain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from nhalf.facts.jumps import Jump, RateFall, limits_in_use, rate_fall
from nhalf.machines.curve import PINGPONG
from nhalf.machines.machine import Breakpoint, FittedModel, PeriodicSteps, Segment
from nhalf.store.keys import RUN_CURVE, without

BUFFERS_MAX = 4
"""Buffers of a message that may share a cache: sender's, receiver's, and a copy of each."""


@dataclass(frozen=True)
class CoreCache:
    """One level of cache, 'L2', as one core sees it."""

    name: str
    size_bytes: int


def caches(environment: Mapping[str, Any]) -> list[CoreCache]:
    """The caches listed in the environment of a run, smallest first; none for older runs."""
    size_by_name = environment.get("caches")
    if not isinstance(size_by_name, Mapping):
        return []
    levels = [
        CoreCache(name.removesuffix("_bytes"), int(size)) for name, size in size_by_name.items()
    ]
    return sorted(levels, key=lambda cache: cache.size_bytes)


def cache_near(environment: Mapping[str, Any], jump: Jump) -> CoreCache | None:
    """The cache that a message's buffers outgrow somewhere between the sizes beside a jump.

    A message that no longer fits a cache takes longer, so a jump that saves time has another cause.
    """
    return cache_between(environment, jump.before_bytes, jump.after_bytes) if jump.costs else None


def cache_between(
    environment: Mapping[str, Any], before_bytes: int, after_bytes: int
) -> CoreCache | None:
    """The smallest cache that a message's buffers outgrow somewhere between two sizes."""
    for cache in caches(environment):
        if after_bytes > cache.size_bytes / BUFFERS_MAX and before_bytes < cache.size_bytes:
            return cache
    return None


def outgrown(environment: Mapping[str, Any], fall: RateFall | None) -> CoreCache | None:
    """The cache that explains the fall of a rate: one over a range of sizes is no protocol's."""
    if fall is None or not fall.is_gradual:
        return None
    return cache_between(environment, fall.from_bytes, fall.to_bytes)


PACKETS_SLACK = 1.5
"""Steps of packets explain a jump up to this multiple of their height: they have an interval."""


def packets_explain(
    steps: PeriodicSteps | None, before_bytes: int, after_bytes: int, excess_s: float
) -> bool:
    """Whether the time rises between two sizes by what further packets cost."""
    if steps is None:
        return False
    packets = _packets(steps, after_bytes) - _packets(steps, before_bytes)
    return packets > 0 and excess_s <= PACKETS_SLACK * packets * steps.height_s


def _packets(steps: PeriodicSteps, size_bytes: int) -> int:
    """The packets of a message after its first."""
    return max(0, (size_bytes - steps.offset_bytes) // steps.period_bytes + 1)


OTHER_BUFFERS = "pingpong-diffbuf"
PROTOCOL = "protocol"
EAGER = "eager limit"
SAME_PLACE = 1.1
"""Sizes within this factor of each other count as the same."""
_SUBJECT = without(RUN_CURVE, "pattern")


def is_decided_cache(cause: str) -> bool | None:
    """Whether a change is due to a cache (or to the library); None where that is not known."""
    if cause in (PROTOCOL, EAGER):
        return False
    return None if not cause or cause.startswith(PROTOCOL) else True


def with_causes(
    models: Sequence[FittedModel], environments: Mapping[str, Mapping[str, Any]]
) -> list[FittedModel]:
    """The models, with the cause of each change that costs time near the capacity of a cache."""
    return [_with_causes(model, models, environments.get(model.run, {})) for model in models]


def _with_causes(
    model: FittedModel, models: Sequence[FittedModel], environment: Mapping[str, Any]
) -> FittedModel:
    sides = zip(model.segments, model.segments[1:], strict=False)
    changes = tuple(
        msgspec.structs.replace(change, cause=_cause(model, change, models, environment))
        if _costs(change, before, after)
        else change
        for change, (before, after) in zip(model.breakpoints, sides, strict=True)
    )
    return msgspec.structs.replace(model, breakpoints=changes)


def _costs(change: Breakpoint, before: Segment, after: Segment) -> bool:
    """Whether time grows there, or grows faster from there on."""
    if change.kind == "jump":
        return change.change_percent > 0
    return after.r_inf_Bps < before.r_inf_Bps


def _cause(
    model: FittedModel,
    change: Breakpoint,
    models: Sequence[FittedModel],
    environment: Mapping[str, Any],
) -> str:
    ends_bytes = (change.low_bytes, change.high_bytes)
    limits = limits_in_use(environment, model.mpi, model.placement)
    if change.kind == "jump" and any(limit.is_between(*ends_bytes) for limit in limits):
        return EAGER
    cache = cache_between(environment, *ends_bytes)
    if cache is None:
        return ""
    name = f"{cache.name} cache"
    through_buffers = _with_other_buffers(model, change, models)
    if through_buffers is None:
        fall = rate_fall(model)
        is_cache = fall is not None and fall.holds(change.low_bytes, change.high_bytes)
        return name if is_cache and outgrown(environment, fall) else f"{PROTOCOL} or {name}"
    stays = any(
        other_change.low_bytes <= change.high_bytes * SAME_PLACE
        and change.low_bytes <= other_change.high_bytes * SAME_PLACE
        for other_change in through_buffers.breakpoints
    )
    return PROTOCOL if stays else name


def _with_other_buffers(
    model: FittedModel, change: Breakpoint, models: Sequence[FittedModel]
) -> FittedModel | None:
    """The ping-pong that cycles through several buffers, if it was measured around a change."""
    if model.pattern != PINGPONG:
        return None
    for candidate in models:
        is_same_subject = all(getattr(candidate, name) == getattr(model, name) for name in _SUBJECT)
        if is_same_subject and candidate.pattern == OTHER_BUFFERS:
            covers_start = candidate.segments[0].from_bytes <= change.low_bytes
            covers_end = change.high_bytes <= candidate.segments[-1].to_bytes
            return candidate if covers_start and covers_end else None
    return None

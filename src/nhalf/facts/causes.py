# SPDX-License-Identifier: Apache-2.0
"""Causes of a bend near the capacity of a cache: a protocol switch, or the cache.

A protocol switches at a message size. The effect of a cache depends on the memory in use: with more
buffers used in turn (pingpong-diffbuf) it bends the curve at smaller sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nhalf.facts.caches import cache_between
from nhalf.machines.curve import PINGPONG
from nhalf.machines.machine import Breakpoint, FittedModel, Segment
from nhalf.store.keys import RUN_CURVE, without

OTHER_BUFFERS = "pingpong-diffbuf"
PROTOCOL = "protocol"
SAME_PLACE = 1.1
"""Sizes within this factor of each other count as the same."""
_SUBJECT = without(RUN_CURVE, "pattern")


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
    cache = cache_between(environment, change.low_bytes, change.high_bytes)
    if cache is None:
        return ""
    name = f"{cache.name} cache"
    through_buffers = _with_other_buffers(model, change, models)
    if through_buffers is None:
        return f"{PROTOCOL} or {name}"
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

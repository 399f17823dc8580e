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
        if _costs(change, left, right)
        else change
        for change, (left, right) in zip(model.breakpoints, sides, strict=True)
    )
    return msgspec.structs.replace(model, breakpoints=changes)


def _costs(change: Breakpoint, left: Segment, right: Segment) -> bool:
    """Whether time grows there, or grows faster from there on."""
    if change.kind == "jump":
        return change.change_percent > 0
    return right.r_inf_Bps < left.r_inf_Bps


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
    other = _with_other_buffers(model, change, models)
    if other is None:
        return f"{PROTOCOL} or {name}"
    stays = any(
        one.low_bytes <= change.high_bytes * SAME_PLACE
        and change.low_bytes <= one.high_bytes * SAME_PLACE
        for one in other.breakpoints
    )
    return PROTOCOL if stays else name


def _with_other_buffers(
    model: FittedModel, change: Breakpoint, models: Sequence[FittedModel]
) -> FittedModel | None:
    """The same ping-pong through several buffers in turn, if it was measured around a change."""
    if model.pattern != PINGPONG:
        return None
    for one in models:
        same = all(getattr(one, name) == getattr(model, name) for name in _SUBJECT)
        if same and one.pattern == OTHER_BUFFERS:
            around = one.segments[0].from_bytes <= change.low_bytes
            return one if around and change.high_bytes <= one.segments[-1].to_bytes else None
    return None

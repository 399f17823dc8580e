# SPDX-License-Identifier: Apache-2.0
"""What a change does to the curves and parameters of messages: sooner, faster, another border."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from nhalf.machines.curve import is_between_nodes, is_message, loggp_of, rebuilt
from nhalf.machines.machine import FittedModel, LogGP, Machine, Segment
from nhalf.store.axes import parse_axes

replace = msgspec.structs.replace


def with_rates(machine: Machine, factor: float, *, between: bool) -> Machine:
    """All that takes longer for longer messages becomes this many times as fast."""

    def faster(segment: Segment) -> Segment:
        rate_Bps, root_s = segment.r_inf_Bps * factor, segment.root_s / factor
        return _with(segment, r_inf_Bps=rate_Bps, root_s=root_s)

    return replace(
        machine,
        models=tuple(
            rebuilt(model, map(faster, model.segments))
            if is_message(model) and is_between_nodes(model.placement) == between
            else model
            for model in machine.models
        ),
    )


def _with(segment: Segment, **members: float) -> Segment:
    """A segment with other parameters, without the intervals of those that it had."""
    none: dict[str, Any] = {"t0_ci": None, "r_inf_ci": None, "n_half_ci": None}
    changed = replace(segment, **members, **none)
    n_half = changed.t0_s * changed.r_inf_Bps if changed.t0_s > 0 else math.inf
    return replace(changed, n_half_bytes=n_half)


def faster_per_byte(one: LogGP, factor: float) -> LogGP:
    """The gap per byte, and of the gaps of messages what their bytes made of them."""
    if one.gap_per_byte_s is None:
        return one
    gap_per_byte_s = one.gap_per_byte_s / factor
    less_s = one.gap_per_byte_s - gap_per_byte_s
    sizes = tuple(
        size
        if size.gap_s is None
        else replace(size, gap_s=max(0.0, size.gap_s - size.size_bytes * less_s))
        for size in one.sizes
    )
    return replace(one, gap_per_byte_s=gap_per_byte_s, gap_per_byte_ci=None, sizes=sizes)


def overhead_s(machine: Machine, model: FittedModel) -> tuple[float, float] | None:
    """o_s and o_r of a curve's library, in seconds; None if they were not measured."""
    known = loggp_of(machine, model)
    if known is None or known.send_overhead_s is None or known.recv_overhead_s is None:
        return None
    return max(0.0, known.send_overhead_s), max(0.0, known.recv_overhead_s)


def sooner(machine: Machine, model: FittedModel, factor: float) -> FittedModel:
    """A curve whose messages are this many times as long on their way."""
    busy_s = sum(overhead_s(machine, model) or (0.0, 0.0))

    def moved(segment: Segment) -> Segment:
        way_s = max(0.0, segment.t0_s - busy_s)
        return _with(segment, t0_s=segment.t0_s - way_s + way_s * factor)

    return rebuilt(model, map(moved, model.segments))


def nearer(one: LogGP, factor: float) -> LogGP:
    """L, and what contains it."""
    given: dict[str, Any] = {"latency_ci": None, "half_round_trip_ci": None}
    given |= {"parameterised_latency_s": None, "parameterised_latency_ci": None}
    busy_s = (one.send_overhead_s or 0.0) + (one.recv_overhead_s or 0.0)
    if one.latency_s is not None:
        given["latency_s"] = one.latency_s * factor if one.latency_s > 0 else one.latency_s
    if one.half_round_trip_s is not None:
        way_s = max(0.0, one.half_round_trip_s - busy_s)
        given["half_round_trip_s"] = one.half_round_trip_s + way_s * (factor - 1)
    return replace(one, **given)


def nearest_only(models: Sequence[FittedModel]) -> tuple[FittedModel, ...]:
    """Without curves of ranks farther apart: who is far from whom was so in the old topology."""
    nearest: dict[tuple[str, str, str], int] = {}
    for model in models:
        if is_message(model) and is_between_nodes(model.placement):
            key = (model.transport, model.mpi, model.pattern)
            nearest[key] = min(nearest.get(key, _distance(model)), _distance(model))
    return tuple(
        model
        for model in models
        if not is_message(model)
        or not is_between_nodes(model.placement)
        or _distance(model) == nearest[model.transport, model.mpi, model.pattern]
    )


def _distance(model: FittedModel) -> int:
    """The rank distance from which a curve holds; 0 if it does not say."""
    text = parse_axes(model.axes).get("distance", "")
    return int(text) if text.isdecimal() else 0


def with_border(model: FittedModel, old: int, after: int) -> FittedModel:
    """A curve whose border at the old threshold lies at the one after it.

    The segments beside the border grow up to it; those that it passes go. A curve without such a
    border stays as it is.
    """
    segments = model.segments
    for place in range(1, len(segments)):
        if segments[place - 1].to_bytes <= old <= segments[place].from_bytes:
            break
    else:
        return model
    last = segments[-1].to_bytes
    eager = [one for one in segments[:place] if one.from_bytes < after]
    late = [one for one in segments[place:] if one.to_bytes >= after]
    if eager:
        eager[-1] = replace(eager[-1], to_bytes=min(after - 1, last))
    if late:
        late[0] = replace(late[0], from_bytes=max(after, segments[0].from_bytes))
    return rebuilt(model, [*eager, *late])

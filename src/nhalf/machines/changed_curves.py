"""Apply changes to the curves and parameters of messages: latency, rate, threshold."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from nhalf.machines.curve import is_between_nodes, is_message, loggp_of, rebuilt
from nhalf.machines.machine import FittedModel, LogGP, Machine, Segment
from nhalf.store.keys import parse_axes

replace = msgspec.structs.replace


def with_rate_factor(machine: Machine, factor: float, *, between: bool) -> Machine:
    """The machine with all size-dependent times of messages divided by a factor."""

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
    """A segment with changed parameters, without the intervals of the previous ones."""
    none: dict[str, Any] = {"t0_ci": None, "r_inf_ci": None, "n_half_ci": None}
    changed = replace(segment, **members, **none)
    n_half = changed.t0_s * changed.r_inf_Bps if changed.t0_s > 0 else math.inf
    return replace(changed, n_half_bytes=n_half)


def loggp_with_rate_factor(parameters: LogGP, factor: float) -> LogGP:
    """Parameters with the gap per byte, and its part of message gaps, divided by a factor."""
    if parameters.gap_per_byte_s is None:
        return parameters
    gap_per_byte_s = parameters.gap_per_byte_s / factor
    less_s = parameters.gap_per_byte_s - gap_per_byte_s
    sizes = tuple(
        size
        if size.gap_s is None
        else replace(size, gap_s=max(0.0, size.gap_s - size.size_bytes * less_s))
        for size in parameters.sizes
    )
    return replace(parameters, gap_per_byte_s=gap_per_byte_s, gap_per_byte_ci=None, sizes=sizes)


def overhead_s(machine: Machine, model: FittedModel) -> tuple[float, float] | None:
    """o_s and o_r of a curve's library, in seconds; None if they were not measured."""
    own = loggp_of(machine, model)
    if own is None or own.send_overhead_s is None or own.recv_overhead_s is None:
        return None
    return max(0.0, own.send_overhead_s), max(0.0, own.recv_overhead_s)


def curve_with_latency_factor(machine: Machine, model: FittedModel, factor: float) -> FittedModel:
    """A curve whose t0 beyond the overheads is multiplied by a factor."""
    busy_s = sum(overhead_s(machine, model) or (0.0, 0.0))

    def moved(segment: Segment) -> Segment:
        way_s = max(0.0, segment.t0_s - busy_s)
        return _with(segment, t0_s=segment.t0_s - way_s + way_s * factor)

    return rebuilt(model, map(moved, model.segments))


def loggp_with_latency_factor(parameters: LogGP, factor: float) -> LogGP:
    """Parameters with L, and the half round trip that contains it, changed by a factor."""
    replaced: dict[str, Any] = {"latency_ci": None, "half_round_trip_ci": None}
    replaced |= {"parameterised_latency_s": None, "parameterised_latency_ci": None}
    busy_s = (parameters.send_overhead_s or 0.0) + (parameters.recv_overhead_s or 0.0)
    if parameters.latency_s is not None and parameters.latency_s > 0:
        replaced["latency_s"] = parameters.latency_s * factor
    if parameters.half_round_trip_s is not None:
        way_s = max(0.0, parameters.half_round_trip_s - busy_s)
        replaced["half_round_trip_s"] = parameters.half_round_trip_s + way_s * (factor - 1)
    return replace(parameters, **replaced)


def nearest_only(models: Sequence[FittedModel]) -> tuple[FittedModel, ...]:
    """Models without curves of ranks farther apart, which hold for the old topology only."""
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
    """The rank distance from which a curve holds; 0 if unspecified."""
    text = parse_axes(model.axes).get("distance", "")
    return int(text) if text.isdecimal() else 0


def with_border(model: FittedModel, old_bytes: int, new_bytes: int) -> FittedModel:
    """A curve whose border between segments moves from the old threshold to the new one.

    The segments beside the border extend to it; those that it passes are removed. A curve without
    such a border is returned unchanged.
    """
    segments = model.segments
    for place in range(1, len(segments)):
        if segments[place - 1].to_bytes <= old_bytes <= segments[place].from_bytes:
            break
    else:
        return model
    last = segments[-1].to_bytes
    eager = [segment for segment in segments[:place] if segment.from_bytes < new_bytes]
    late = [segment for segment in segments[place:] if segment.to_bytes >= new_bytes]
    if eager:
        eager[-1] = replace(eager[-1], to_bytes=min(new_bytes - 1, last))
    if late:
        late[0] = replace(late[0], from_bytes=max(new_bytes, segments[0].from_bytes))
    return rebuilt(model, [*eager, *late])

"""What two ranks take that send to each other at once, where it was published or measured.

Machines whose file says what a rank moves both ways (`both_ways_ratio`) have that instead: a limit
on its rate, and where messages are slower than the fastest, a curve.
"""

from msgspec.structs import replace

from nhalf.machines.curve import is_between_nodes
from nhalf.machines.machine import FittedModel, Segment
from nhalf.machines.message import Messages, rate_falls
from nhalf.machines.shared import middle
from nhalf.models.terms import value

EXCHANGE = "exchange"
PAIR = 2
LEAST_S = 1e-30
"""Seconds per byte where time does not grow with the size."""


def exchange_of(messages: Messages, curve: FittedModel) -> FittedModel | None:
    """The curve of an exchange between two ranks that are placed as those of a curve of messages;
    None if nothing is known of it, or if a `both_ways_ratio` limits all sizes alike.

    A publication speaks of the machine's first curve.
    """
    machine = messages.machine
    for resource in machine.shared:
        if resource.both_ways_ratio:
            return _at_ratio(curve, middle(resource.both_ways_ratio)) if rate_falls(curve) else None
    between = is_between_nodes(curve.placement)
    subject = (EXCHANGE, PAIR, curve.transport, curve.mpi)
    for model in machine.models:
        is_alike = (model.pattern, model.ranks, model.transport, model.mpi) == subject
        if is_alike and model.segments and is_between_nodes(model.placement) == between:
            return model
    published = sorted(
        (
            model
            for model in machine.patterns
            if model.pattern == EXCHANGE and model.mpi in (curve.mpi, "")
            if model.covers(model.from_bytes, PAIR)
        ),
        key=lambda model: model.from_bytes,
    )
    if not published or between != is_between_nodes(messages.curve.placement):
        return None
    segments = tuple(
        Segment(
            from_bytes=model.from_bytes,
            to_bytes=curve.segments[-1].to_bytes if model.to_bytes is None else model.to_bytes,
            t0_s=value(model.startup_s, PAIR),
            r_inf_Bps=1 / max(value(model.per_byte_s, PAIR), LEAST_S),
            root_s=value(model.per_root_byte_s, PAIR),
        )
        for model in published
    )
    return replace(curve, pattern=EXCHANGE, segments=segments, breakpoints=())


def _at_ratio(curve: FittedModel, ratio: float) -> FittedModel:
    """The curve of messages whose bytes move, both ways together, at a ratio to the rate of one.

    Where its rate falls, what limits both ways falls with it.
    """
    start_s, slower = curve.time_s(0), max(2 / ratio, 1)
    segments = (
        replace(
            segment,
            t0_s=start_s + (segment.t0_s - start_s) * slower,
            r_inf_Bps=segment.r_inf_Bps / slower,
            root_s=segment.root_s * slower,
        )
        for segment in curve.segments
    )
    return replace(curve, pattern=EXCHANGE, segments=tuple(segments))

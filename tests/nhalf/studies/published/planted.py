"""Mistakes that are easily made in a record, each made in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from nhalf.machines.machine import Machine, PublishedPoint, Segment

Change = Callable[[Machine], Machine]


class Mistake(NamedTuple):
    """A mistake in the record of a machine, and what has to be named: a figure, and by whom."""

    words: str
    machine: str
    change: Change
    figure: str
    engine: str = "model"


def points(
    change: Callable[[PublishedPoint], PublishedPoint], pattern: str, **wanted: Any
) -> Change:
    """The points of a pattern that have these values, changed."""

    def is_wanted(point: PublishedPoint) -> bool:
        here = point.pattern == pattern
        return here and all(getattr(point, name) == value for name, value in wanted.items())

    def changed(machine: Machine) -> Machine:
        assert any(map(is_wanted, machine.points)), "there is nothing to change"
        new = tuple(change(point) if is_wanted(point) else point for point in machine.points)
        return replace(machine, points=new)

    return changed


def times(factor: float, unit: str) -> Callable[[PublishedPoint], PublishedPoint]:
    """A point whose number in a unit is this many times as large."""
    return lambda point: replace(point, **{unit: getattr(point, unit) * factor})


def segments(change: Callable[[Segment], Segment], *numbers: int) -> Change:
    """The segments of these numbers of every curve, changed; of all without a number."""

    def changed(machine: Machine) -> Machine:
        models = tuple(
            replace(
                curve,
                segments=tuple(
                    change(segment) if not numbers or number in numbers else segment
                    for number, segment in enumerate(curve.segments)
                ),
            )
            for curve in machine.models
        )
        return replace(machine, models=models)

    return changed


def later(factor: float) -> Callable[[Segment], Segment]:
    """A segment that starts this many times as late."""
    return lambda s: replace(s, t0_s=factor * s.t0_s, n_half_bytes=factor * s.n_half_bytes)


def faster(factor: float) -> Callable[[Segment], Segment]:
    """A segment of this many times the rate."""
    return lambda s: replace(
        s, r_inf_Bps=factor * s.r_inf_Bps, n_half_bytes=factor * s.n_half_bytes
    )


def formula(pattern: str, **terms: Callable[[dict[str, float]], dict[str, float]]) -> Change:
    """The formulas of a pattern with changed terms, by the name of their sum."""

    def changed(machine: Machine) -> Machine:
        patterns = tuple(
            replace(model, **{name: change(getattr(model, name)) for name, change in terms.items()})
            if model.pattern == pattern
            else model
            for model in machine.patterns
        )
        return replace(machine, patterns=patterns)

    return changed


def without_share(what: str) -> Change:
    """Nothing is shared of one kind."""
    return lambda machine: replace(
        machine, shared=tuple(share for share in machine.shared if share.what != what)
    )


def swapped_ratios(machine: Machine) -> Machine:
    """The barriers' ratios to the two clusters, each at the other's place."""
    other = {
        "over=poweredge-ib": "over=opteron-myrinet",
        "over=opteron-myrinet": "over=poweredge-ib",
    }
    return points(lambda point: replace(point, axes=other[point.axes]), "barrier")(machine)


def swapped_places(machine: Machine) -> Machine:
    """The curve within a node is said to be between nodes, and the other way round."""
    other = {"same-node": "other-node", "other-node": "same-node"}
    models = tuple(replace(curve, placement=other[curve.placement]) for curve in machine.models)
    return replace(machine, models=models[::-1])


def scaled(factor: float) -> Callable[[dict[str, float]], dict[str, float]]:
    """A sum whose terms are this many times as large."""
    return lambda terms: {name: factor * value for name, value in terms.items()}


def _network(machine: Machine, **values: Any) -> Machine:
    assert machine.network is not None
    return replace(machine, network=replace(machine.network, **values))


def _node(machine: Machine, ranks: int) -> Machine:
    assert machine.node is not None
    return replace(machine, node=replace(machine.node, ranks=ranks))


def _clock(machine: Machine) -> Machine:
    assert machine.computing is not None
    return replace(machine, computing=replace(machine.computing, clock_hz=66.7e3))


MISTAKES = [
    Mistake(
        "ratios of two machines swapped",
        "altix-bx2",
        swapped_ratios,
        "barrier, over=poweredge-ib, 64 ranks",
    ),
    Mistake(
        "a ratio upside down",
        "x1-ssp",
        points(times(1 / 8.6**2, "ratio"), "reduce", axes="over=poweredge-ib", size_bytes=1 << 20),
        "reduce, over=poweredge-ib, 32 ranks, 1 MiB",
    ),
    Mistake(
        "a memory that is not shared",
        "sunfire-link",
        without_share("memory"),
        "traffic, to=neighbour, 32 ranks, 10 KiB, same-node",
    ),
    Mistake(
        "directions that do not share a rank",
        "myrinet-gm",
        without_share("rank"),
        "bidirectional, other-node",
    ),
    Mistake(
        "L_max of 128 MiB",
        "opteron-myrinet",
        points(lambda point: replace(point, size_bytes=point.size_bytes and 128 << 20), "b_eff"),
        "b_eff, L_max",
        "limits",
    ),
    Mistake("MB taken for MiB", "poweredge-ib", segments(faster(1.048576)), "pingpong, same-node"),
    Mistake(
        "microseconds taken for milliseconds",
        "pentiumpro-ethernet",
        points(times(1e-3, "time_s"), "barrier", axes="", ranks=9),
        "barrier, 9 ranks, other-node",
    ),
    Mistake("places of curves swapped", "sunfire-link", swapped_places, "latency, 1 B, same-node"),
    Mistake("ten times the latency", "sp2-mpl", segments(later(10)), "barrier, 8 ranks, 0 B"),
    Mistake(
        "ten times the latency of a pair",
        "gige-pair",
        segments(later(10)),
        "pingpong, other-node",
    ),
    Mistake(
        "a tenth of the latency", "myrinet-gm", segments(later(0.1)), "latency, 1 B, other-node"
    ),
    Mistake(
        "an exchange faster than its messages",
        "sp2-mpl",
        formula("exchange", per_byte_s=scaled(0.1)),
        "exchange, 1 MiB",
        "limits",
    ),
    Mistake(
        "an exchange slower than its messages",
        "sp2-mpl",
        formula("exchange", per_byte_s=scaled(10)),
        "exchange, 1 MiB",
        "limits",
    ),
    Mistake(
        "an n1/2 of another curve",
        "gige-pair",
        segments(lambda s: replace(s, n_half_bytes=1000.0)),
        "pingpong, other-node, n1/2 from 0 B",
        "limits",
    ),
    Mistake(
        "half of the processors of a node",
        "sunfire-link",
        lambda machine: _node(machine, 12),
        "barrier, 16 ranks, same-node",
        "limits",
    ),
    Mistake(
        "b_eff above what its links allow",
        "x1-ssp",
        points(times(20, "rate_Bps"), "b_eff", axes="figure=rings-at-longest"),
        "b_eff, figure=rings-at-longest",
        "limits",
    ),
    Mistake(
        "bits taken for bytes",
        "gige-pair",
        lambda machine: _network(machine, bandwidth_Bps=125e6 / 8),
        "pingpong, other-node",
        "limits",
    ),
    Mistake(
        "a digit too many in one range of sizes",
        "sp1-mpl",
        segments(later(10), 1),
        "range, 217 B, other-node",
    ),
    Mistake("kHz taken for MHz", "sp2-mpl", _clock, "clock", "limits"),
    Mistake(
        "milliseconds of a formula",
        "sp1-mpl",
        formula("barrier", startup_s=scaled(1e3)),
        "barrier, 32 ranks, 0 B",
    ),
    Mistake(
        "two distances swapped",
        "altix-bx2",
        points(lambda point: replace(point, rate_Bps=917e6), "distance", axes="distance=8"),
        "distance, distance=8",
    ),
    Mistake(
        "a fan of ten times the slope",
        "sp2-mpl",
        formula("one-to-many", per_byte_s=scaled(10)),
        "one-to-many, 8 ranks, 1 MiB",
    ),
    Mistake(
        "an aggregate in GB/s",
        "sunfire-link",
        points(times(1e3, "rate_Bps"), "aggregate", ranks=64, size_bytes=16384),
        "aggregate, 64 ranks, 16 KiB, other-node",
        "limits",
    ),
    Mistake(
        "an overhead in milliseconds",
        "myrinet-gm",
        lambda machine: replace(
            machine, loggp=tuple(replace(each, send_overhead_s=0.8e-3) for each in machine.loggp)
        ),
        "logp, 1 B, other-node",
    ),
]

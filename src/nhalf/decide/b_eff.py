"""The effective bandwidth of a machine, from its ping-pong and its shared resources.

Unpublished values are drawn from their range, so that the prediction is an interval. Messages of a
pattern go at the same time, as with the fastest of the benchmark's three methods if links have two
directions; the random orders differ from those of the probe.

The draws cover what is unpublished, not what the model leaves out. So an interval is at least as
wide as the published values of other machines are away from their predictions; and what the model
leaves out of a machine of record at the ranks that were published, it is taken to leave out at
others.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.base.native_files import library
from nhalf.base.units import format_size
from nhalf.machines import catalogue
from nhalf.machines.draws import COVERAGE, Draws, PredictedRate
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages, rate_falls
from nhalf.machines.network import LIBRARY, Pairs
from nhalf.machines.shared import ends
from nhalf.machines.together import ConcurrentMessages
from nhalf.measure.plan.plan import b_eff_lengths
from nhalf.results.b_eff import RANDOM, geometric_mean
from nhalf.statistics.intervals import student_quantile

LONGEST_BYTES = (4 << 20, 32 << 20)
"""A 128th of the memory of a process with 0.5 to 4 GB, where nothing was published."""
MANY_RANKS_RATIO = 1.54
"""What predictions of full machines may miss by: three of the four published are of 8 ranks."""
REGULAR = 6
"""Patterns of rings of consecutive ranks; those of random orders follow."""
PINGPONG_BYTES = 1 << 20
"""The size of the study's ping-pong, between ranks 0 and 1."""
PINGPONG = "pingpong"
NAMES = ("b_eff", "at-longest", "rings-at-longest", PINGPONG)
"""The figures, as published points name them in their axis `figure`."""


@dataclass(frozen=True)
class PredictedEffectiveBandwidth:
    """Bytes per second by name, published values for the same ranks, and why they are ranges.

    `own_ratio` are the published over the predicted figures of the machine itself, which `figures`
    are multiplied with; published ones are then read back.
    """

    machine: str
    ranks: int
    nodes: int
    figures: dict[str, PredictedRate]
    published_Bps: dict[str, float]
    reasons: tuple[str, ...]
    coverage: Coverage | None = None
    own_ratio: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf predict beff --json`."""
        read_back = set(self.own_ratio) & set(self.published_Bps)
        rows = [
            {
                "figure": name,
                "rate_Bps": rate.middle_Bps if rate.is_certain else None,
                "rate_Bps_interval": [rate.low, rate.high],
                "published_Bps": self.published_Bps.get(name),
                "own_ratio": self.own_ratio.get(name, 1.0),
                "origin": "read back" if name in read_back else "predicted",
            }
            for name, rate in self.figures.items()
        ]
        whole = {"pattern": "b_eff", "machine": self.machine, "ranks": self.ranks}
        held = self.coverage
        left_out = {"inside": held.inside, "of": held.count} if held else None
        notes = list(self.reasons)
        return {**whole, "nodes": self.nodes, "rows": rows, "left_out": left_out, "notes": notes}


@dataclass(frozen=True)
class Coverage:
    """How many published values lie in intervals that were widened without their machine."""

    inside: int
    count: int


def predict_b_eff(
    machine: Machine, ranks: int, mpi: str = "", *, without_own: bool = False
) -> PredictedEffectiveBandwidth:
    """Predict the figures for a number of ranks that fill one node after the other.

    Predictions of a machine of record are scaled to its own published figures, unless it is to be
    predicted `without_own`. Raises InputError for fewer than 2 ranks, and for more than the machine
    holds.
    """
    drawn = drawn_b_eff(machine, ranks, mpi)
    reason = (
        f"b_eff is taken to be within a factor of {error_ratio('b_eff'):.2f} of its prediction in "
        f"95 % of machines, {error_ratio('at-longest'):.2f} at L_max: no interval is narrower"
    )
    widened = replace(drawn, figures=_widened(drawn), reasons=(reason, *drawn.reasons))
    own = None if without_own else _published_of(machine)
    return replace(_scaled(widened, own) if own else widened, coverage=coverage())


def _scaled(
    prediction: PredictedEffectiveBandwidth, own: PredictedEffectiveBandwidth
) -> PredictedEffectiveBandwidth:
    """A prediction times what the published figures of its machine are over their predictions."""
    own_ratio = {
        name: published_Bps / own.figures[name].middle_Bps
        for name, published_Bps in own.published_Bps.items()
        if name in own.figures
    }
    figures = {
        name: rate.scaled(own_ratio.get(name, 1.0)) for name, rate in prediction.figures.items()
    }
    reason = (
        f"scaled to its published values of {own.ranks} ranks, b_eff by {own_ratio['b_eff']:.2f}: "
        f"those of {own.ranks} ranks are read back"
    )
    reasons = (reason, *prediction.reasons)
    return replace(prediction, figures=figures, reasons=reasons, own_ratio=own_ratio)


def _published_of(machine: Machine) -> PredictedEffectiveBandwidth | None:
    """The drawn prediction for published values of a machine of record, changed or not.

    None if it has none, and for another machine that has the name of one.
    """
    name = machine.name.partition(" (")[0]
    if name not in catalogue.names() or catalogue.machine(name).source != machine.source:
        return None
    return next((drawn for drawn in _published_predictions() if drawn.machine == name), None)


def _widened(
    prediction: PredictedEffectiveBandwidth, without: str = ""
) -> dict[str, PredictedRate]:
    """The figures with intervals of at least the errors on all machines, or all but one."""
    figures = prediction.figures.items()
    return {name: rate.widened(error_ratio(name, without)) for name, rate in figures}


def error_ratio(figure: str, without: str = "") -> float:
    """By what factor predictions of a figure miss, in 95 % of machines: from all, or all but one.

    Student's distribution about no error, with each machine as one observation, since its modes
    and figures have causes in common. What all ranks move is taken to miss by MANY_RANKS_RATIO at
    least.
    """
    squares = [
        np.mean([errors[figure] ** 2 for errors in modes])
        for family, modes in published_errors().items()
        if family != _family(without)
    ]
    ratio = math.exp(student_quantile(len(squares), COVERAGE) * math.sqrt(np.mean(squares).item()))
    return ratio if figure == PINGPONG else max(ratio, MANY_RANKS_RATIO)


@functools.cache
def published_errors() -> Mapping[str, Sequence[Mapping[str, float]]]:
    """The logarithms of published over predicted figures, by machine and then by mode."""
    errors: dict[str, list[dict[str, float]]] = {}
    for prediction in _published_predictions():
        errors.setdefault(_family(prediction.machine), []).append(
            {
                name: math.log(rate_Bps / prediction.figures[name].middle_Bps)
                for name, rate_Bps in prediction.published_Bps.items()
                if name in prediction.figures
            }
        )
    return errors


@functools.cache
def coverage() -> Coverage:
    """How many published values lie in the interval that all other machines give."""
    inside = [
        figures[name].low <= rate_Bps <= figures[name].high
        for prediction in _published_predictions()
        for figures in [_widened(prediction, prediction.machine)]
        for name, rate_Bps in prediction.published_Bps.items()
        if name in figures
    ]
    return Coverage(sum(inside), len(inside))


@functools.cache
def _published_predictions() -> Sequence[PredictedEffectiveBandwidth]:
    """The drawn predictions of all machines of record, for the ranks of their published values."""
    return [
        drawn_b_eff(machine, ranks)
        for machine in map(catalogue.machine, catalogue.names())
        for ranks in sorted({point.ranks for point in machine.points if point.pattern == "b_eff"})
    ]


def _family(name: str) -> str:
    """The machine of which a name is a mode: `x1` of `x1-ssp` and `x1-msp`."""
    return name.partition("-")[0]


def drawn_b_eff(machine: Machine, ranks: int, mpi: str = "") -> PredictedEffectiveBandwidth:
    """The figures with intervals of unpublished values alone; raises as `predict_b_eff` does."""
    per_node = _ranks_per_node(machine, ranks)
    draws = Draws()
    longest = draws.of(_longest_bytes(machine))
    library_messages = Messages(machine, mpi)
    together = ConcurrentMessages(library_messages, draws, per_node, cold=True, queues=True)
    sizes = np.array([b_eff_lengths(round(length)) for length in longest], dtype=np.float64)
    rates: dict[str, list[Floats]] = {"rings": [], "random": []}
    for kind, rings in patterns(ranks):
        pairs = messages(rings)
        rates[kind].append(len(pairs) * sizes / together.time_s(pairs, sizes))
    whole = {
        kind: geometric_mean([rate.mean(axis=1) for rate in own]) for kind, own in rates.items()
    }
    last = {kind: geometric_mean([rate[:, -1] for rate in own]) for kind, own in rates.items()}
    falls = rate_falls(library_messages.within_node)
    alone_messages = together if falls else ConcurrentMessages(library_messages, draws, per_node)
    size = np.full((draws.count, 1), float(PINGPONG_BYTES))
    alone = PINGPONG_BYTES / alone_messages.time_s([(0, 1)], size)[:, 0]
    figures = (
        np.sqrt(whole["rings"] * whole["random"]),
        np.sqrt(last["rings"] * last["random"]),
        last["rings"],
        alone,
    )
    return PredictedEffectiveBandwidth(
        machine.name,
        ranks,
        -(-ranks // per_node),
        {name: PredictedRate.of(rate_Bps) for name, rate_Bps in zip(NAMES, figures, strict=True)},
        {
            point.axes.removeprefix("figure="): point.rate_Bps
            for point in machine.points
            if (point.pattern, point.ranks) == ("b_eff", ranks) and point.rate_Bps is not None
        },
        tuple(_reasons(machine, ranks)),
    )


def _longest_bytes(machine: Machine) -> tuple[float, float]:
    """L_max, from its least to its greatest: that of the published values, if there are any."""
    published = [p.size_bytes for p in machine.points if p.pattern == "b_eff" and p.size_bytes]
    sizes_bytes = published or LONGEST_BYTES
    return float(min(sizes_bytes)), float(max(sizes_bytes))


def _ranks_per_node(machine: Machine, ranks: int) -> int:
    """The number of ranks that share a node; checks that there is room."""
    per_node = machine.node.ranks if machine.node else ranks
    nodes = machine.network.topology.nodes if machine.network else 1
    if ranks < 2:
        raise InputError("b_eff needs 2 ranks or more", "ask for them with --ranks")
    if nodes and ranks > nodes * per_node:
        message = f"{machine.name} has {nodes} nodes of {per_node}: {ranks} ranks are too many"
        raise InputError(message, "ask for fewer, or --set network.topology=...")
    return per_node


def patterns(ranks: int) -> Iterator[tuple[str, list[list[int]]]]:
    """The kind and the rings of each of the 36 patterns (bases/traffic/ring_layout.hpp)."""
    for number in range(1, 1 + REGULAR):
        yield "rings", _rings(ranks, number)
    random = np.random.default_rng(RANDOM)
    for _ in range(RANDOM):
        yield "random", [random.permutation(ranks).tolist()]


def _rings(ranks: int, number: int) -> list[list[int]]:
    """Consecutive ranks in rings whose lengths differ by one at most."""
    ring = np.empty(ranks, np.int32)
    library(LIBRARY).nhalf_rings(ranks, number, ctypes.c_void_p(ring.ctypes.data))
    return [part.tolist() for part in np.split(np.arange(ranks), np.flatnonzero(np.diff(ring)) + 1)]


def messages(rings: Sequence[Sequence[int]]) -> Pairs:
    """The messages of rings: members send to both neighbours, in a ring of two to the only one."""
    return [
        (rank, ring[(place + step) % len(ring)])
        for ring in rings
        for place, rank in enumerate(ring)
        for step in ((1, -1) if len(ring) > 2 else (1,))
    ]


def _reasons(machine: Machine, ranks: int) -> Iterator[str]:
    """The causes of a wide interval, and of doubt."""
    if ranks > (machine.ranks_for_users or ranks):
        yield f"users get no more than {machine.ranks_for_users} ranks of {machine.name}"
    least, greatest = _longest_bytes(machine)
    if least == greatest:
        yield f"the longest message is {format_size(int(least))}, as of the published values"
    else:
        yield "the longest message is 4 to 32 MiB: a 128th of 0.5 to 4 GB"
    yield "messages between nodes keep the way of their node busy for 5 to 46 % of a latency each"
    yield "two exchanges start within 1 to 3.2 latencies: at once, or in turn"
    yield from range_reasons(machine)


def range_reasons(machine: Machine) -> Iterator[str]:
    """Why values are ranges, on any machine and on this one."""
    yield "long messages (from 1 to 256 KiB on) start with up to three trips if no curve says so"
    yield "bytes of shorter ones take 1.02 to 1.92 times as long as those, if no curve says so"
    yield "nothing is in a cache: where the curve does not show it, 2/3 of the rate or all of it"
    yield "links to which messages come from several sides get 0.59 of their rate through, or all"
    for value_range in machine.ranges:
        yield f"{value_range.of}: {value_range.why}"
    for shared in machine.shared:
        amounts = (shared.one_way_Bps, shared.both_ways_Bps, shared.both_ways_ratio)
        if any(amount and len(set(ends(amount))) > 1 for amount in amounts):
            yield f"{shared.what}: {shared.why}"

# SPDX-License-Identifier: Apache-2.0
"""The ways to do what is asked for, and what is known of the time of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import format_size
from nhalf.machines.algorithms import Algorithm, cost_bytes
from nhalf.machines.machine import FittedModel, Machine, PatternModel
from nhalf.machines.parts import Parts, check_support, parts_of
from nhalf.mpi.decision_table import NATIVE

COMPLETION = "completion"

UNSIZED = ("barrier",)
"""Operations that have no size: they are asked for at 0 bytes."""

Seconds = Callable[[int, int], float]
"""Of numbers of ranks and bytes; raises InputError where nothing is known of them."""


@dataclass(frozen=True)
class Way:
    """One way to do what is asked for, and in a sentence what its time is taken from."""

    algorithm: str
    time_s: Seconds
    source: str


def known_ways(
    pattern: str,
    machine: Machine,
    known: Mapping[str, Sequence[Algorithm]],
    mpi: str,
    extrapolate: bool,
) -> list[Way]:
    """Every way that something is known of, the library's own first."""
    fitted: dict[str, list[PatternModel]] = {}
    for model in machine.patterns:
        if model.pattern == pattern and (not mpi or model.mpi in (mpi, "")):
            fitted.setdefault(model.algorithm or NATIVE, []).append(model)
    curves: dict[str, list[FittedModel]] = {}
    for curve in machine.models:
        if curve.pattern == pattern and (not mpi or (curve.mpi or curve.transport) == mpi):
            curves.setdefault(curve.algorithm or NATIVE, []).append(curve)
    composed = {each.name: each for each in known.get(pattern, ()) if each.cost is not None}
    ways = [
        _modelled(name, fitted.get(name, []), curves.get(name, []), extrapolate)
        for name in dict.fromkeys([*fitted, *curves])
    ]
    rest = [each for name, each in composed.items() if name not in fitted and name not in curves]
    if rest:
        ways += _composed(pattern, rest, parts_of(machine, mpi), extrapolate)
    if not ways:
        there = {model.pattern for model in machine.patterns} | set(known)
        there |= {curve.pattern for curve in machine.models}
        raise unknown(f"pattern of {machine.name}", pattern, there)
    return sorted(ways, key=lambda way: way.algorithm != NATIVE)


def _modelled(
    name: str, models: Sequence[PatternModel], curves: Sequence[FittedModel], extrapolate: bool
) -> Way:
    """A way that was published or fitted; models of completion times go first."""
    models = sorted(models, key=lambda model: model.timing != COMPLETION)

    def time_s(ranks: int, size_bytes: int) -> float:
        for model in models:
            if model.covers(size_bytes, ranks):
                return model.time_s(size_bytes, ranks)
        same = [curve for curve in curves if curve.ranks == ranks]
        if same:
            return same[0].time_s(size_bytes)
        if extrapolate and models:
            return _nearest(models, size_bytes).time_s(size_bytes, ranks)
        raise InputError(
            f"no model covers {format_size(size_bytes)} on {ranks} ranks",
            "ask for what was measured, or allow more with --extrapolate",
        )

    published = [model.source for model in models] + [curve.source for curve in curves]
    sources = dict.fromkeys(filter(None, published))
    return Way(name, time_s, "; ".join(sources) or "fitted")


def _nearest(models: Sequence[PatternModel], size_bytes: int) -> PatternModel:
    """The model whose range of sizes holds the size or ends nearest to it."""

    def away_bytes(model: PatternModel) -> float:
        above = size_bytes - (size_bytes if model.to_bytes is None else model.to_bytes)
        return max(model.from_bytes - size_bytes, above, 0)

    return min(models, key=away_bytes)


def _composed(
    operation: str, known: Sequence[Algorithm], parts: Parts, extrapolate: bool
) -> list[Way]:
    """Ways whose cost is composed of the machine's parts."""

    def timed(algorithm: Algorithm) -> Seconds:
        cost = algorithm.cost
        assert cost is not None

        def time_s(ranks: int, size_bytes: int) -> float:
            if not extrapolate:
                check_support(parts, size_bytes)
            n = cost_bytes(operation, ranks, size_bytes)
            return float(cost.value(ranks, n, parts.functions))

        return time_s

    return [
        Way(each.name, timed(each), f"composed: {each.cost.as_text() if each.cost else ''}")
        for each in known
    ]

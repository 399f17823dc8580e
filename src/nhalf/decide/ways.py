"""The ways to perform a pattern, and the known times of each: composed, fitted or recorded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError, library_named, unknown
from nhalf.base.units import format_size
from nhalf.decide.way import (
    COMPOSED,
    PartOf,
    ValidityRange,
    Way,
    at_published,
    recorded_ways,
    slowed_by_load,
)
from nhalf.machines.algorithms import Algorithm, cost_bytes
from nhalf.machines.composed import RANKS_MAX, Composer
from nhalf.machines.curve import is_between_nodes
from nhalf.machines.machine import FittedModel, Machine, PatternModel
from nhalf.machines.message import Messages
from nhalf.machines.one_wire import (
    MESSAGES,
    on_one_wire,
    shares_a_wire,
    waiting_at_adapters,
    waits_at_adapters,
)
from nhalf.machines.part_size import best_followed_part, best_part
from nhalf.machines.parts import FANS, Parts, parts_of
from nhalf.machines.spread import over_nodes
from nhalf.models.expression import PART_BYTES, Expression
from nhalf.mpi.decision_table import NATIVE

COMPLETION = "completion"
FOLLOWED = "followed"
"""The way of a pattern whose own messages are followed (native/composer/traffic.hpp)."""

UNSIZED = ("barrier",)
"""Operations without a size: their size is 0 bytes."""


def known_ways(
    pattern: str,
    messages: Messages,
    algorithms: Mapping[str, Sequence[Algorithm]],
    extrapolate: bool,
    part_bytes: int | None = PART_BYTES,
    *,
    is_followed: bool = True,
) -> list[Way]:
    """Every way with a known time on the machine of messages, the library's own first.

    Composed algorithms cut messages into parts of `part_bytes`; None: into the best ones. Messages
    are followed over the network, or without `is_followed` counted by their costs; between nodes,
    if a machine was measured within a node and between nodes. Raises InputError for a library or
    pattern without data on the machine, and if several libraries have it and none is named.
    """
    messages = over_nodes(with_full_name(messages))
    machine, mpi = messages.machine, messages.mpi
    fitted: dict[str, list[PatternModel]] = {}
    for model in machine.patterns:
        if model.pattern == pattern and (not mpi or model.mpi in (mpi, "")):
            fitted.setdefault(model.algorithm or NATIVE, []).append(model)
    curves: dict[str, list[FittedModel]] = {}
    # Messages within nodes remain among those between them; nodes that are far apart come last.
    for curve in sorted(machine.models, key=lambda curve: not is_between_nodes(curve.placement)):
        if curve.pattern == pattern and (not mpi or carrier(curve.mpi, curve.transport) == mpi):
            curves.setdefault(curve.algorithm or NATIVE, []).append(curve)
    _check_one_library(machine, pattern, [*fitted.values(), *curves.values()])
    wire = shares_a_wire(machine)
    own = algorithms.get(pattern, ())
    composed = {algorithm.name: algorithm for algorithm in own if algorithm.cost is not None}
    if wire and pattern in MESSAGES:
        composed = on_one_wire(pattern)
    extent = ValidityRange(
        machine.ranks_max, machine.largest_bytes, machine.ranks_for_users, extrapolate
    )
    ways = [
        _modelled(name, fitted.get(name, []), curves.get(name, []), extent)
        for name in dict.fromkeys([*fitted, *curves])
    ]
    unmodelled = [
        algorithm
        for name, algorithm in composed.items()
        if name not in fitted and name not in curves
    ]
    if unmodelled:
        parts = parts_of(messages)
        composer = _composer(pattern, messages, parts) if is_followed else None
        ways += _composed_ways(pattern, unmodelled, messages, parts, composer, extent, part_bytes)
    ways += recorded_ways(pattern, messages, ways, extent)
    ways = at_published(pattern, machine, ways, extent, curves.get(NATIVE, ()))
    if is_followed and pattern not in algorithms:
        ways += _traffic(pattern, messages, extent)
    if not ways and pattern in FANS.values():
        ways = [_fan(pattern, parts_of(messages), extent)]
    if not ways:
        raise _no_pattern(machine, pattern, algorithms)
    return sorted(ways, key=lambda way: way.algorithm != NATIVE)


def _composed_ways(
    pattern: str,
    algorithms: Sequence[Algorithm],
    messages: Messages,
    parts: Parts,
    composer: Composer | None,
    extent: ValidityRange,
    part_bytes: int | None,
) -> list[Way]:
    """Ways composed of the machine's messages: followed one by one, or by the cost of each.

    A composer follows each message, which is exact for any number of ranks; without one, and with
    too many ranks, the algorithm's own expression is used.
    """
    machine = messages.machine
    if pattern in UNSIZED and waits_at_adapters(machine):
        parts, composer = waiting_at_adapters(machine, parts), None
    extent = replace(extent, largest_bytes=parts.largest_bytes)
    how = f"{COMPOSED}: "
    if composer is not None:
        how += f"each message followed, up to {RANKS_MAX} ranks; about "
    ways = []
    for algorithm in algorithms:
        if algorithm.cost is None:
            continue
        composed = _Composed(pattern, algorithm.name, algorithm.cost, parts, composer, part_bytes)
        is_searched = part_bytes is None and algorithm.cost.cuts
        ways.append(
            Way(
                algorithm.name,
                extent.checked(composed.time_s),
                how + algorithm.cost.as_text(),
                extent.holds,
                part_bytes=composed.cut_bytes,
                in_parts_s=composed.in_parts_s if is_searched else None,
            )
        )
    return slowed_by_load(pattern, messages, ways, partial(_is_followed, composer, pattern))


def _composer(pattern: str, messages: Messages, parts: Parts) -> Composer | None:
    """What follows the messages; None where those on one wire are counted, not their rounds."""
    is_counted = pattern in MESSAGES and shares_a_wire(messages.machine)
    return None if is_counted else Composer(messages, parts)


def _is_followed(
    composer: Composer | None, operation: str, algorithm: str, ranks: int, size_bytes: int
) -> bool:
    """Whether the composer follows the messages of a cell."""
    return composer is not None and (
        composer.time_s(operation, algorithm, ranks, size_bytes) is not None
    )


def _no_pattern(machine: Machine, pattern: str, operations: Iterable[str]) -> InputError:
    """The error of a pattern of which a machine has no data, with the closest that it has."""
    patterns = {model.pattern for model in machine.patterns} | set(operations)
    patterns |= {curve.pattern for curve in machine.models} | set(FANS.values())
    remedy = unknown("pattern", pattern, patterns).remedy
    return InputError(f"{machine.name} has no pattern {pattern!r}", remedy)


def _check_one_library(
    machine: Machine, pattern: str, model_groups: Iterable[Sequence[PatternModel | FittedModel]]
) -> None:
    """Raises InputError if the models of a pattern are of several libraries."""
    names = sorted(
        {
            carrier(model.mpi, model.transport)
            for group in model_groups
            for model in group
            if model.mpi
        }
    )
    if len(names) > 1:
        message = f"{machine.name} has {pattern} of several libraries"
        raise InputError(message, "name one with --mpi: " + ", ".join(names))


def with_full_name(messages: Messages) -> Messages:
    """The messages with the library's name in the machine file, if one is named.

    It may have models of patterns only.
    """
    machine, mpi = messages.machine, messages.mpi
    if not mpi:
        return messages
    names = {carrier(curve.mpi, curve.transport) for curve in machine.models}
    full_name = library_named(mpi, names | {model.mpi for model in machine.patterns if model.mpi})
    return messages if full_name == mpi else Messages(machine, full_name)


def _modelled(
    name: str, models: Sequence[PatternModel], curves: Sequence[FittedModel], extent: ValidityRange
) -> Way:
    """A way with published or fitted times.

    A curve measured at a number of ranks takes precedence there; completion times do over others.
    """
    models = sorted(models, key=lambda model: model.timing != COMPLETION)

    def curve_of(ranks: int, size_bytes: int) -> FittedModel | None:
        for curve in curves:
            first, last = curve.segments[0], curve.segments[-1]
            if curve.ranks == ranks and first.from_bytes <= size_bytes <= last.to_bytes:
                return curve
        return None

    def knows(ranks: int, size_bytes: int) -> bool:
        covered = any(model.covers(size_bytes, ranks) for model in models)
        is_modelled = covered or curve_of(ranks, size_bytes) is not None
        return is_modelled and extent.holds(ranks, size_bytes)

    def time_s(ranks: int, size_bytes: int) -> float:
        extent.check(ranks, size_bytes)
        curve = curve_of(ranks, size_bytes)
        if curve is not None:
            return curve.time_s(size_bytes)
        for model in models:
            if model.covers(size_bytes, ranks):
                return model.time_s(size_bytes, ranks)
        if extent.extrapolates and models:
            return _nearest(models, size_bytes).time_s(size_bytes, ranks)
        remedy = "choose measured ranks and sizes, or allow others with --extrapolate"
        raise InputError(f"no model covers {format_size(size_bytes)} on {ranks} ranks", remedy)

    published = [model.source for model in models] + [curve.source for curve in curves]
    sources = dict.fromkeys(filter(None, published))
    errors = [model.heldout_p95 for model in models] + [curve.heldout_p95 for curve in curves]
    error = max((error for error in errors if error is not None), default=None)
    return Way(name, time_s, "; ".join(sources) or "fitted", knows, error)


def _nearest(models: Sequence[PatternModel], size_bytes: int) -> PatternModel:
    """The model whose range of sizes holds the size or ends nearest to it."""

    def away_bytes(model: PatternModel) -> float:
        above = size_bytes - (size_bytes if model.to_bytes is None else model.to_bytes)
        return max(model.from_bytes - size_bytes, above, 0)

    return min(models, key=away_bytes)


def _fan(pattern: str, parts: Parts, extent: ValidityRange) -> Way:
    """One rank with all others, by the part that collective operations are composed of."""
    (letter,) = (name for name, fan in FANS.items() if fan == pattern)
    extent = replace(extent, largest_bytes=parts.largest_bytes)
    (source,) = (text for text in parts.sources if text.startswith(f"{letter}: "))

    def time_s(ranks: int, size_bytes: int) -> float:
        extent.check(ranks, size_bytes)
        return float(parts.functions[letter](np.array(float(size_bytes)), np.array(ranks - 1.0)))

    return Way(NATIVE, time_s, f"{COMPOSED}: {source}", extent.holds)


def _traffic(pattern: str, messages: Messages, extent: ValidityRange) -> list[Way]:
    """The pattern itself, each of its messages followed; none if it is not composed of messages."""
    if not messages.ping_pongs:
        return []
    parts = parts_of(messages)
    composer = _composer(pattern, messages, parts)
    if composer is None or composer.time_s(pattern, FOLLOWED, 2, 1) is None:
        return []
    extent = replace(extent, largest_bytes=parts.largest_bytes)

    def time_s(ranks: int, size_bytes: int) -> float:
        extent.check(ranks, size_bytes)
        followed_s = composer.time_s(pattern, FOLLOWED, ranks, size_bytes)
        if followed_s is None:
            raise InputError(
                f"{pattern} of {format_size(size_bytes)} on {ranks} ranks has too many messages",
                f"ask for fewer ranks, {RANKS_MAX} at most",
            )
        return followed_s

    return [Way(FOLLOWED, time_s, f"{COMPOSED}: each message followed", extent.holds)]


def parts_of_algorithms(
    operation: str,
    algorithms: Sequence[Algorithm],
    messages: Messages,
    parts: Parts,
    part_bytes: int | None,
) -> dict[str, PartOf]:
    """The parts of every algorithm that cuts messages, by its name.

    They are of `part_bytes`; None: the fastest by the composed times.
    """
    composer = _composer(operation, messages, parts)
    return {
        algorithm.name: _Composed(
            operation, algorithm.name, algorithm.cost, parts, composer, part_bytes
        ).cut_bytes
        for algorithm in algorithms
        if algorithm.cost is not None and algorithm.cost.cuts
    }


@dataclass(frozen=True)
class _Composed:
    """The composed time of an algorithm, with parts of a size or, if that is None, the best."""

    operation: str
    algorithm: str
    cost: Expression
    parts: Parts
    composer: Composer | None
    part_bytes: int | None
    best: dict[tuple[int, int], int] = field(default_factory=dict)

    def time_s(self, ranks: int, size_bytes: int) -> float:
        """Seconds with parts of the size that is taken for this cell."""
        return self.in_parts_s(ranks, size_bytes, self._taken_bytes(ranks, size_bytes))

    def cut_bytes(self, ranks: int, size_bytes: int) -> int | None:
        """The size of a part; None where a message is one part, as it usually is."""
        part_bytes = self._taken_bytes(ranks, size_bytes) if self.cost.cuts else size_bytes
        is_whole = size_bytes <= min(part_bytes, PART_BYTES)
        return None if is_whole or not self.cost.cuts else part_bytes

    def _taken_bytes(self, ranks: int, size_bytes: int) -> int:
        if self.part_bytes is not None or not self.cost.cuts:
            return self.part_bytes or PART_BYTES
        key = ranks, size_bytes
        if key not in self.best:
            n = cost_bytes(self.operation, ranks, size_bytes)
            part_bytes = best_part(self.cost, ranks, n, self.parts)
            if _is_followed(self.composer, self.operation, self.algorithm, ranks, size_bytes):
                part_bytes = best_followed_part(
                    part_bytes, size_bytes, partial(self.in_parts_s, ranks, size_bytes)
                )
            self.best[key] = part_bytes
        return self.best[key]

    def in_parts_s(self, ranks: int, size_bytes: int, part_bytes: int) -> float:
        """Seconds with parts of this size, where messages are cut."""
        if not self.cost.cuts:
            part_bytes = PART_BYTES
        if self.composer is not None:
            followed_s = self.composer.time_s(
                self.operation, self.algorithm, ranks, size_bytes, part_bytes
            )
            if followed_s is not None:
                return followed_s
        n = cost_bytes(self.operation, ranks, size_bytes)
        return float(self.cost.value(ranks, n, self.parts.functions, part_bytes))

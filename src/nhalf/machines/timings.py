"""A machine's timings: for each pattern, the time for a size and a number of ranks."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError, library_named
from nhalf.base.operations import NATIVE
from nhalf.machines.in_memory import InMemory
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import FittedModel, Machine, PatternModel
from nhalf.machines.message import Messages

BETWEEN, WITHIN, ANYWHERE = "between nodes", "within a node", ""
DISTANCE = "distance="
RANKS_MAX = 64
"""Ranks up to which a model without an end is used on a machine of unknown size."""


@dataclass(frozen=True)
class PatternTiming:
    """One pattern of one library in one place; `where` is BETWEEN, WITHIN or ANYWHERE.

    `how` describes what is timed, if a machine has several kinds of models of a pattern.
    """

    pattern: str
    algorithm: str
    axes: str
    where: str
    how: str
    machine: Machine
    models: list[PatternModel] = field(default_factory=list)
    curves: list[FittedModel] = field(default_factory=list)
    in_memory: InMemory | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """The pattern, algorithm and axes, by which timings are matched for comparison."""
        return self.pattern, self.algorithm, self.axes

    @property
    def sized(self) -> bool:
        """Whether the time depends on a size."""
        if any(model.per_byte_s or model.per_root_byte_s for model in self.models):
            return True
        if self.in_memory is not None and self.pattern != "barrier":
            return True
        return any(curve.segments[-1].to_bytes > 0 for curve in self.curves)

    def time_s(self, size_bytes: int, ranks: int) -> float:
        """The time in seconds; NaN if no model covers the size and ranks."""
        for model in self.models:
            if model.covers(size_bytes, ranks):
                return model.time_s(size_bytes, ranks)
        for curve in self.curves:
            first, last = curve.segments[0], curve.segments[-1]
            if curve.ranks == ranks and first.from_bytes <= size_bytes <= last.to_bytes:
                return curve.time_s(size_bytes)
        return self.in_memory.time_s(ranks, size_bytes) if self.in_memory is not None else math.nan

    def sizes(self) -> tuple[int, int | None]:
        """The smallest and the largest size that a model covers; None: no end."""
        ends = [model.to_bytes for model in self.models]
        ends += [curve.segments[-1].to_bytes for curve in self.curves]
        lows = [model.from_bytes for model in self.models]
        lows += [curve.segments[0].from_bytes for curve in self.curves]
        if not lows:
            return 0, None
        finite_ends = [end for end in ends if end is not None]
        return min(lows), max(finite_ends) if len(finite_ends) == len(ends) else None

    def ranks(self) -> set[int]:
        """All numbers of ranks that a model covers on this machine."""
        rank_counts = {curve.ranks for curve in self.curves}
        for model in self.models:
            end = model.to_ranks or max(_ranks_of(self.machine), model.from_ranks)
            rank_counts |= set(range(model.from_ranks, end + 1))
        if self.in_memory is not None:
            rank_counts |= set(range(2, (self.machine.ranks_for_users or RANKS_MAX) + 1))
        return rank_counts


def timings(machine: Machine, mpi: str = "") -> list[PatternTiming]:
    """The timings of all patterns of a machine with one of its libraries.

    Raises InputError if it has several and none is named, or if it has not the named one.
    """
    library = _library(machine, mpi)
    timings_by_key: dict[tuple[str, ...], PatternTiming] = {}
    for model in machine.patterns:
        if carrier(model.mpi, model.transport) == library:
            how = model.timing or model.what
            timing = _timing(timings_by_key, machine, model, model.axes, how)
            timing.models.append(model)
    for curve in machine.models:
        if carrier(curve.mpi, curve.transport) == library and curve.segments:
            distance = curve.axes.startswith(DISTANCE)
            timing = _timing(timings_by_key, machine, curve, "" if distance else curve.axes, "")
            # The first curve of several distances in a file is used, as for simulations.
            if not any(known_curve.ranks == curve.ranks for known_curve in timing.curves):
                timing.curves.append(curve)
    return [*timings_by_key.values(), *_in_memory(machine, mpi)]


def _in_memory(machine: Machine, mpi: str) -> Iterator[PatternTiming]:
    """The timings of operations in the machine's memory."""
    for operation in machine.operations:
        if operation.level_s is not None:
            in_memory = InMemory(operation, Messages(machine, mpi))
            yield PatternTiming(
                *(operation.pattern, NATIVE, "", ANYWHERE, "in the shared memory", machine),
                in_memory=in_memory,
            )


def _timing(
    timings_by_key: dict[tuple[str, ...], PatternTiming],
    machine: Machine,
    model: PatternModel | FittedModel,
    axes: str,
    how: str,
) -> PatternTiming:
    algorithm, where = model.algorithm or NATIVE, where_of(model.placement)
    matches = [
        timing
        for timing in timings_by_key.values()
        if (timing.key, timing.where) == ((model.pattern, algorithm, axes), where)
    ]
    if matches and isinstance(model, FittedModel):
        return matches[0]
    key = (model.pattern, algorithm, axes, where, how)
    return timings_by_key.setdefault(key, PatternTiming(*key, machine))


def where_of(placement: str) -> str:
    """BETWEEN, WITHIN or ANYWHERE for a placement by name, layout or kind of layout."""
    if placement in ("other-node", "same-node"):
        return BETWEEN if placement == "other-node" else WITHIN
    layout = parse_layout(placement)
    if layout is not None:
        return BETWEEN if layout.hosts > 1 else WITHIN
    if placement.startswith(("any x ", "1 x ")):
        return BETWEEN if placement.startswith("any") else WITHIN
    return ANYWHERE


def libraries(machine: Machine) -> list[str]:
    """The libraries of a machine's models, by name or transport."""
    models: Sequence[PatternModel | FittedModel] = [*machine.models, *machine.patterns]
    return sorted({carrier(model.mpi, model.transport) for model in models})


def _library(machine: Machine, mpi: str) -> str:
    names = libraries(machine)
    if not names:
        raise InputError(f"{machine.name} has no models", "measure it: nhalf run, then nhalf fit")
    if mpi:
        return library_named(mpi, names)
    if len(names) > 1:
        remedy = "name one with --mpi X,Y or MACHINE:LIBRARY: " + ", ".join(names)
        raise InputError(f"{machine.name} has models of several libraries", remedy)
    return names[0]


def _ranks_of(machine: Machine) -> int:
    """The number of ranks that a machine holds, RANKS_MAX if unknown."""
    nodes = machine.network.topology.nodes if machine.network else 0
    per_node = machine.node.ranks if machine.node else 1
    return min(nodes * per_node, 4096) or RANKS_MAX

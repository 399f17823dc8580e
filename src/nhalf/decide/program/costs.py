# SPDX-License-Identifier: Apache-2.0
"""What messages and collective operations cost on a machine, for ranks that are placed on it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.decide.ways import known_ways
from nhalf.facts.program.operations import operation
from nhalf.facts.program.program import Program
from nhalf.machines.algorithms import algorithms
from nhalf.machines.changed_curves import overhead_s
from nhalf.machines.curve import is_between_nodes, message_curve, threshold_bytes
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.message import Message, curves_by_distance

BUSY_SHARE = 0.5
"""Of a message within a node: its sender copies it in, its receiver out."""
OVERHEAD_SHARE = 0.25
"""Of the shortest message between nodes, where overheads were not measured: see machines/change."""


class Costs(ABC):
    """Seconds by ranks (of MPI_COMM_WORLD) and bytes."""

    rendezvous_bytes: int
    """From this size on a send waits for its receive."""

    @abstractmethod
    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """From the begin of the send to the end of a receive that is there in time."""

    @abstractmethod
    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """What the sender and the receiver spend themselves."""

    @abstractmethod
    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """From the last arrival to the end."""


@dataclass(frozen=True)
class _Distance:
    """Messages within a node, or between nodes."""

    message: Message
    overheads_s: tuple[float, float] | None
    between: bool

    known_s: dict[int, float] = field(default_factory=dict)

    def time_s(self, size_bytes: int) -> float:
        if size_bytes not in self.known_s:
            found = self.message.time_s(np.array([float(size_bytes)]))
            self.known_s[size_bytes] = float(found[0])
        return self.known_s[size_bytes]

    def busy_s(self, size_bytes: int) -> tuple[float, float]:
        whole_s = self.time_s(size_bytes)
        if not self.between:
            return BUSY_SHARE * whole_s, BUSY_SHARE * whole_s
        usual_s = OVERHEAD_SHARE * float(self.message.t0_s[0])
        sends_s, receives_s = self.overheads_s or (usual_s, usual_s)
        return min(sends_s, BUSY_SHARE * whole_s), min(receives_s, BUSY_SHARE * whole_s)


class MachineCosts(Costs):
    """Those of a machine file; ranks with the same entry of `hosts` share a node."""

    def __init__(self, machine: Machine, hosts: Sequence[str], mpi: str = "") -> None:
        message_curve(machine, mpi)  # it says what is wrong where there is none, or several
        within, between = curves_by_distance(machine, mpi)
        curve = between[0][1]
        self.hosts = hosts
        self.rendezvous_bytes = threshold_bytes(machine, curve)[0]
        self._mpi = mpi
        self._near = _Distance(Message(within), overhead_s(machine, within), between=False)
        is_apart = is_between_nodes(curve.placement)
        self._far = _Distance(Message(curve), overhead_s(machine, curve), between=is_apart)
        self._machines = {True: machine, False: _of_one_node(machine, within)}
        self._known: dict[tuple[str, int, int, bool], float] = {}

    def _distance(self, source: int, target: int) -> _Distance:
        return self._near if self.hosts[source] == self.hosts[target] else self._far

    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """The curve of the ping-pong, by whether both share a node."""
        return self._distance(source, target).time_s(size_bytes)

    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """Measured overheads between nodes; half of the message each within one."""
        return self._distance(source, target).busy_s(size_bytes)

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The machine's own model of the operation where it has one, else composed of messages."""
        name, count = operation(call), len(ranks)
        if count < 2:
            return 0.0
        apart = len({self.hosts[rank] for rank in ranks}) > 1
        key = (name, count, size_bytes, apart)
        if key not in self._known:
            self._known[key] = self._collective_s(*key)
        return self._known[key]

    def _collective_s(self, name: str, count: int, size_bytes: int, apart: bool) -> float:
        pattern, part_bytes = pattern_of(name, count, size_bytes)
        try:
            ways = known_ways(pattern, self._machines[apart], algorithms(), self._mpi, True)
            times = [(way.algorithm != "native", way.time_s(count, part_bytes)) for way in ways]
            sound = [one for one in times if math.isfinite(one[1]) and one[1] > 0]
            if sound:
                return min(sound)[1]
        except InputError:
            pass
        distance = self._far if apart else self._near
        rounds = math.ceil(math.log2(count))
        if pattern in ("allgather", "alltoall", "gather", "scatter"):
            return (count - 1) * distance.time_s(part_bytes)
        return rounds * distance.time_s(part_bytes)


def _of_one_node(machine: Machine, within: FittedModel) -> Machine:
    """The machine with no curves but those within a node."""
    models = tuple(model for model in machine.models if not is_between_nodes(model.placement))
    return msgspec.structs.replace(machine, models=models or (within,))


def pattern_of(name: str, ranks: int, size_bytes: int) -> tuple[str, int]:
    """The pattern by which machines know an operation, and its size there.

    What a rank puts into an all-to-all is the blocks of all, a pattern has the size of one.
    """
    pattern = {
        "allgatherv": "allgather",
        "alltoallv": "alltoall",
        "alltoallw": "alltoall",
        "gatherv": "gather",
        "scatterv": "scatter",
        "reduce_scatter_block": "reduce-scatter",
        "reduce_scatter": "reduce-scatter",
        "exscan": "scan",
    }.get(name, name)
    return pattern, size_bytes // ranks if pattern == "alltoall" else size_bytes


class TracedCosts(Costs):
    """Those of the trace itself: the shortest call of each size, in which nothing waited.

    Sizes that were never seen take the time of the next smaller one.
    """

    def __init__(self, program: Program) -> None:
        self.rendezvous_bytes = 1 << 62
        self._sent = _shortest(program.calls, "sent")
        self._received = _shortest(program.calls, "received")
        slowest = program.calls.filter(pl.col("kind") == "collective")
        grouped = slowest.group_by("call", "size_bytes", "rank").agg(pl.col("min_s").min())
        longest = grouped.group_by("call", "size_bytes").agg(pl.col("min_s").median())
        self._collective = {(row[0], row[1]): float(row[2]) for row in longest.iter_rows()}

    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """A send and a receive, each as short as it ever was."""
        return sum(self.busy_s(source, target, size_bytes))

    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """The shortest send and the shortest receive of the size."""
        return _at(self._sent, size_bytes), _at(self._received, size_bytes)

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The median over the ranks of the shortest such call."""
        return self._collective.get((call, size_bytes), 0.0)


def _shortest(calls: pl.DataFrame, kind: str) -> list[tuple[int, float]]:
    some = calls.filter((pl.col("kind") == kind) & (pl.col("partner") >= 0))
    found = some.group_by("size_bytes").agg(pl.col("min_s").min()).sort("size_bytes")
    return [(int(size), float(time_s)) for size, time_s in found.iter_rows()]


def _at(known: list[tuple[int, float]], size_bytes: int) -> float:
    smaller = [time_s for size, time_s in known if size <= size_bytes]
    return smaller[-1] if smaller else known[0][1] if known else 0.0

# SPDX-License-Identifier: Apache-2.0
"""The cost of messages and collective operations on a machine, for placed ranks."""

from __future__ import annotations

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nhalf.base.errors import InputError, unknown
from nhalf.base.operations import BY_NAME, NATIVE, PER_RANK
from nhalf.decide.way import Way
from nhalf.decide.ways import known_ways
from nhalf.facts.program.operations import operation
from nhalf.facts.program.parts import Work
from nhalf.machines.algorithms import algorithms, cost_bytes
from nhalf.machines.changed_curves import overhead_s
from nhalf.machines.curve import is_between_nodes, loggp_of, threshold_bytes
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.message import Message, Messages
from nhalf.machines.spread import over_nodes, within_node
from nhalf.models.expression import PART_BYTES
from nhalf.mpi.decision_table import Rule, rule_for

BUSY_SHARE = 0.5
"""Share of a message within a node per side: the sender copies it in, the receiver out."""
CROSSING = "pingping"
OVERHEAD_SHARE = 0.25
"""Share of the shortest message between nodes, unless overheads are known: see machines/change."""


class Costs(ABC):
    """Seconds by ranks (of MPI_COMM_WORLD) and bytes."""

    rendezvous_bytes: int
    """From this size on a send waits for its receive."""
    calls_take_time = True
    """Whether a wait takes its shortest measured time."""

    @abstractmethod
    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """From the start of the send to the end of a receive posted in time."""

    def crossing_s(self, source: int, target: int, size_bytes: int) -> float:
        """The time of a message while another one goes the opposite way."""
        return self.message_s(source, target, size_bytes)

    def port_s(self, source: int, target: int, size_bytes: int) -> float:
        """How long a message keeps the next one of its sender from leaving; 0 if unknown."""
        return 0.0

    @abstractmethod
    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """Processor time of the sender and of the receiver."""

    @abstractmethod
    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """From the last arrival to the end."""


def work_s(costs: Costs, work: Work) -> float:
    """What a rank takes for its part in an operation, once nobody is waited for."""
    call, ranks, size_bytes = work
    if not call:
        rank, root = ranks
        return costs.busy_s(rank, root, size_bytes)[0]
    return costs.collective_s(call, ranks, size_bytes)


@dataclass(frozen=True)
class _Distance:
    """Messages within a node, or between nodes."""

    message: Message
    overheads_s: tuple[float, float] | None
    between: bool
    both_ways: Message | None = None
    """Messages that cross: their additional time is processor time of each rank."""

    known_s: dict[int, float] = field(default_factory=dict)
    known_busy_s: dict[int, tuple[float, float]] = field(default_factory=dict)

    def time_s(self, size_bytes: int) -> float:
        if size_bytes not in self.known_s:
            times_s = self.message.time_s(np.array([float(size_bytes)]))
            self.known_s[size_bytes] = float(times_s[0])
        return self.known_s[size_bytes]

    def crossing_s(self, size_bytes: int) -> float:
        if self.both_ways is None:
            return self.time_s(size_bytes)
        return float(self.both_ways.time_s(np.array([float(size_bytes)]))[0])

    def busy_s(self, size_bytes: int) -> tuple[float, float]:
        if size_bytes not in self.known_busy_s:
            self.known_busy_s[size_bytes] = self._busy_s(size_bytes)
        return self.known_busy_s[size_bytes]

    def _busy_s(self, size_bytes: int) -> tuple[float, float]:
        whole_s = self.time_s(size_bytes)
        if not self.between:
            busy_s = BUSY_SHARE * whole_s
            busy_s = min(max(busy_s, BUSY_SHARE * self.crossing_s(size_bytes)), whole_s)
            return busy_s, busy_s
        usual_s = OVERHEAD_SHARE * float(self.message.t0_s[0])
        sends_s, receives_s = self.overheads_s or (usual_s, usual_s)
        return min(sends_s, BUSY_SHARE * whole_s), min(receives_s, BUSY_SHARE * whole_s)


class MachineCosts(Costs):
    """Costs of a machine file; ranks with the same entry of `hosts` share a node.

    Operations covered by `rules` use the algorithm named there. Those that the machine file has no
    time of (composed ones, and allgatherv by allgather, ...) take `guess_ratio` times as long.
    """

    def __init__(
        self,
        messages: Messages,
        hosts: Sequence[str],
        rules: Sequence[Rule] = (),
        guess_ratio: float = 1.0,
    ) -> None:
        machine, within = messages.machine, messages.within_node
        _, curve = messages.between_nodes[0]
        self.hosts = hosts
        self.rendezvous_bytes = threshold_bytes(machine, curve)[0]
        self._rules = rules
        self.guess_ratio = guess_ratio
        self.guessed: set[str] = set()
        """Operations whose time is not that of the library's own, measured or published."""
        self._within_node = _Distance(
            Message(within), overhead_s(machine, within), False, _both_ways_message(machine, within)
        )
        is_apart = is_between_nodes(curve.placement)
        self._between_nodes = _Distance(
            Message(curve), overhead_s(machine, curve), between=is_apart
        )
        named = Messages(machine, messages.library)
        self._gaps_s = {
            distance: _gap_s(machine, model) for distance, model in ((False, within), (True, curve))
        }
        self._messages = {True: over_nodes(named), False: within_node(named)}
        self._collective_times_s: dict[tuple[str, int, int, bool], float] = {}
        self._known_ways: dict[tuple[str, bool, int], Sequence[Way]] = {}

    def _distance(self, source: int, target: int) -> _Distance:
        return (
            self._within_node if self.hosts[source] == self.hosts[target] else self._between_nodes
        )

    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """The time by the ping-pong's curve within a node, or between nodes."""
        return self._distance(source, target).time_s(size_bytes)

    def crossing_s(self, source: int, target: int, size_bytes: int) -> float:
        """The time by the ping-ping's curve, if both share a node and the machine has one."""
        return self._distance(source, target).crossing_s(size_bytes)

    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """Measured overheads between nodes; half of the message each within one."""
        return self._distance(source, target).busy_s(size_bytes)

    def port_s(self, source: int, target: int, size_bytes: int) -> float:
        """The gap between messages, or what the bytes of one take if that is longer."""
        if source == target:
            return 0.0
        distance = self._distance(source, target)
        bytes_s = max(0.0, distance.time_s(size_bytes) - distance.time_s(0))
        return max(self._gaps_s[distance is self._between_nodes], bytes_s)

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The algorithm of a rule, else the machine's own model, else the best composed one.

        Raises InputError for an algorithm that the machine has no data on.
        """
        name, count = operation(call), len(ranks)
        if count < 2:
            return 0.0
        apart = len({self.hosts[rank] for rank in ranks}) > 1
        key = (name, count, size_bytes, apart)
        if key not in self._collective_times_s:
            self._collective_times_s[key] = self._collective_s(*key)
        return self._collective_times_s[key]

    def _collective_s(self, name: str, count: int, size_bytes: int, apart: bool) -> float:
        """Time by what the machine file knows best; a guess is multiplied by `guess_ratio`."""
        own_s = self._own_s(name, count, size_bytes, apart)
        if own_s is not None:
            return own_s
        pattern, part_bytes = pattern_of(name, count, size_bytes)
        rule_bytes = int(cost_bytes(pattern, count, part_bytes))
        rule = rule_for(self._rules, pattern, count, rule_bytes)
        algorithm = NATIVE if rule is None else rule.algorithm
        ways = self._ways(pattern, apart, (rule and rule.part_bytes) or PART_BYTES)
        if algorithm != NATIVE:
            return _named(algorithm, pattern, ways).time_s(count, part_bytes)
        times = _times(ways, count, part_bytes)
        if times and not times[0][0] and pattern == name.replace("_", "-"):
            return times[0][1]
        self.guessed.add(name)
        if times:
            return self.guess_ratio * times[0][1]
        distance = self._between_nodes if apart else self._within_node
        rounds = math.ceil(math.log2(count))
        if pattern in PER_RANK:
            rounds = count - 1
        return self.guess_ratio * rounds * distance.time_s(part_bytes)

    def _own_s(self, name: str, count: int, size_bytes: int, apart: bool) -> float | None:
        """The time of the library's operation with counts, such as alltoallv, if measured."""
        own = BY_NAME.get(name)
        if own is None or not own.is_varying or own.pattern != name or self._rules:
            return None
        part_bytes = pattern_of(name, count, size_bytes)[1]
        times = _times(self._ways(name, apart, PART_BYTES), count, part_bytes)
        return times[0][1] if times and not times[0][0] else None

    def _ways(self, pattern: str, apart: bool, part_bytes: int) -> Sequence[Way]:
        """The known ways, kept because those of a machine share a program that follows messages."""
        key = pattern, apart, part_bytes
        if key not in self._known_ways:
            try:
                messages = self._messages[apart]
                ways = known_ways(pattern, messages, algorithms(), True, part_bytes)
            except InputError:
                ways = []
            self._known_ways[key] = ways
        return self._known_ways[key]


def _times(ways: Sequence[Way], count: int, size_bytes: int) -> list[tuple[bool, float]]:
    """The times of ways, the library's own first; True stands for a composed algorithm."""
    times: list[tuple[bool, float]] = []
    for way in ways:
        with contextlib.suppress(InputError):
            times.append((way.algorithm != NATIVE, way.time_s(count, size_bytes)))
    return sorted(timed for timed in times if math.isfinite(timed[1]) and timed[1] > 0)


def _gap_s(machine: Machine, curve: FittedModel) -> float:
    parameters = loggp_of(machine, curve)
    return (parameters.gap_s or 0.0) if parameters else 0.0


def _named(algorithm: str, pattern: str, ways: Sequence[Way]) -> Way:
    """The way of an algorithm; raises InputError if it has no known time."""
    for way in ways:
        if way.algorithm == algorithm:
            return way
    names = [way.algorithm for way in ways if way.algorithm != NATIVE]
    raise unknown(f"algorithm of {pattern} on this machine", algorithm, names)


def _both_ways_message(machine: Machine, curve: FittedModel) -> Message | None:
    """The curve of messages both ways at once that belongs to one of a ping-pong."""
    for model in machine.models:
        is_same_setup = all(
            getattr(model, name) == getattr(curve, name)
            for name in ("transport", "mpi", "placement", "ranks")
        )
        if model.pattern == CROSSING and is_same_setup and model.segments:
            return Message(model)
    return None


def pattern_of(name: str, ranks: int, size_bytes: int) -> tuple[str, int]:
    """The pattern of an operation in machine files, and its size there.

    A rank's input to an all-to-all is the blocks for all ranks; a pattern has the size of one
    block.
    """
    row = BY_NAME.get(name)
    # No machine file has times of operations among neighbours.
    if row is None or row.flow == "among_neighbours":
        return name, size_bytes
    pattern = row.like or row.pattern
    return pattern, size_bytes // ranks if pattern == "alltoall" else size_bytes

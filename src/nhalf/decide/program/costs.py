"""The cost of messages and collective operations on a machine, for placed ranks."""

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nhalf.base.errors import InputError, unknown
from nhalf.base.operations import BY_NAME, NATIVE, PER_RANK
from nhalf.decide.program.message_costs import MessageCosts, MessageTimes
from nhalf.decide.way import Way
from nhalf.decide.ways import known_ways
from nhalf.facts.program.distinct import Whole
from nhalf.facts.program.operations import is_non_blocking, operation, shares_of
from nhalf.facts.program.pairing import Route
from nhalf.facts.program.script import Work
from nhalf.machines.algorithms import algorithms, cost_bytes
from nhalf.machines.curve import is_between_nodes, software_costs, threshold_bytes
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.message import Message, Messages
from nhalf.machines.spread import over_nodes, within_node
from nhalf.models.expression import PART_BYTES
from nhalf.mpi.decision_table import Rule, rule_for

CROSSING = "pingping"


Answer = Callable[[str, Sequence[int], int], tuple[float, str] | None]
"""Seconds and algorithm of an MPI library that was asked, by call, node of each rank and bytes."""
Share = Callable[[str, Sequence[int], int], float]
"""The share of an asked operation that is left after as much work as it takes."""
Crowd = Callable[[str, Sequence[int], int], tuple[float, float]]
"""How many times as long it takes beside others, likely and at most."""
Leave = Callable[[str, Sequence[int], int, int], tuple[float, float]]
"""The share of an asked operation after which the rank in a place leaves it, and how much of that
goes on without it."""
CROWDED = 1.02
"""Operations that take less than this many times as long are alone."""
PAIRWISE = ("among_all", "blocks")
"""Flow and data of operations whose blocks differ by sender and receiver."""
THE_MACHINES = "the machine's own"
IN_ROUNDS = "messages in rounds"


@dataclass(frozen=True)
class UsedAlgorithm:
    """The algorithm of an operation at a number of ranks and a size, and whether a library was
    asked for it.
    """

    operation: str
    ranks: int
    size_bytes: int
    algorithm: str
    is_asked: bool


class Costs(ABC):
    """Seconds by ranks (of MPI_COMM_WORLD) and bytes."""

    rendezvous_bytes: int
    """From this size on a send waits for its receive."""
    calls_take_time = True
    """Whether a wait takes its shortest measured time."""

    @abstractmethod
    def messages(self, source: Whole, target: Whole, size_bytes: Whole) -> MessageTimes:
        """The times of messages."""

    def of_routes(self, routes: Sequence[Route]) -> MessageTimes:
        """The times of messages by source, target and bytes of each."""
        return self.messages(*np.array(routes, np.int64).reshape(-1, 3).T)

    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """From the start of the send to the end of a receive posted in time."""
        return float(self.of_routes([(source, target, size_bytes)]).way_s[0])

    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """Processor time of the sender and of the receiver."""
        times = self.of_routes([(source, target, size_bytes)])
        return float(times.sending_s[0]), float(times.receiving_s[0])

    @abstractmethod
    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """From the last arrival to the end."""

    def hidden_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """How much of a nonblocking operation goes on while no rank calls MPI."""
        return 0.0

    def leave(self, work: Work, seat: int) -> tuple[float, float]:
        """The share of an operation after which the rank in a place of its ranks leaves it, and how
        much of that goes on before it comes.
        """
        return 1.0, 0.0


def work_s(costs: Costs, work: Work, seat: int = -1) -> tuple[float, float]:
    """What a rank takes for its part in an operation, once nobody is waited for, and how much of
    that goes on without it: the one in a place of its ranks, or with -1 the last one to leave.
    """
    call, ranks, size_bytes = work
    if not call:
        rank, root = ranks
        return costs.busy_s(rank, root, size_bytes)[0], 0.0
    time_s = costs.collective_s(call, ranks, size_bytes)
    if seat < 0:
        return time_s, costs.hidden_s(call, ranks, size_bytes)
    share, hidden = costs.leave(work, seat)
    return share * time_s, hidden * time_s


class MachineCosts(Costs):
    """Costs of a machine file; ranks with the same entry of `hosts` share a node.

    Operations covered by `rules` use the algorithm named there, others take what a library
    answers, if one was asked. Those that neither it nor the machine file has a time of (composed
    ones, and allgatherv by allgather, ...) take `guess_ratio` times as long.
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
        self.port_ratio = 1.0
        """How many times as long as one way a message keeps a rank from others both ways."""
        self.guessed: set[str] = set()
        """Operations whose time is not that of the library's own: asked, measured or published."""
        self.used: set[UsedAlgorithm] = set()
        self._answer: Answer | None = None
        self._left: Share = lambda *work: 1.0
        self._crowd: Crowd = lambda *work: (1.0, 1.0)
        self._leave: Leave = lambda *work: (1.0, 0.0)
        self._asks_where_measured = True
        numbers: dict[str, int] = {}
        self.nodes = [numbers.setdefault(host, len(numbers)) for host in hosts]
        self._answers: dict[tuple[str, tuple[int, ...], int], tuple[float, str] | None] = {}
        message = Message(within)
        both_ways = _both_ways_message(machine, within)
        self._within_node = MessageCosts(message, software_costs(machine, within), False, both_ways)
        is_apart = is_between_nodes(curve.placement)
        self._between_nodes = MessageCosts(
            Message(curve), software_costs(machine, curve), between=is_apart
        )
        named = Messages(machine, messages.library)
        self._messages = {True: over_nodes(named), False: within_node(named)}
        self._collective_times_s: dict[tuple[str, int, int, bool], float] = {}
        self._ways_by_key: dict[tuple[str, bool, int], Sequence[Way]] = {}

    def asks(
        self,
        answer: Answer,
        share: Share,
        crowd: Crowd,
        leave: Leave = lambda *work: (1.0, 0.0),
        *,
        where_measured: bool,
    ) -> None:
        """Let a library answer, also `where_measured` times are in the machine file."""
        self._answer, self._left, self._crowd, self._leave = answer, share, crowd, leave
        self._asks_where_measured = where_measured

    def messages(self, source: Whole, target: Whole, size_bytes: Whole) -> MessageTimes:
        """By the curves within a node, and between nodes."""
        nodes = np.array(self.nodes)
        is_apart = nodes[source] != nodes[target]
        within, between = (
            distance.times(size_bytes) for distance in (self._within_node, self._between_nodes)
        )
        times = MessageTimes(
            *(np.where(is_apart, *pair) for pair in zip(between, within, strict=True))
        )
        port_s = np.where(source == target, 0.0, self.port_ratio * times.port_s)
        return times._replace(port_s=port_s)

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The algorithm of a rule, else what a library answered, else the machine's own model, else
        the best composed one.

        Raises InputError for an algorithm that the machine has no data on.
        """
        name, count = operation(call), len(ranks)
        if count < 2:
            return 0.0
        apart = len({self.hosts[rank] for rank in ranks}) > 1
        key = (name, count, size_bytes, apart)
        is_asked = self._asks_where_measured or self._measured_s(*key) is None
        if is_asked and (answered_s := self._answered_s(call, ranks, size_bytes)):
            return answered_s
        if key not in self._collective_times_s:
            time_s, algorithm = self._assumed(*key)
            if name in BY_NAME:
                self.used.add(UsedAlgorithm(name, count, size_bytes, algorithm, is_asked=False))
            self._collective_times_s[key] = time_s
        return self._collective_times_s[key]

    def _answered_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float | None:
        """What the library answered; None without an answer, and where a rule counts."""
        name, count = operation(call), len(ranks)
        rule = self._rule(name, count, size_bytes)
        if self._answer is None or (rule and rule.algorithm != NATIVE):
            return None
        key = call, tuple(ranks), size_bytes
        if key not in self._answers:
            nodes = [self.nodes[rank] for rank in ranks]
            self._answers[key] = self._answer(call, nodes, size_bytes)
        if (answer := self._answers[key]) is None:
            return None
        time_s, algorithm = answer
        self.used.add(UsedAlgorithm(name, count, size_bytes, algorithm, is_asked=True))
        likely, most = self._crowd(call, [self.nodes[rank] for rank in ranks], size_bytes)
        if most > CROWDED:
            # From not at all to all of it, as a guess goes.
            time_s *= likely if self.guess_ratio == 1 else max(1.0, most * (self.guess_ratio > 1))
            self.guessed.add(name)
        row = BY_NAME[name]
        if not row.is_varying or (shares_of(call) and (row.flow, row.data) != PAIRWISE):
            return time_s
        self.guessed.add(name)  # Not all blocks are known.
        return self.guess_ratio * time_s

    def hidden_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """What a library does while a rank works; of a time that is not its answer, nothing."""
        if not is_non_blocking(call) or not self._answers.get((call, tuple(ranks), size_bytes)):
            return 0.0
        share = self._left(call, [self.nodes[rank] for rank in ranks], size_bytes)
        return (1 - share) * self.collective_s(call, ranks, size_bytes)

    def leave(self, work: Work, seat: int) -> tuple[float, float]:
        """By what a library did; of a time that is not its answer, all and nothing."""
        call, ranks, size_bytes = work
        if not self._answers.get((call, ranks, size_bytes)):
            return 1.0, 0.0
        return self._leave(call, [self.nodes[rank] for rank in ranks], size_bytes, seat)

    def _rule(self, name: str, count: int, size_bytes: int) -> Rule | None:
        """The rule of a table that covers an operation."""
        pattern, part_bytes = pattern_of(name, count, size_bytes)
        return rule_for(self._rules, pattern, count, int(cost_bytes(pattern, count, part_bytes)))

    def is_measured(self, call: str, ranks: Sequence[int], size_bytes: int) -> bool:
        """Whether the machine file has the operation of its library."""
        apart = len({self.hosts[rank] for rank in ranks}) > 1
        return self._measured_s(operation(call), len(ranks), size_bytes, apart) is not None

    def _assumed(self, name: str, count: int, size_bytes: int, apart: bool) -> tuple[float, str]:
        """Seconds and algorithm without an answer, by what the machine file knows best; a guess is
        multiplied by `guess_ratio`.
        """
        rule = self._rule(name, count, size_bytes)
        pattern, part_bytes = pattern_of(name, count, size_bytes)
        ways = self._ways(pattern, apart, (rule and rule.part_bytes) or PART_BYTES)
        if rule is not None and rule.algorithm != NATIVE:
            way = _named(rule.algorithm, pattern, ways)
            return way.time_s(count, part_bytes), way.algorithm
        measured_s = self._measured_s(name, count, size_bytes, apart)
        if measured_s is not None:
            return measured_s, THE_MACHINES
        self.guessed.add(name)
        for _, time_s, algorithm in _times(ways, count, part_bytes)[:1]:
            shown = THE_MACHINES if algorithm == NATIVE else algorithm
            return self.guess_ratio * time_s, shown
        distance = self._between_nodes if apart else self._within_node
        rounds = math.ceil(math.log2(count))
        if pattern in PER_RANK:
            rounds = count - 1
        way_s = distance.times(np.array([part_bytes])).way_s[0]
        return self.guess_ratio * rounds * float(way_s), IN_ROUNDS

    def _measured_s(self, name: str, count: int, size_bytes: int, apart: bool) -> float | None:
        """The time of the library's own operation, measured or published; of one with counts, such
        as alltoallv, by itself only.
        """
        own = BY_NAME.get(name)
        pattern, part_bytes = pattern_of(name, count, size_bytes)
        if own and own.is_varying and own.pattern == name and not self._rules:
            pattern = name
        times = _times(self._ways(pattern, apart, PART_BYTES), count, part_bytes)
        is_own = bool(times) and not times[0].is_composed and pattern == name.replace("_", "-")
        return times[0].time_s if is_own else None

    def _ways(self, pattern: str, apart: bool, part_bytes: int) -> Sequence[Way]:
        """The known ways, kept because those of a machine share a program that follows messages."""
        key = pattern, apart, part_bytes
        if key not in self._ways_by_key:
            try:
                messages = self._messages[apart]
                ways = known_ways(pattern, messages, algorithms(), True, part_bytes)
            except InputError:
                ways = []
            self._ways_by_key[key] = ways
        return self._ways_by_key[key]


class _WayTime(NamedTuple):
    """The time of a way; sorted, the library's own comes first."""

    is_composed: bool
    time_s: float
    algorithm: str


def _times(ways: Sequence[Way], count: int, size_bytes: int) -> list[_WayTime]:
    """The times of ways, the library's own first."""
    times: list[_WayTime] = []
    for way in ways:
        with contextlib.suppress(InputError):
            time_s = way.time_s(count, size_bytes)
            times.append(_WayTime(way.algorithm != NATIVE, time_s, way.algorithm))
    return sorted(timed for timed in times if math.isfinite(timed.time_s) and timed.time_s > 0)


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

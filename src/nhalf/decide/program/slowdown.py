"""The run time of a program by how much slower its network or its processors are: by replays.

What the program was traced on counts as it was, by its own calls or by a machine file, without what
others took of the ranks' processors.
"""

import copy
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import NhalfError
from nhalf.decide.program.contention import Contention, contention
from nhalf.decide.program.costs import Costs, MachineCosts
from nhalf.decide.program.message_costs import MessageTimes
from nhalf.decide.program.operation_paths import Paths, observed_paths, usual_path
from nhalf.decide.program.replay import Replay, replay
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.decide.program.undisturbed_program import undisturbed_contention, undisturbed_program
from nhalf.facts.program.critical_path import critical_path
from nhalf.facts.program.distinct import Whole
from nhalf.facts.program.disturbance import undisturbed
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import Actor
from nhalf.facts.program.script import Script, Work
from nhalf.machines import catalogue
from nhalf.machines.message import Messages


@dataclass(frozen=True)
class Slower:
    """What a message takes in addition: on its way, in the processor of either end, per byte."""

    latency_s: float = 0.0
    overhead_s: float = 0.0
    byte_s: float = 0.0

    def messages_s(self, messages: float, size_bytes: float) -> float:
        """From the begin of the first send to the last arrival, of messages one after another."""
        return messages * (self.latency_s + 2 * self.overhead_s) + size_bytes * self.byte_s


class SlowerCosts(Costs):
    """The costs of a network, each message slower, but those of a rank to itself.

    `paths` says which messages of an operation follow each other.
    """

    def __init__(self, usual: Costs, slower: Slower, paths: Paths | None = None) -> None:
        self.rendezvous_bytes = usual.rendezvous_bytes
        self.calls_take_time = usual.calls_take_time
        self._usual = usual
        self._slower = slower
        self._paths = paths or usual_path

    def messages(self, source: Whole, target: Whole, size_bytes: Whole) -> MessageTimes:
        """The usual times and what is added; a port is kept for what the bytes take at least."""
        usual, is_apart = self._usual.messages(source, target, size_bytes), source != target
        empty_s = self._usual.messages(source, target, np.zeros_like(size_bytes)).way_s
        overhead_s, bytes_s = self._slower.overhead_s, size_bytes * self._slower.byte_s
        longer_s = is_apart * (self._slower.latency_s + 2 * overhead_s + bytes_s)
        at_least_s = is_apart * (usual.port_s > 0) * (usual.way_s - empty_s + bytes_s)
        return MessageTimes(
            usual.way_s + longer_s,
            usual.crossing_s + longer_s,
            usual.sending_s + is_apart * overhead_s,
            usual.receiving_s + is_apart * overhead_s,
            np.maximum(usual.port_s, at_least_s),
        )

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The usual time and what is added to its messages."""
        usual_s = self._usual.collective_s(call, ranks, size_bytes)
        path = self._paths(call, len(ranks), size_bytes)
        return usual_s + self._slower.messages_s(path.messages, path.bytes)

    def leave(self, work: Work, seat: int) -> tuple[float, float]:
        """The usual shares."""
        return self._usual.leave(work, seat)


LATENCY, OVERHEAD, BYTE = "latency_s", "overhead_s", "byte_s"
NOISE, SLOW_NODE = "noise_share", "slow_node_share"
NETWORK = (LATENCY, OVERHEAD, BYTE)
PARAMETERS = (*NETWORK, NOISE, SLOW_NODE)
"""What may grow, by its name in results: seconds, or a share of computing."""
NOISE_SEEDS = 5
"""Noise is drawn that often; the run time is the mean."""
FIRST_S = 1e-9
FIRST_SHARE = 1e-6
_Setting = tuple[Script, Costs, float, Contention, float]
"""A script, costs, a factor of computing, contention, and what a byte takes more."""
MOST = 10.0
"""What is added is at most this many run times, or this share of computing times a hundred."""


class Slowdown:
    """The run time of a program by what is added to one of PARAMETERS.

    The slow node is the one whose computing has the largest part of the critical path; `slow_ranks`
    are its ranks, or one rank where all share a node. Messages of operations are `paths`, or by
    what the operations of the trace took.
    """

    def __init__(
        self, program: Program, traced_on: Messages | None = None, paths: Paths | None = None
    ) -> None:
        self._script = undisturbed(program)
        self._costs = _usual(program, traced_on)
        whole = contention(self._script, self._costs)
        self._contention = undisturbed_contention(program, self._script, whole)
        self._paths = paths or observed_paths(self._script, self._costs, self._contention)
        self.slow_ranks = _slow_ranks(program)
        self._known_s: dict[tuple[str, float, Paths | None], float] = {}

    def at(self, parameter: str, added: float, paths: Paths | None = None) -> float:
        """The run time with an amount added to a parameter; `paths` are those of operations."""
        key = (parameter, added, paths)
        if key not in self._known_s:
            self._known_s[key] = (
                fmean(self.draws_s(added))
                if parameter == NOISE
                else replay(*self._setting(parameter, added, paths=paths)).end_s
            )
        return self._known_s[key]

    def draws_s(self, added: float) -> list[float]:
        """The run times with some noise, drawn several times."""
        seeds = range(1, 2 if added == 0 else 1 + NOISE_SEEDS)
        return [replay(*self._setting(NOISE, added, seed)).end_s for seed in seeds]

    def followed(self, parameter: str, added: float) -> Replay:
        """A replay with that amount, to be looked at; of noise with the first seed."""
        return replay(*self._setting(parameter, added, seed=1), follows=True)

    def _setting(
        self, parameter: str, added: float, seed: int = 0, paths: Paths | None = None
    ) -> _Setting:
        if parameter == NOISE:
            return with_noise(self._script, added, seed), self._costs, 1.0, self._contention, 0.0
        if parameter == SLOW_NODE:
            slower = with_slow_ranks(self._script, self.slow_ranks, added)
            return slower, self._costs, 1.0, self._contention, 0.0
        costs = SlowerCosts(self._costs, Slower(**{parameter: added}), paths or self._paths)
        return self._script, costs, 1.0, self._contention, added if parameter == BYTE else 0.0


def first_of(parameter: str) -> float:
    """A small amount of a parameter, to begin a search with."""
    return FIRST_S if parameter.endswith("_s") else FIRST_SHARE


def most_of(parameter: str, usual_s: float) -> float:
    """The largest amount of a parameter that is looked at."""
    return MOST * usual_s if parameter.endswith("_s") else 100 * MOST


def _slow_ranks(program: Program) -> tuple[int, ...]:
    path = critical_path(undisturbed_program(program))
    if path is None or not path.computing_s:
        return ()
    hosts = program.hosts
    if len(set(hosts)) < 2:
        return (max(path.computing_s, key=lambda rank: path.computing_s[rank]),)
    by_host = dict.fromkeys(hosts, 0.0)
    for rank, seconds in path.computing_s.items():
        by_host[hosts[rank]] += seconds
    slowest = max(by_host, key=lambda host: by_host[host])
    return tuple(rank for rank, host in enumerate(hosts) if host == slowest)


def _usual(program: Program, traced_on: Messages | None) -> Costs:
    """What messages took: on the machine of a virtual run, if it is one of record."""
    if traced_on is None and program.trace.virtual is not None:
        with suppress(NhalfError):
            traced_on = Messages(catalogue.machine(program.trace.virtual.machine))
    if traced_on is None:
        return TracedCosts(program)
    costs = MachineCosts(traced_on, program.hosts)
    if program.trace.virtual is not None:
        # No send waits for its receive there.
        costs.rendezvous_bytes = TracedCosts(program).rendezvous_bytes
    return costs


def with_slow_ranks(script: Script, ranks: Collection[int], share: float) -> Script:
    """All computing of some ranks takes longer by a share."""
    return _slowed(script, lambda actor: 1.0 + share * (actor.rank in ranks))


def with_noise(script: Script, share: float, seed: int) -> Script:
    """Each stretch of computing takes longer at random, exponentially distributed, by this share in
    the mean (S. Agarwal et al., The impact of noise on the scaling of collectives, HiPC 2005). A
    seed draws the same for every share.
    """

    def factors(actor: Actor) -> Floats:
        draws = np.random.default_rng([seed, actor.rank, actor.thread])
        return np.asarray(1.0 + share * draws.exponential(size=len(actor.before_s) + 1))

    return _slowed(script, factors)


def _slowed(script: Script, factors: Callable[[Actor], Floats | float]) -> Script:
    """The computing before each call, and after the last one, times the factors of its actor."""
    return replace(script, actors=[_actor(actor, factors(actor)) for actor in script.actors])


def _actor(actor: Actor, factors: Floats | float) -> Actor:
    # A copy keeps the columns that are made on first access.
    longer = copy.copy(actor)
    seconds = np.array([*actor.before_s, actor.after_s]) * factors
    longer.before_s, longer.after_s = seconds[:-1], float(seconds[-1])
    return longer

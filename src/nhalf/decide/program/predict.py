"""The run time of a traced program on a different machine, and the error of the prediction.

The same prediction for the machine on which the program was traced, compared with the measured run,
gives the printed error and the interval. Without a machine file for that machine, the trace's own
calls replace it: they show how long messages took without waiting, so that the error is that of the
replay alone.

The measured time that the replay does not explain (noise, ranks that share a core, contention) is
added to the prediction: another machine is not assumed to be free of it. If the replay takes too
long, the prediction is too long by the same ratio and is divided by it. All of this is without what
other programs took of the ranks' processors, where a timeline says so.

An interval beyond FACTOR_MAX is no prediction: its causes are kept, to say what would narrow it.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nhalf.base.errors import InputError
from nhalf.decide.program.contention import contention
from nhalf.decide.program.costs import Costs, MachineCosts, UsedAlgorithm
from nhalf.decide.program.counted import counted, longest_s
from nhalf.decide.program.message_costs import first_use_s
from nhalf.decide.program.replay import Spent, Variant, replay, replays
from nhalf.decide.program.target import Target
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.decide.program.undisturbed_program import undisturbed_elapsed_s
from nhalf.facts.fact import fact
from nhalf.facts.program.disturbance import undisturbed
from nhalf.facts.program.operations import sizes_beside
from nhalf.facts.program.program import Program, has_whole_timeline
from nhalf.machines.computing import AS_MEASURED, AS_STATED, UNKNOWN, Basis, ComputingRatio
from nhalf.machines.draws import FACTOR_MAX
from nhalf.machines.message import Messages

UNEXPLAINED = "what the replay leaves out"
TIMELINE, COUNTS, SIMGRID = "timeline", "counts", "simgrid"
REPLAY_DOUBT, COMPUTING_DOUBT = "replay", "computing"
COMPUTING_MOST = 0.01
"""A program that computes for a smaller share has a time whatever the cores are."""
COUNTS_DOUBT, LAUNCHES_DOUBT, OPERATIONS_DOUBT = "counts", "launches", "operations"
FIRST_USE_DOUBT, MESSAGES_DOUBT = "first use", "messages"
GUESS_RATIO = 2.0
"""A guessed operation may take as many times less or more. Libraries perform one operation by
algorithms that differ as much: Open MPI's alltoallv of 16 KiB took 1.5 times its alltoall."""
ASKED_RATIO = 1.1
"""A program may take as many times more or less than its operations one by one, for which a
library was asked. Beside `nhalf try`, eight programs of large operations were 0.1 % off in the
median and 3.3 % at most, and Open MPI's alltoalls of 5 ranks, two on a node, 9 %: ranks leave one
operation at different times, and the next one begins as they do."""
AT_ONCE_RATIO = 1.25
"""A program whose ranks wait for operations at once that were not asked together may take as many
times more or less: Open MPI's sums in place of 32 ranks took 11 % less so."""
QUEUES_MOST = 200_000
"""How more messages wait for each other is left open."""


@dataclass(frozen=True)
class ProgramPrediction:
    """A predicted run time with its interval, seconds, and its parts.

    `time_share` is the share of each part, 0 to 1, with the measured time that the replay left out
    as UNEXPLAINED. `error` is predicted over measured minus one on the machine traced on, whose
    name is `traced_on`; `method` is TIMELINE if the calls were replayed in their order, SIMGRID if
    SimGrid did so, COUNTS if only their numbers are known. `forced` counts sends for which buffers
    had to be assumed. `computing_ratio` is how many times as long computing takes there, by each
    rate of a core; the interval covers programs that depend on a single rate. `launches` counts the
    traces. `computing` is where its factor is from: "as measured" if computing was not scaled, of
    a schedule "as stated", "unknown" if the machine has other cores and nobody knows how fast they
    are: then `high_s` is infinite.
    Of a schedule, which nobody timed, the traced time, the interval and the error are NaN.
    `placement` is the layout of the ranks, '' if it is as traced; `mpi` the library, '' if the
    machine has only one without a name.
    `undisturbed_s` is the traced time without what other programs took of the ranks' processors.
    `doubt_ratio` has the factors by which each cause widens the interval, `calibration` says what
    the ledger changed. `library_asked` is the title of the library that was asked what operations
    take, `algorithms` are those of the operations, `not_asked` the reasons where it was not.
    """

    program: str
    machine: str
    method: str
    measured_s: float
    time_s: float
    low_s: float
    high_s: float
    error: float
    traced_on: str
    time_share: dict[str, float]
    forced: int = 0
    computing_ratio: dict[str, float] = field(default_factory=dict)
    launches: int = 1
    computing: Basis = AS_MEASURED
    doubt_ratio: dict[str, float] = field(default_factory=dict)
    calibration: str = ""
    placement: str = ""
    mpi: str = ""
    undisturbed_s: float = math.nan
    library_asked: str = ""
    algorithms: tuple[UsedAlgorithm, ...] = ()
    not_asked: tuple[str, ...] = ()

    @property
    def factor(self) -> float:
        """How many times longer or shorter the time may be; infinite if that is unknown."""
        if not 0 < self.low_s <= self.time_s <= self.high_s:
            return math.inf
        return max(self.high_s / self.time_s, self.time_s / self.low_s)

    @property
    def has_error(self) -> bool:
        """Whether an error is known: of a schedule, which nobody timed, there is none."""
        return not math.isnan(self.measured_s)

    @property
    def is_certain(self) -> bool:
        """Whether the interval is narrow enough for a headline, or there can be none."""
        return not self.has_error or self.factor <= FACTOR_MAX

    @property
    def is_within_error(self) -> bool:
        """Whether the traced time is inside the interval, so that no difference is shown."""
        return self.low_s <= self.undisturbed_s <= self.high_s

    @property
    def dominated_by(self) -> str:
        """The largest part of the predicted time."""
        return max(self.time_share, key=lambda name: self.time_share[name])

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf predict TRACE --json`; no time where the interval is too wide."""
        time_s = self.time_s if self.is_certain else None
        more = {"dominated_by": self.dominated_by, "within_error": self.is_within_error}
        return {**vars(self), "time_s": time_s, **more}


def predict_program(
    program: Program, target: Target, traced_on: Messages | None = None
) -> ProgramPrediction:
    """Predict the run time of a program on the target.

    Raises InputError if nothing was traced, the machine has no ping-pong or no room for all ranks.
    """
    if program.calls.is_empty() or program.elapsed_s <= 0:
        raise InputError(f"{program.path} holds no calls", "trace a program that uses MPI")
    origin_name = traced_on.machine.name if traced_on else ""
    costs = target.costs_of(program, origin_name)
    if not program.is_timed:
        return _of_schedule(program, target, costs)
    computing = target.computing
    (spent, forced), *bounds = _spent(
        program, [(costs, ratio) for ratio in (computing.mean_ratio, computing.low, computing.high)]
    )
    origin_spent = _as_traced(program, _Origin(traced_on))
    origin_s, time_s = _end_s(origin_spent), _end_s(spent)
    if target.simgrid:
        time_s = simulated_s(program, target, costs.hosts)
        if traced_on is not None:
            origin_s = _simulated_as_traced_s(program, _Origin(traced_on))
    alone_s = undisturbed_elapsed_s(program)
    error = origin_s / alone_s - 1 if alone_s > 0 else math.inf
    error_ratio = max(1 + error, 1 / (1 + error)) if origin_s > 0 else math.inf
    left_out_s = 0.0
    if traced_on is not None or not target.simgrid:
        left_out_s = max(0.0, alone_s - origin_s)
        time_s = time_s + left_out_s if error < 0 else time_s / (1 + error)
    method = SIMGRID if target.simgrid else TIMELINE if has_whole_timeline(program) else COUNTS
    low, high = _count_bounds(spent, origin_spent) if method == COUNTS else (1.0, 1.0)
    earliest_s, latest_s = _range_s(computing, time_s, spent, [bound for bound, _ in bounds])
    queued_s = max(0.0, _queued_s(program, target, costs) - _end_s(spent))
    guesses = guess_bounds(program, target, costs, _end_s(spent))
    once_s = first_use_s(program, target.messages, target.library)
    return ProgramPrediction(
        program.name,
        target.messages.machine.name,
        method,
        program.elapsed_s,
        time_s,
        max(0.0, earliest_s * low * guesses[0] / error_ratio - once_s),
        (latest_s * high * guesses[1] + queued_s) * error_ratio + once_s,
        error,
        origin_name,
        _shares(spent, left_out_s),
        forced,
        computing=target.computing.basis,
        doubt_ratio={
            REPLAY_DOUBT: error_ratio,
            COMPUTING_DOUBT: _factor(earliest_s, time_s, latest_s),
            COUNTS_DOUBT: _factor(low, 1.0, high),
            OPERATIONS_DOUBT: _factor(guesses[0], 1.0, guesses[1]),
            MESSAGES_DOUBT: _factor(time_s, time_s, time_s + queued_s),
            FIRST_USE_DOUBT: _factor(time_s - once_s, time_s, time_s + once_s),
        },
        **_target_fields(target, costs),
        undisturbed_s=alone_s,
    )


def _range_s(
    computing: ComputingRatio,
    time_s: float,
    spent: Sequence[Spent],
    bounds: Sequence[Sequence[Spent]],
) -> tuple[float, float]:
    """The least and the most of a time by how far the ratio of computing is known."""
    least_s, most_s = (_end_s(bound) - _end_s(spent) for bound in bounds)
    is_unknown = computing.basis == UNKNOWN and -least_s > COMPUTING_MOST * time_s
    return time_s + least_s, math.inf if is_unknown else time_s + most_s


def _target_fields(target: Target, costs: MachineCosts) -> dict[str, Any]:
    """What a prediction says of its target, and of the algorithms of operations there."""
    order = operator.attrgetter("operation", "ranks", "size_bytes", "algorithm")
    return {
        "computing_ratio": target.computing.each_ratio,
        "placement": target.placement,
        "mpi": target.library,
        "library_asked": target.answers.title if target.answers else "",
        "algorithms": () if target.simgrid else tuple(sorted(costs.used, key=order)),
        "not_asked": target.reasons,
    }


def _of_schedule(program: Program, target: Target, costs: MachineCosts) -> ProgramPrediction:
    """The prediction of calls whose times are unknown: there is nothing to hold it against."""
    ((spent, forced),) = _spent(program, [(costs, target.computing.mean_ratio)])
    basis = target.computing.basis
    return ProgramPrediction(
        program.name,
        target.messages.machine.name,
        SIMGRID if target.simgrid else TIMELINE,
        measured_s=math.nan,
        time_s=simulated_s(program, target, costs.hosts) if target.simgrid else _end_s(spent),
        low_s=math.nan,
        high_s=math.nan,
        error=math.nan,
        traced_on="",
        time_share=_shares(spent, 0.0),
        forced=forced,
        computing=AS_STATED if basis in (AS_MEASURED, UNKNOWN) else basis,
        **_target_fields(target, costs),
    )


@dataclass(frozen=True, eq=False)
class _Origin:
    """Where a program was traced; the same one is the same fact of a program."""

    traced_on: Messages | None

    def __eq__(self, origin: object) -> bool:
        return isinstance(origin, _Origin) and origin.traced_on is self.traced_on

    def __hash__(self) -> int:
        return id(self.traced_on)


@fact
def _as_traced(program: Program, origin: _Origin) -> list[Spent]:
    """The replay on the machine that the program was traced on, or with its own calls."""
    costs: Costs = (
        TracedCosts(program)
        if origin.traced_on is None
        else MachineCosts(origin.traced_on, program.hosts)
    )
    ((spent, _),) = _spent(program, [(costs, 1.0)])
    return spent


@fact
def _simulated_as_traced_s(program: Program, origin: _Origin) -> float:
    """Run time by SimGrid on the machine that the program was traced on."""
    if origin.traced_on is None:
        return math.nan
    return simulated_s(program, Target(origin.traced_on), program.hosts)


def _count_bounds(spent: Sequence[Spent], origin_spent: Sequence[Spent]) -> tuple[float, float]:
    """The shortest and the longest end over the usual one, since the order of calls is unknown."""
    end_s = _end_s(spent)
    if end_s <= 0:
        return 1.0, 1.0
    return max(actor.least_s for actor in spent) / end_s, longest_s(spent, origin_spent) / end_s


def guess_bounds(
    program: Program, target: Target, costs: MachineCosts, usual_s: float
) -> tuple[float, float]:
    """The shortest and the longest end over the usual one, by operations that are guessed, or that
    a library was asked for.
    """
    ratio = 1.0
    if any(row.is_asked for row in costs.used):
        ratio = AT_ONCE_RATIO if _waits_for_several(program) else ASKED_RATIO
    if not costs.guessed or usual_s <= 0:
        return 1 / ratio, ratio
    variants: list[Variant] = [
        (target.costs(costs.hosts, ratio), target.computing.mean_ratio)
        for ratio in (1 / GUESS_RATIO, GUESS_RATIO)
    ]
    shorter_s, longer_s = (_end_s(spent) for spent, _ in _spent(program, variants))
    return min(1.0, shorter_s / usual_s) / ratio, max(1.0, longer_s / usual_s) * ratio


def _waits_for_several(program: Program) -> bool:
    """Whether a wait completes several operations that are not asked together."""
    if not has_whole_timeline(program):
        return False
    script = undisturbed(program)
    is_alone = np.array([not sizes_beside(call) for call, _, _ in script.parts.works], bool)
    steps = script.parts.step[is_alone[script.parts.work]]
    waits = script.ended.step[np.isin(script.ended.completed, steps)]
    return len(np.unique(waits)) < len(waits)


def _queued_s(program: Program, target: Target, costs: MachineCosts) -> float:
    """The end if messages between nodes leave a rank, and come into one, one after the other, and
    those of both ways share what it moves; 0 where nobody knows.
    """
    is_known = has_whole_timeline(program) and target.messages.machine.network is not None
    if not is_known or target.simgrid:
        return 0.0
    script = undisturbed(program)
    if not 0 < len(script.route) <= QUEUES_MOST or len(set(costs.hosts)) < 2:
        return 0.0
    queued = target.costs(costs.hosts)
    queued.port_ratio, queued.rendezvous_bytes = 2.0, 1 << 62
    nothing = np.zeros(len(script.route))
    longer_s = (queued.of_routes(script.routes).port_s / 2)[script.route]
    order = replace(
        contention(script, queued),
        transits_s=longer_s,
        sends_s=nothing,
        receives_s=nothing,
        streams_bytes=nothing.astype(np.int64),
        operations_s=np.zeros(len(script.parts.step)),
    )
    return replay(script, queued, target.computing.mean_ratio, order).end_s


def _factor(low: float, middle: float, high: float) -> float:
    return max(high / middle, middle / low) if low > 0 and middle > 0 else math.inf


def simulated_s(program: Program, target: Target, hosts: Sequence[str]) -> float:
    """Run time by SimGrid; raises InputError without a timeline, MissingError without SimGrid."""
    from nhalf.exchange.program.replay_actions import AFTERWARDS_S, replay_actions
    from nhalf.measure.simulate.subject import simulated_actions_s

    actors = undisturbed(program).actors
    actions = replay_actions(program, target.computing.mean_ratio, actors=actors)
    return simulated_actions_s(target.messages, hosts, actions) - AFTERWARDS_S


def _spent(program: Program, variants: Sequence[Variant]) -> list[tuple[list[Spent], int]]:
    """The times of all ranks for each variant, and how many sends had to be forced in it.

    What is asked for twice is computed once.
    """
    distinct = list(dict.fromkeys(variants))
    if has_whole_timeline(program):
        results = [(replay.spent, replay.forced) for replay in replays(program, distinct)]
    else:
        results = [(counted(program, costs, computing), 0) for costs, computing in distinct]
    return [results[distinct.index(variant)] for variant in variants]


def _end_s(spent: Sequence[Spent]) -> float:
    return max(actor.end_s for actor in spent)


def _shares(spent: Sequence[Spent], left_out_s: float) -> dict[str, float]:
    """The share of each part in the time of all ranks."""
    parts = {
        "computing": [actor.computing_s for actor in spent],
        "messages": [actor.messages_s for actor in spent],
        "collective operations": [actor.collectives_s for actor in spent],
        "waiting": [actor.waiting_s for actor in spent],
    }
    if left_out_s > 0:
        parts[UNEXPLAINED] = [left_out_s] * len(spent)
    total = sum(map(sum, parts.values()))
    return {
        name: float(np.sum(values_s) / total) if total else 0.0 for name, values_s in parts.items()
    }

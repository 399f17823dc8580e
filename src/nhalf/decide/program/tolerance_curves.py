"""The run time of a program as a curve of what is added to latency, bytes, computing ..., with
intervals: how much it tolerates.

A slow-down is the difference of two replays, added to the measured time. Its interval has what may
be wrong with it:

- the replay: the slow-down times, and over, the ratio of the replayed and the measured time of the
  program as it was;
- operations of several ranks: from as few to as many messages, one after the other, as algorithms
  have (operation_paths.py);
- what a replay leaves out, such as messages that overtake others on the way: LEAST_DOUBT;
- the program's own time: other rounds of what it repeats, drawn from its own, and of
  several traces the hull of theirs.

It does not cover a library that chooses other algorithms on the slower network.

The time of a replay is convex in what is added to each message, since it is the longest of many
paths, each with its number of messages: a secant finds where a hundredth is lost.

Most programs repeat themselves: a call that comes back again and again divides the time into
rounds. What a replay loses in each is a sample; as many rounds drawn from it, with replacement, are
another run of a program like this one (the bootstrap: B. Efron, Annals of Statistics 7, 1979). What
is lost outside the rounds is taken as it is.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.collection import without_collection
from nhalf.base.errors import InputError
from nhalf.decide.program.launches import check_same
from nhalf.decide.program.operation_paths import Paths, fewest_path, most_path
from nhalf.decide.program.replay import Replay
from nhalf.decide.program.slowdown import NETWORK, NOISE, PARAMETERS, Slowdown, first_of, most_of
from nhalf.decide.program.undisturbed_program import disturbance_doubt_ratio, undisturbed_elapsed_s
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program, has_whole_timeline
from nhalf.facts.program.schedule import Actor
from nhalf.machines.message import Messages
from nhalf.models.convex import bends, crossing

ROUNDS_MIN, ROUNDS_MAX = 5, 1000
COVERED_MIN = 0.25
"""Rounds that cover less of a program's time say nothing of it."""
UNEQUAL_MAX = 0.5
"""Rounds whose lengths have a larger deviation, over their mean, are no rounds."""
DRAWS = 400
COVERED = 0.95
_SEED = 1


def lost_by_round_s(usual: Replay, slower: Replay) -> Floats:
    """What a slower replay loses in each round of the actor that ends last, seconds; nothing in it
    if that actor repeats nothing.
    """
    before_s, after_s = usual.ends_s(slower.last), slower.ends_s(slower.last)
    places = _best(slower.actor, before_s)
    lost_s = (after_s - before_s)[places]
    return np.diff(lost_s[np.isfinite(lost_s)]) if len(lost_s) else np.zeros(0)


def doubt_s(lost_s: Floats) -> tuple[float, float]:
    """How far below and above its sum the sum of other rounds is, with COVERED, seconds."""
    if len(lost_s) < ROUNDS_MIN:
        return 0.0, 0.0
    draws = np.random.default_rng(_SEED).choice(lost_s, (DRAWS, len(lost_s)))
    tail = 0.5 * (1 - COVERED)
    low_s, high_s = np.quantile(draws.sum(axis=1), [tail, 1 - tail])
    whole_s = float(lost_s.sum())
    return max(0.0, whole_s - float(low_s)), max(0.0, float(high_s) - whole_s)


def _best(actor: Actor, ends_s: Floats) -> NDArray[np.int64]:
    """The places of the call that divides most of the time into rounds, the longest ones."""
    best, best_score = np.zeros(0, np.int64), (0.0, 0.0)
    whole_s = float(ends_s[-1])
    for places in _repeated(actor):
        moments_s = ends_s[places]
        lengths_s = np.diff(moments_s[np.isfinite(moments_s)])
        if len(lengths_s) < ROUNDS_MIN or whole_s <= 0:
            continue
        covered, mean_s = float(lengths_s.sum()) / whole_s, float(lengths_s.mean())
        if covered < COVERED_MIN or float(lengths_s.std()) > UNEQUAL_MAX * mean_s:
            continue
        score = (round(covered, 1), mean_s)
        if score > best_score:
            best, best_score = places, score
    return best


def _repeated(actor: Actor) -> Iterator[NDArray[np.int64]]:
    """The places of each call with its partner and size that an actor makes often."""
    if not len(actor.form):
        return
    keys = np.column_stack([actor.form, actor.column("partner"), actor.column("size_bytes")])
    _, key, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(key.ravel(), kind="stable")
    for places in np.split(order, np.cumsum(counts)[:-1]):
        if ROUNDS_MIN < len(places) <= ROUNDS_MAX:
            yield places


LOSS = 0.01
"""The share of the run time that is lost."""
ACCURACY = 1e-7
"""The share of the run time to which its loss is found."""
CALLS_MAX = 10_000
"""Dozens of replays of a longer timeline take a while: its curves are for who asks for them."""
SMALL = 1e-3
"""The share of what costs LOSS that shows the first slope."""


@dataclass(frozen=True)
class Tolerance:
    """What may be added to a parameter before LOSS is lost, None if no amount costs that much:
    seconds for each message (of `byte_s`: each byte), or a share of computing.

    `slope` is by how many seconds the run time grows with the first second that is added: how
    many messages (bytes) are on the critical path, or how much computing is.
    """

    parameter: str
    added: float | None
    slope: float


def tolerance(slowdown: Slowdown, parameter: str, loss: float = LOSS) -> Tolerance:
    """What may be added to a parameter."""
    usual_s = slowdown.at(parameter, 0.0)
    if usual_s <= 0:
        return Tolerance(parameter, None, 0.0)
    added = _costing(slowdown, parameter, loss)
    small = SMALL * (most_of(parameter, usual_s) if added is None else added)
    return Tolerance(parameter, added, (slowdown.at(parameter, small) - usual_s) / small)


def _costing(slowdown: Slowdown, parameter: str, loss: float) -> float | None:
    """What costs a share of the run time; None if no amount does."""
    usual_s = slowdown.at(parameter, 0.0)
    ends = first_of(parameter), most_of(parameter, usual_s)
    time_s = partial(slowdown.at, parameter)
    return crossing(time_s, usual_s, usual_s * (1 + loss), ACCURACY * usual_s, *ends)


@fact
def is_long(program: Program) -> bool:
    """Whether its timeline is longer than `tolerances` replays."""
    return len(program.timeline) > CALLS_MAX


@fact
def tolerances(program: Program) -> tuple[Tolerance, ...]:
    """The tolerance of each parameter; none without a timeline, or of one beyond CALLS_MAX."""
    if not has_whole_timeline(program) or program.elapsed_s <= 0 or is_long(program):
        return ()
    slowdown = Slowdown(program)
    with without_collection():
        return tuple(tolerance(slowdown, parameter) for parameter in PARAMETERS)


POINTS = 10
LOSS_SHOWN = 0.2
"""A curve ends where this share of the run time is lost."""
LEAST_DOUBT = 0.02
"""A share of the slow-down, if nothing else is in doubt; see docs/benchmarks/predictions.md."""
STEP = 1e-6
"""The step of slopes, as a share of a curve's end."""


@dataclass(frozen=True)
class TolerancePoint:
    """The run time with an amount added, its interval in seconds, and the slope: how many messages
    (bytes, seconds of computing) the path has that is the longest then.
    """

    added: float
    time_s: float
    low_s: float
    high_s: float
    slope: float


@dataclass(frozen=True)
class ToleranceCurve:
    """The run time by what is added to a parameter, without what others took of the processors.

    `tolerated` is what costs LOSS, and lies between `tolerated_low` and `tolerated_high`; None
    where no amount of the curve costs that much. At each of `bends` another path becomes the
    longest. `slow_ranks` are those of the slow node.
    """

    parameter: str
    measured_s: float
    points: tuple[TolerancePoint, ...]
    bends: tuple[float, ...]
    tolerated: float | None
    tolerated_low: float | None
    tolerated_high: float | None
    slow_ranks: tuple[int, ...] = ()


def curves(
    programs: Sequence[Program],
    traced_on: Messages | None = None,
    parameters: Sequence[str] = PARAMETERS,
) -> list[ToleranceCurve]:
    """The curve of each parameter, of one program that was traced once or several times.

    Raises InputError without timelines, and for traces of different programs.
    """
    check_same(programs)
    for program in programs:
        if not has_whole_timeline(program) or program.elapsed_s <= 0:
            message = f"{program.path} has no whole timeline, so it says nothing of slower networks"
            raise InputError(message, "trace the program again with --detail timeline")
    launches = [SlowedLaunch(program, traced_on) for program in programs]
    with without_collection():
        return [_curve(launches, parameter) for parameter in parameters]


@fact
def network_curves(program: Program) -> list[ToleranceCurve]:
    """The curves of the network; none without a timeline, or of a long one."""
    if not has_whole_timeline(program) or is_long(program) or program.elapsed_s <= 0:
        return []
    return [curve for curve in curves([program], parameters=NETWORK) if curve.points]


class SlowedLaunch:
    """One launch of a program, with its slow-downs; of operations whose `paths` are known, these
    are in no doubt.
    """

    def __init__(
        self, program: Program, traced_on: Messages | None = None, paths: Paths | None = None
    ) -> None:
        self.slowdown = Slowdown(program, traced_on, paths)
        self._has_paths = paths is not None
        self.measured_s = undisturbed_elapsed_s(program)
        self._usual = self.slowdown.followed(PARAMETERS[0], 0.0)
        error = self._usual.end_s / self.measured_s
        self._error_ratio = max(error, 1 / error) if error > 0 else math.inf
        self._error_ratio *= disturbance_doubt_ratio(program)

    def lost_s(self, parameter: str, added: float) -> tuple[float, float, float]:
        """What is lost by an amount, and the ends of its interval, in seconds."""
        if added == 0:
            return 0.0, 0.0, 0.0
        usual_s = self._usual.end_s
        lost_s = self.slowdown.at(parameter, added) - usual_s
        variants_s = [lost_s]
        if parameter == NOISE:
            variants_s += [end_s - usual_s for end_s in self.slowdown.draws_s(added)]
        elif parameter in NETWORK and not self._has_paths:
            variants_s += [
                self.slowdown.at(parameter, added, paths) - usual_s
                for paths in (fewest_path, most_path)
            ]
        followed = self.slowdown.followed(parameter, added)
        below_s, above_s = doubt_s(lost_by_round_s(self._usual, followed))
        low_s = max(0.0, (1 - LEAST_DOUBT) * min(variants_s) / self._error_ratio - below_s)
        high_s = (1 + LEAST_DOUBT) * max(variants_s) * self._error_ratio + above_s
        return lost_s, low_s, high_s

    def slope(self, parameter: str, added: float, step: float) -> float:
        """By how much the run time grows with what is added, at an amount."""
        at = self.slowdown.at
        return (at(parameter, added + step) - at(parameter, added)) / step


def _curve(launches: Sequence[SlowedLaunch], parameter: str) -> ToleranceCurve:
    first = launches[0].slowdown
    end = _costing(first, parameter, LOSS_SHOWN)
    measured_s = median(launch.measured_s for launch in launches)
    if end is None:
        return ToleranceCurve(parameter, measured_s, (), (), None, None, None, first.slow_ranks)
    step = STEP * end
    points = [
        _point(launches, parameter, float(added), step, measured_s)
        for added in np.linspace(0.0, end, POINTS + 1)
    ]
    tolerated = [tolerance(launch.slowdown, parameter).added for launch in launches]
    amounts = [added for added in tolerated if added is not None]
    return ToleranceCurve(
        parameter,
        measured_s,
        tuple(points),
        tuple(bends(partial(first.at, parameter), end, step, ACCURACY * first.at(parameter, 0.0))),
        # None if one of the launches tolerates everything.
        median(amounts) if len(amounts) == len(tolerated) else None,
        _reached(points, [point.high_s for point in points], measured_s),
        _reached(points, [point.low_s for point in points], measured_s),
        first.slow_ranks,
    )


def _point(
    launches: Sequence[SlowedLaunch], parameter: str, added: float, step: float, measured_s: float
) -> TolerancePoint:
    """The median of launches, and the hull of their intervals."""
    lost = [launch.lost_s(parameter, added) for launch in launches]
    return TolerancePoint(
        added,
        measured_s + median(middle_s for middle_s, _, _ in lost),
        measured_s + min(low_s for _, low_s, _ in lost),
        measured_s + max(high_s for _, _, high_s in lost),
        median(launch.slope(parameter, added, step) for launch in launches),
    )


def _reached(
    points: Sequence[TolerancePoint], times_s: Sequence[float], measured_s: float
) -> float | None:
    """Where an end of the intervals reaches the loss of LOSS; None if it does nowhere."""
    target_s = measured_s * (1 + LOSS)
    growing_s = np.maximum.accumulate(times_s)
    if growing_s[-1] < target_s:
        return None
    return float(np.interp(target_s, growing_s, [point.added for point in points]))

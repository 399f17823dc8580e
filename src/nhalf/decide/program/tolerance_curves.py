"""The run time of a program as a curve of what is added to latency, bytes, computing ..., with
intervals: how much it tolerates.

A slow-down is the difference of two replays, added to the measured time. Its interval has what may
be wrong with it:

- the replay: the slow-down times, and over, the ratio of the replayed and the measured time of the
  program as it was;
- operations of several ranks: from as few to as many messages, one after the other, as algorithms
  have (operation_paths.py);
- what a replay leaves out, such as messages that overtake others on the way: LEAST_DOUBT;
- the program's own time: other rounds of what it repeats, drawn from its own (rounds.py), and of
  several traces the hull of theirs.

It does not cover a library that chooses other algorithms on the slower network.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np

from nhalf.base.collection import without_collection
from nhalf.base.errors import InputError
from nhalf.base.rows import Row
from nhalf.decide.program.convex import bends, crossing
from nhalf.decide.program.launches import check_same
from nhalf.decide.program.operation_paths import Paths, fewest_path, most_path
from nhalf.decide.program.rounds import doubt_s, lost_by_round_s
from nhalf.decide.program.slowdown import (
    NETWORK,
    NOISE,
    PARAMETERS,
    Slowdown,
    first_of,
    most_of,
)
from nhalf.decide.program.tolerance import ACCURACY, LOSS, Tolerance, is_long, tolerance
from nhalf.decide.program.undisturbed_program import disturbance_doubt_ratio, undisturbed_elapsed_s
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program, has_whole_timeline
from nhalf.machines.message import Messages

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

    def as_json(self) -> Row:
        """Its fields by their names."""
        return asdict(self)


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
            raise InputError(
                f"{program.path} has no whole timeline, so it says nothing of slower networks",
                "trace the program again with --detail timeline",
            )
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
    usual_s = first.at(parameter, 0.0)

    def time_s(added: float) -> float:
        return first.at(parameter, added)

    end = crossing(
        time_s,
        usual_s,
        usual_s * (1 + LOSS_SHOWN),
        ACCURACY * usual_s,
        first_of(parameter),
        most_of(parameter, usual_s),
    )
    measured_s = median(launch.measured_s for launch in launches)
    if end is None:
        return ToleranceCurve(parameter, measured_s, (), (), None, None, None, first.slow_ranks)
    step = STEP * end
    points = [
        _point(launches, parameter, float(added), step, measured_s)
        for added in np.linspace(0.0, end, POINTS + 1)
    ]
    tolerated = [tolerance(launch.slowdown, parameter) for launch in launches]
    return ToleranceCurve(
        parameter,
        measured_s,
        tuple(points),
        tuple(bends(time_s, end, step, ACCURACY * usual_s)),
        _middle(tolerated),
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


def _middle(tolerated: Sequence[Tolerance]) -> float | None:
    """The median of what launches tolerate, None if one of them tolerates everything."""
    amounts = [launch.added for launch in tolerated if launch.added is not None]
    return median(amounts) if len(amounts) == len(tolerated) else None


def _reached(
    points: Sequence[TolerancePoint], times_s: Sequence[float], measured_s: float
) -> float | None:
    """Where an end of the intervals reaches the loss of LOSS; None if it does nowhere."""
    target_s = measured_s * (1 + LOSS)
    growing_s = np.maximum.accumulate(times_s)
    if growing_s[-1] < target_s:
        return None
    return float(np.interp(target_s, growing_s, [point.added for point in points]))

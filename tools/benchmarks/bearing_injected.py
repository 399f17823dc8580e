"""How near is a predicted slow-down to what an injected delay costs on a real library?

Delays are chosen so that a timeline predicts a slow-down of some per cent for them. Launches with
each of them and two without are made in turns, and each is compared with those of its own turn,
without what other programs took of the processors. A delay of an operation of several ranks is a
model on both sides: as many messages as its usual algorithm has.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.bearing import delay_name
from benchmarks.pages import table
from benchmarks.traced_launches import PROXIES, Work, kept_folder, traced
from nhalf.base.collection import without_collection
from nhalf.base.numbers import percent, share_span
from nhalf.base.units import format_time
from nhalf.decide.program.operation_paths import usual_path
from nhalf.decide.program.slowdown import BYTE, LATENCY, OVERHEAD, Slowdown
from nhalf.decide.program.tolerance_curves import SlowedLaunch, tolerance
from nhalf.decide.program.undisturbed_program import undisturbed_elapsed_s
from nhalf.statistics.intervals import launch_interval

VENDOR = "mpich"
WORKS = (
    Work("cg", "A"),
    Work("ep", "A"),
    Work("ft", "A"),
    Work("is", "B"),
    Work("lu", "A"),
    Work("mg", "A"),
    *(Work(name) for name in PROXIES),
)
"""The kernels that run on two ranks, BT and SP want a square of them; long enough that launches do
not differ by more than some per cent."""
LOSSES = {LATENCY: (0.01, 0.03, 0.05, 0.1, 0.2), OVERHEAD: (0.03, 0.1), BYTE: (0.03, 0.1)}
"""What the points of a parameter are predicted to cost."""
LAUNCHES_MAX = 6
SMALLEST_S = 1e-12
"""A delay has picoseconds."""


@dataclass(frozen=True)
class Point:
    """What a delay costs, as shares of the run time: predicted, and in launches."""

    program: str
    parameter: str
    added_s: float
    predicted_share: float
    low_share: float
    high_share: float
    lost_share: float
    lost_low_share: float
    lost_high_share: float

    @property
    def error(self) -> float:
        """Predicted minus lost, as a share of the run time as it was."""
        return self.predicted_share - self.lost_share

    @property
    def agrees(self) -> bool:
        """Whether both intervals have something in common."""
        return self.low_share <= self.lost_high_share and self.lost_low_share <= self.high_share


def measure(runs: int) -> tuple[Any, str]:
    """All programs; `runs` turns of each, with a launch for each delay and two without."""
    launches = min(runs, LAUNCHES_MAX)
    folder = kept_folder("injected")
    load = os.getloadavg()[0]
    points = [point for work in WORKS for point in _compared(work, launches, folder)]
    load = max(load, os.getloadavg()[0])
    spread = median(_differ(work, folder, turn) for work in WORKS for turn in range(launches))
    figures = {
        "launches": launches,
        "load": load,
        "spread_share": spread,
        "points": [{**asdict(point), "error": point.error} for point in points],
    }
    shutil.rmtree(folder)
    return figures, page(points, launches, load, spread)


def _differ(work: Work, folder: Path, turn: int) -> float:
    """How far the two launches without a delay of a turn are apart, as a share."""
    first_s, middle_s = (
        undisturbed_elapsed_s(traced(work, VENDOR, folder, 2 * turn + part)) for part in (0, 1)
    )
    return abs(math.log(first_s / middle_s))


def _delays(work: Work, folder: Path) -> list[tuple[str, float]]:
    """Parameters and amounts that a first launch predicts to cost LOSSES."""
    slowdown = Slowdown(traced(work, VENDOR, folder, 0), paths=usual_path)
    with without_collection():
        wanted = [
            (parameter, tolerance(slowdown, parameter, loss).added)
            for parameter, losses in LOSSES.items()
            for loss in losses
        ]
    return [
        (parameter, _rounded(added_s))
        for parameter, added_s in wanted
        if added_s is not None and added_s > SMALLEST_S
    ]


def _rounded(added_s: float) -> float:
    """Three digits of an amount."""
    return float(f"{added_s:.3g}")


def _compared(work: Work, launches: int, folder: Path) -> list[Point]:
    """The points of one program."""
    delays = _delays(work, folder)
    half = len(delays) // 2
    lost: dict[tuple[str, float], list[float]] = {delay: [] for delay in delays}
    for number in range(launches):
        # The launches without a delay are at the begin and in the middle of a turn.
        first = traced(work, VENDOR, folder, 2 * number)
        times_s = {delay: _slower_s(work, delay, folder, number) for delay in delays[:half]}
        middle = traced(work, VENDOR, folder, 2 * number + 1)
        times_s |= {delay: _slower_s(work, delay, folder, number) for delay in delays[half:]}
        usual_s = math.exp(fmean(math.log(undisturbed_elapsed_s(one)) for one in (first, middle)))
        for delay, slower_s in times_s.items():
            lost[delay].append(slower_s / usual_s)
    predicted = SlowedLaunch(traced(work, VENDOR, folder, 0), paths=usual_path)
    points = [_point(work, delay, predicted, ratios) for delay, ratios in lost.items()]
    for point in points:
        sys.stderr.write(f"{point}\n")
    return points


def _slower_s(work: Work, delay: tuple[str, float], folder: Path, number: int) -> float:
    parameter, added_s = delay
    program = traced(work, VENDOR, folder, number, [f"{delay_name(parameter)}={added_s!r}s"])
    return undisturbed_elapsed_s(program)


def _point(
    work: Work, delay: tuple[str, float], predicted: SlowedLaunch, ratios: Sequence[float]
) -> Point:
    with without_collection():
        lost_s, low_s, high_s = predicted.lost_s(*delay)
    whole_s = predicted.measured_s
    lost = launch_interval(ratios)
    return Point(
        work.title,
        *delay,
        lost_s / whole_s,
        low_s / whole_s,
        high_s / whole_s,
        lost.median - 1,
        lost.low - 1,
        lost.high - 1,
    )


NOTE = """MPICH on {ranks} ranks of this machine. Delays are those that one timeline predicts to \
cost 1 to 20 %; `nhalf trace --inject` injects them; {launches} launches of each in turns with two \
without, at a load of {load:.1f} on {cores} cores. *Lost* is the ratio to those of the same turn, \
with its interval over launches; all is without what other programs took. The error is a share of \
the run time: {middle} in the median, {worst} at most. {agree} of {points} agree: their intervals \
have something in common. Two launches of a program without a delay differ by {spread} in the \
median, which is what limits the errors: in virtual time, where launches are equal, they are \
[those of a slower machine](#bearing)."""


def page(points: Sequence[Point], launches: int, load: float, spread: float) -> str:
    """The page: each program and delay."""
    errors = [abs(point.error) for point in points]
    note = NOTE.format(
        ranks=WORKS[0].ranks,
        launches=launches,
        load=load,
        spread=percent(spread, 1),
        cores=os.cpu_count(),
        middle=percent(median(errors), 1) if errors else "–",
        worst=percent(max(errors), 1) if errors else "–",
        agree=sum(point.agrees for point in points),
        points=len(points),
    )
    rows = [
        [
            point.program,
            delay_name(point.parameter),
            format_time(point.added_s),
            percent(point.predicted_share, 1),
            share_span(point.low_share, point.high_share),
            percent(point.lost_share, 1, signed=True),
            share_span(point.lost_low_share, point.lost_high_share),
            percent(point.error, 1, signed=True),
            "yes" if point.agrees else "no",
        ]
        for point in points
    ]
    head = ["program", "what", "added", "predicted", "interval", "lost", "interval", "error"]
    return table("Predicted slow-downs beside injected delays", note, [*head, "agree"], rows)

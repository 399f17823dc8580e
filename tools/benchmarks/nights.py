"""How often do nights without a change raise an alarm, and is a slower curve named first?

`python tools/benchmarks/nights.py 1000` prints a table of docs/guide/as-fast-as-it-was.md: nights
of eight curves, drawn at random, judged as `nhalf check --against` does. Runs differ by
BETWEEN_RUNS of the variance of usual launches beyond their launches, half of it for all curves
alike. `python tools/benchmarks/nights.py 1000 0.1` has launches that differ by 10 %, not by 5 %.
`python tools/benchmarks/nights.py 400 pursued` prints the table of nights that spend the end of
their time on the curves that look slowest, as `run --like --budget` does (cli/outcome.py); the
start of a launch takes as long as one of its curves.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nhalf.cli.outcome import FIRST_SHARE, PURSUED_SHARE
from nhalf.experiment.selftest.simulated_nights import CURVES, PLANTED, SIZE_NOISE, TOLERANCE
from nhalf.statistics.between_runs import shares_between_runs
from nhalf.statistics.family import CurveErrors
from nhalf.statistics.next_run import BETWEEN_RUNS
from nhalf.statistics.ratio_intervals import Estimates, LaunchLogs, logs_apart, paired_logs
from nhalf.statistics.same_state import LAUNCHES_MIN

SIZES = 8
LAUNCHES = (5, 12, 20, 30)
DEVIATION = 0.05
HEAVY_DEGREES = 3
STATE_RATIO = 1.5
Floats = NDArray[np.float64]
Shape = tuple[int, ...]
Draw = Callable[[np.random.Generator, Shape, float], Floats]


def normal(random: np.random.Generator, shape: Shape, deviation: float) -> Floats:
    """As most of the theory assumes."""
    return random.normal(0, deviation, shape)


def heavy(random: np.random.Generator, shape: Shape, deviation: float) -> Floats:
    """Student's distribution, with the quartiles of the normal one."""
    return deviation * random.standard_t(HEAVY_DEGREES, shape) * 0.6745 / 0.7649


def two_states(random: np.random.Generator, shape: Shape, deviation: float) -> Floats:
    """One launch in seven is in a state that is slower."""
    slow = math.log(STATE_RATIO) * (random.random(shape) < 1 / 7)
    return slow + random.normal(0, deviation, shape)


def even_states(random: np.random.Generator, shape: Shape, deviation: float) -> Floats:
    """Half of the launches are in a state that is slower."""
    slow = math.log(STATE_RATIO) * (random.random(shape) < 0.5)
    return slow + random.normal(0, deviation, shape)


def disturbed(random: np.random.Generator, shape: Shape, deviation: float) -> Floats:
    """Launches disturb all curves together: seven tenths of the variance are common."""
    common = random.normal(0, deviation, (1, *shape[1:]))
    return math.sqrt(0.7) * common + math.sqrt(0.3) * random.normal(0, deviation, shape)


def hung(random: np.random.Generator, shape: Shape, deviation: float) -> Floats:
    """One launch in twelve takes seven times as long, on one curve."""
    return math.log(7) * (random.random(shape) < 1 / 12) + random.normal(0, deviation, shape)


def hung_together(random: np.random.Generator, shape: Shape, deviation: float) -> Floats:
    """One launch in twelve takes seven times as long, on all curves."""
    slow = random.random((1, *shape[1:])) < 1 / 12
    return math.log(7) * slow + random.normal(0, deviation, shape)


DRAWS: dict[str, Draw] = {
    "normal": normal,
    "heavy tails": heavy,
    "two states, 1 in 7 slower": two_states,
    "two states, half slower": even_states,
    "disturbed together": disturbed,
    "1 in 12 hung": hung,
    "1 in 12 hung, all curves": hung_together,
}


def side(random: np.random.Generator, draw: Draw, launches: int, deviation: float) -> Floats:
    """Logarithms of one night's times: (curves, launches, sizes)."""
    levels = draw(random, (CURVES, launches, 1), deviation)
    of_run = math.sqrt(BETWEEN_RUNS / 2) * deviation
    levels = levels + random.normal(0, of_run, (CURVES, 1, 1)) + random.normal(0, of_run)
    noise: Floats = random.normal(0, SIZE_NOISE, (CURVES, launches, SIZES))
    return levels + noise


def estimates_of(curves: Sequence[LaunchLogs]) -> list[Estimates]:
    """The estimates of the curves of two runs."""
    shares = shares_between_runs(curves)
    return [curve.estimates(share) for curve, share in zip(curves, shares, strict=True)]


def slower(curves: Sequence[LaunchLogs]) -> dict[int, float]:
    """The curves that are called slower, with the logarithm of what is certain of each."""
    estimates = estimates_of(curves)
    errors = CurveErrors.of_family(estimates, math.log(1 + TOLERANCE), 1)
    found = {}
    for number, of_curve in enumerate(estimates):
        centre, low, _ = errors.ends(of_curve)
        is_slower = (low > 0) & (centre > math.log(1 + TOLERANCE))
        if is_slower.any():
            found[number] = float(low[is_slower].max())
    return found


def logs_of(a: Floats, b: Floats, paired: bool) -> LaunchLogs:
    """One curve of both nights."""
    if paired:
        return paired_logs(b - a, LAUNCHES_MIN)
    return logs_apart(a, b, np.median(b, axis=0) - np.median(a, axis=0), LAUNCHES_MIN)


def rates(
    nights: int, draw: Draw, launches: int, deviation: float, paired: bool
) -> tuple[int, int]:
    """Nights without a change that raise an alarm, and those in which the slower curve is first."""
    random = np.random.default_rng(1)
    alarms = first = 0
    for _ in range(nights):
        a, b = (side(random, draw, launches, deviation) for _ in range(2))
        curves = [logs_of(*sides, paired) for sides in zip(a, b, strict=True)]
        alarms += bool(slower(curves))
        curves[0] = logs_of(a[0], b[0] + math.log(PLANTED), paired)
        found = slower(curves)
        first += 0 in found and found[0] == max(found.values())
    return alarms, first


def pursued_launches(a: Floats, b: Floats, launches: int) -> list[int]:
    """The launches of each curve in a night that has time for `launches` of all of them."""
    first = max(LAUNCHES_MIN, round(FIRST_SHARE * launches))
    curves = [logs_of(before, now[:first], False) for before, now in zip(a, b, strict=True)]
    steps = [one.mean_ratio[0] / one.error[0] for one in estimates_of(curves)]
    count = max(1, round(PURSUED_SHARE * CURVES))
    further = (launches - first) * (1 + CURVES) // (1 + count)
    slowest = np.argsort(steps)[-count:]
    return [first + further * (number in slowest) for number in range(CURVES)]


def pursued_rates(nights: int, draw: Draw, launches: int, deviation: float) -> list[int]:
    """Nights without a change that raise an alarm, and those in which the slower curve is first:
    with equal launches of all curves, and with those that look slowest pursued.
    """
    random = np.random.default_rng(11)
    counts = [0, 0, 0, 0]
    for _ in range(nights):
        a, b = (side(random, draw, number, deviation) for number in (launches, 6 * launches))
        for planted in (1.0, PLANTED):
            now = b.copy()
            now[0] += math.log(planted)
            for is_pursued in (False, True):
                numbers = pursued_launches(a, now, launches) if is_pursued else [launches] * CURVES
                sides = zip(a, now, numbers, strict=True)
                found = slower([logs_of(x, y[:number], False) for x, y, number in sides])
                is_first = 0 in found and found[0] == max(found.values())
                counts[is_pursued + 2 * (planted > 1)] += is_first if planted > 1 else bool(found)
    return counts


def main_pursued(nights: int) -> None:
    """Print a row for each number of launches: alarms, then named first, each without and with."""
    for name, deviation in (("normal", 0.05), ("disturbed together", 0.05), ("normal", 0.1)):
        for launches in (5, 8, 12):
            counts = pursued_rates(nights, DRAWS[name], launches, deviation)
            cells = " | ".join(f"{count / nights:.1%}" for count in counts)
            sys.stdout.write(f"| {name} | {deviation:.0%} | {launches} | {cells} |\n")
            sys.stdout.flush()


def main(nights: int, deviation: float = DEVIATION, paired: bool = False) -> None:
    """Print a row for each kind of launches: alarms, then named first, by number of launches."""
    for name, draw in DRAWS.items():
        counts = [rates(nights, draw, number, deviation, paired) for number in LAUNCHES]
        cells = [f"{alarms / nights:.1%}" for alarms, _ in counts]
        cells += [f"{first / nights:.0%}" for _, first in counts]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[2:] == ["pursued"]:
        main_pursued(int(sys.argv[1]))
    else:
        deviation = float(sys.argv[2]) if len(sys.argv) > 2 else DEVIATION
        main(int(sys.argv[1]), deviation, sys.argv[3:] == ["paired"])

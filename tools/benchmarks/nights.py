"""How often do nights without a change raise an alarm, and is a slower curve named first?

`python tools/benchmarks/nights.py 200` prints the table of docs/guide/as-fast-as-it-was.md: nights
of eight curves, drawn at random, judged as `nhalf check --against` does. Launches of a usual curve
differ by `deviation`, those of others by a factor whose logarithm has the deviation UNLIKE, with a
correlation between curves, since a launch disturbs them together; runs differ by BETWEEN_RUNS of
that variance beyond their launches, half of it for all curves alike.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nhalf.decide.between_runs import shares_between_runs
from nhalf.decide.family import CurveErrors
from nhalf.decide.launch_variances import with_common_variances
from nhalf.decide.ratio_intervals import LaunchLogs, logs_apart
from nhalf.experiment.selftest.simulated_nights import CURVES, PLANTED, SIZE_NOISE, TOLERANCE
from nhalf.statistics.next_run import BETWEEN_RUNS
from nhalf.statistics.same_state import LAUNCHES_MIN

SIZES = 8
LAUNCHES = (5, 12)
DEVIATIONS = (0.02, 0.05, 0.10)
UNLIKE = 0.4
CORRELATIONS = (0.0, 0.7)
Floats = NDArray[np.float64]


def side(
    random: np.random.Generator, launches: int, deviations: Floats, correlation: float
) -> Floats:
    """Logarithms of one night's times: (curves, launches, sizes)."""

    def partly_common(shape: tuple[int, ...], share: float) -> Floats:
        common, own = random.normal(0, 1, (1, *shape)), random.normal(0, 1, (CURVES, *shape))
        partly: Floats = math.sqrt(share) * common + math.sqrt(1 - share) * own
        return partly

    levels = partly_common((launches, 1), correlation)
    levels += math.sqrt(BETWEEN_RUNS) * partly_common((1, 1), 0.5)
    noise: Floats = random.normal(0, SIZE_NOISE, (CURVES, launches, SIZES))
    return deviations * levels + noise


def slower(curves: Sequence[LaunchLogs]) -> dict[int, float]:
    """The curves that are called slower, with the logarithm of what is certain of each."""
    curves = with_common_variances(curves)
    shares = shares_between_runs(curves)
    estimates = [curve.estimates(share) for curve, share in zip(curves, shares, strict=True)]
    errors = CurveErrors.of_family(estimates, math.log(1 + TOLERANCE), 1)
    found = {}
    for number, of_curve in enumerate(estimates):
        centre, low, _ = errors.ends(of_curve)
        is_slower = (low > 0) & (centre > math.log(1 + TOLERANCE))
        if is_slower.any():
            found[number] = float(low[is_slower].max())
    return found


def logs_of(a: Floats, b: Floats) -> LaunchLogs:
    """One curve of both nights."""
    return logs_apart(a, b, np.median(b, axis=0) - np.median(a, axis=0), LAUNCHES_MIN)


def rates(nights: int, launches: int, deviation: float, correlation: float) -> tuple[int, int]:
    """Nights without a change that raise an alarm, and those in which the slower curve is first."""
    random = np.random.default_rng(1)
    alarms = first = 0
    for _ in range(nights):
        deviations = deviation * np.exp(random.normal(0, UNLIKE, (CURVES, 1, 1)))
        a, b = (side(random, launches, deviations, correlation) for _ in range(2))
        curves = [logs_of(*sides) for sides in zip(a, b, strict=True)]
        alarms += bool(slower(curves))
        curves[0] = logs_of(a[0], b[0] + math.log(PLANTED))
        found = slower(curves)
        first += 0 in found and found[0] == max(found.values())
    return alarms, first


def main(nights: int, deviations: Sequence[float] = DEVIATIONS) -> None:
    """Print a row for each deviation and correlation: alarms, then named first, by launches."""
    for deviation in deviations:
        for correlation in CORRELATIONS:
            counts = [rates(nights, number, deviation, correlation) for number in LAUNCHES]
            cells = [f"{alarms} of {nights}" for alarms, _ in counts]
            cells += [f"{first} of {nights}" for _, first in counts]
            sys.stdout.write(f"| {deviation:.0%} | {correlation:.1f} | {' | '.join(cells)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), tuple(map(float, sys.argv[2:])) or DEVIATIONS)

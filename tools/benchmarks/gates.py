"""How often `nhalf gate` is wrong: simulated gates of nodes whose truth is known.

`python tools/benchmarks/gates.py 1000` prints the table of docs/guide/health-check.md: how many of
1000 gates without a change are no-go, and how many of 50 gates with one slower core.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.decide.check.gate import Decision
from nhalf.node.all_cores import Look

TOLERANCE = 0.05
LOOKS = 18
WITHIN = 0.3
"""Looks of a gate differ by this share of what gates differ by."""
Noise = Callable[[np.random.Generator, int, int], Floats]


def normal(random: np.random.Generator, gates: int, times: int) -> Floats:
    """As the theory assumes."""
    return random.standard_normal((gates, times))


def together(random: np.random.Generator, gates: int, times: int) -> Floats:
    """Half of the variance is that of the whole node."""
    shared: Floats = random.standard_normal((gates, 1)) + normal(random, gates, times)
    return shared / math.sqrt(2)


def two_states(random: np.random.Generator, gates: int, times: int) -> Floats:
    """Three of ten gates are in a slower state, together."""
    return 0.3 * normal(random, gates, times) + 2 * (random.random((gates, 1)) < 0.3)


def long_tails(random: np.random.Generator, gates: int, times: int) -> Floats:
    """Student's with four degrees of freedom."""
    tails: Floats = random.standard_t(4, (gates, times))
    return tails / math.sqrt(2)


def simulated(
    random: np.random.Generator, noise: Noise, cores: int, gates: int, deviation: float, slow: float
) -> str:
    """The verdict of one gate after a number of gates; `slow` is the factor of its core 0."""
    names = [*(f"core {number}" for number in range(cores)), "memory 0", "messages"]
    spread = deviation * np.array([1.0] * cores + [2.0, 3.0])
    *past, now = np.exp(spread * noise(random, gates + 1, len(names)))
    now[0] *= slow
    taken = 0

    def look() -> Look:
        nonlocal taken
        taken += 1
        seen = now * np.exp(WITHIN * spread * random.standard_normal(len(names)))
        return Look(dict(zip(names, seen.tolist(), strict=True)))

    baseline = [dict(zip(names, row.tolist(), strict=True)) for row in past]
    return Decision(look, baseline, lambda: taken < LOOKS, TOLERANCE).made().verdict


def main(gates: int) -> None:
    """Print a line for each kind of noise, number of cores, gates of the past and deviation."""
    random = np.random.default_rng(1)
    cases = [(normal, 2, past) for past in (8, 20, 50)]
    cases += [(noise, 2, 20) for noise in (together, two_states, long_tails)]
    cases += [(noise, 64, 20) for noise in (normal, together, two_states, long_tails)]
    for noise, cores, past in cases:
        for deviation in (0.005, 0.01, 0.02):
            about = (random, noise, cores, past, deviation)
            alarms = sum(simulated(*about, 1.0) == "no-go" for _ in range(gates))
            found = [
                sum(simulated(*about, factor) == "no-go" for _ in range(gates // 20))
                for factor in (1.1, 1.2)
            ]
            print(f"{noise.__name__}, {cores} cores, {past} gates, {deviation}: {alarms}, {found}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)

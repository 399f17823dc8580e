"""How often is a tail that grew found, and how often one that did not?

`python tools/benchmarks/tails.py 200` prints the table of docs/numbers.md: of 200 pairs of runs
each, how many raise an alarm about their tails without a change, and how many where 1 % of the
later run's samples, drawn at random, take twice as long. Names of kinds of noise restrict it to
them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.decide.tail_ratios import TAIL_THRESHOLD, tail_curves
from nhalf.statistics.family import FALSE_TAILS, CurveErrors
from nhalf.store.keys import COMPARED_CURVE

PLANTED_SHARE, PLANTED_FACTOR = 0.01, 2.0


class Shape(NamedTuple):
    """What a run measures."""

    sizes: int
    launches: int
    samples: int


SHAPES = (Shape(1, 5, 200), Shape(1, 8, 200), Shape(4, 5, 200))
Noise = Callable[[np.random.Generator, Shape], Floats]
"""Times of the samples of a run, with a median of about 1."""


def normal(random: np.random.Generator, shape: Shape) -> Floats:
    """As most of the theory assumes."""
    return 1 + 0.05 * random.standard_normal(shape)


def log_normal(random: np.random.Generator, shape: Shape) -> Floats:
    """Twice as wide, and longer to the slow side."""
    return np.exp(0.1 * random.standard_normal(shape))


def heavy(random: np.random.Generator, shape: Shape) -> Floats:
    """Student's distribution with three degrees of freedom."""
    return np.maximum(1 + 0.05 * random.standard_t(3, shape), 0.5)


def two_states(random: np.random.Generator, shape: Shape) -> Floats:
    """One sample in ten is in a state that is 30 % slower."""
    return slowed(random, normal(random, shape), 0.1, 1.3)


def slow_samples(random: np.random.Generator, shape: Shape) -> Floats:
    """One sample in 500 takes twice as long, always."""
    return slowed(random, normal(random, shape), 0.002)


def quantised(random: np.random.Generator, shape: Shape) -> Floats:
    """A clock with few ticks in a sample."""
    return np.round(normal(random, shape) * 5) / 5


def single_bursts(random: np.random.Generator, shape: Shape) -> Floats:
    """Three launches in ten have a burst of about ten samples that take twice as long."""
    return with_bursts(random, shape, 0.3, 10, 1.0)


def thin_bursts(random: np.random.Generator, shape: Shape) -> Floats:
    """Of such a burst every other sample takes twice as long."""
    return with_bursts(random, shape, 0.3, 10, 0.5)


def many_bursts(random: np.random.Generator, shape: Shape) -> Floats:
    """One burst a launch of about 20 samples, of which three in ten take twice as long."""
    return with_bursts(random, shape, 1.0, 20, 0.3)


def launches_apart(random: np.random.Generator, shape: Shape) -> Floats:
    """1 % of the samples take twice as long, exponentially distributed over launches."""
    shares = 0.01 * random.exponential(size=(1, shape.launches, 1))
    return slowed(random, normal(random, shape), shares)


def runs_apart(random: np.random.Generator, shape: Shape) -> Floats:
    """On average 1 % of a run's samples take twice as long, by half of that more or less."""
    return slowed(random, normal(random, shape), 0.01 * float(random.gamma(4, 0.25)))


def slowed(
    random: np.random.Generator,
    times: Floats,
    shares: float | Floats,
    factor: float = PLANTED_FACTOR,
) -> Floats:
    """The times, a random share of them slower."""
    slower: Floats = times * np.where(random.random(times.shape) < shares, factor, 1.0)
    return slower


def with_bursts(
    random: np.random.Generator, shape: Shape, bursts: float, length: int, share: float
) -> Floats:
    """Times with bursts in launches, all sizes at once."""
    times = normal(random, shape)
    for launch in range(shape.launches):
        for _ in range(random.poisson(bursts)):
            start = random.integers(shape.samples)
            burst = times[:, launch, start : start + random.geometric(1 / length)]
            burst[:] = slowed(random, burst, share)
    return times


NOISES: dict[str, Noise] = {
    "normal, 5 %": normal,
    "log-normal, 10 %": log_normal,
    "heavy tails": heavy,
    "two states": two_states,
    "slow samples": slow_samples,
    "coarse clock": quantised,
    "bursts": single_bursts,
    "thin bursts": thin_bursts,
    "many thin bursts": many_bursts,
    "launches differ": launches_apart,
    "runs differ": runs_apart,
}


def visits(times: Floats) -> pl.DataFrame:
    """Times (sizes, launches, samples) as rows of `slow_samples` of statistics/tails.py."""
    sizes, launches, samples = times.shape
    flat = times.reshape(-1, samples)
    frame = pl.DataFrame(
        {
            "bytes": np.repeat(np.arange(sizes), launches),
            "launch": np.tile(np.arange(launches), sizes),
            "median_s": np.median(flat, axis=1),
            "samples": np.full(len(flat), samples),
            "samples_s": flat.tolist(),
        }
    )
    curve = (pl.lit("").alias(name) for name in ("mpi", *COMPARED_CURVE))
    return frame.with_columns(curve)


def is_longer(before: Floats, now: Floats) -> bool:
    """Whether the tail of a night's only curve is reported as longer."""
    (tail,) = tail_curves(visits(before), visits(now), [("", "")])
    log_threshold = math.log(TAIL_THRESHOLD)
    errors = CurveErrors.of_family([tail.estimates], log_threshold, 1, FALSE_TAILS)
    centre, low, _ = errors.ends(tail.estimates)
    return bool(((low > 0) & (centre > log_threshold)).any())


def counts(pairs: int, noise: Noise, shape: Shape) -> tuple[int, int]:
    """Pairs of runs with an alarm without a change, and with the planted one."""
    random = np.random.default_rng(1)
    alarms = detected = 0
    for _ in range(pairs):
        before, now = noise(random, shape), noise(random, shape)
        alarms += is_longer(before, now)
        detected += is_longer(before, slowed(random, now, PLANTED_SHARE))
    return alarms, detected


def main(pairs: int, names: list[str]) -> None:
    """Print a row for each kind of noise: for each shape alarms, and what was found."""
    for name in names or NOISES:
        cells = [counts(pairs, NOISES[name], shape) for shape in SHAPES]
        row = " | ".join(
            f"{alarms / pairs:.1%}, {detected / pairs:.0%}" for alarms, detected in cells
        )
        sys.stdout.write(f"| {name} | {row} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])

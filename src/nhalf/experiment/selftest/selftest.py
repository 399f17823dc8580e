"""Claims about nhalf's own statistics, verified where the truth is known.

Whole runs are simulated on the model transport: the real probe with its sampler and stopping
criterion on a virtual clock, then the real summary, advice and comparison. Noise is lognormal with
5 % per batch; the machine has two states, 20 % of the time 1.25 times slower, for 20 batches at a
stretch. The truth is computed here from the distribution, independently of the probe:

    T(n) = o_s + L + o_r + nG,   times the median m of the mixture
    (1 - f) Phi(x / s) + f Phi((x - ln slow) / s) = 1/2,   m = exp(x)

with s the noise, f the share of the slow state and Phi the normal distribution.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.errors import InputError
from nhalf.base.numbers import percent
from nhalf.base.rows import members
from nhalf.decide.compare import compare
from nhalf.experiment.selftest.simulated_nights import (
    CURVES,
    NIGHT_SIZES,
    PLANTED,
    runs_that_differ,
    share_covered,
    share_missed,
    share_named_first,
    share_with_alarm,
    share_with_alarm_at_looks,
)
from nhalf.experiment.selftest.simulated_runs import (
    FEWER_LAUNCHES,
    LAUNCHES,
    SIZES,
    ModelMachine,
    SimulatedRuns,
    simulate_worlds,
)
from nhalf.statistics.advice import PRECISION_TARGET
from nhalf.statistics.family import FALSE_EQUIVALENCES

LEAST_RUNS = 20
LEAST_NIGHTS = 5
DETECTED = {"1.05": 0.80, "1.25": 0.99}
COVERAGE = (0.93, 0.998)
"""Simulated runs differ only in their launches, so the interval is conservative for them."""
COVERAGE_OF_FEW = (0.92, 1.0)
"""Two launches have one degree of freedom: their intervals are wide, and some too narrow."""
FALSE_ALARMS = 0.01
NIGHT_ALARMS = 0.025
NIGHT_DETECTED = 0.90
NIGHT_LAUNCHES = 12
ADVICE_FALSE_ALARMS = 0.02
DIFFERING = (0.02, 0.05, 0.10, 0.15)
"""By how much launches differ on machines from a quiet one to a shared one."""
LOOK_LAUNCHES = (6, 12, 24)
HUNG_NOISE, HUNG_SHARE = 0.05, 1 / 12
"""How much launches differ, and the share of them that hangs."""


@dataclass(frozen=True)
class PromisedFigure:
    """One published figure with its promised range."""

    name: str
    claim: str
    value: float
    low: float
    high: float
    trials: int

    @classmethod
    def rare(
        cls, name: str, claim: str, shares: Sequence[float], most: float, trials: int = 0
    ) -> Self:
        """The mean of shares, or of what happened or not, with a promise of at most so much."""
        return cls(name, claim, float(np.mean(shares)), 0.0, most, trials or len(shares))

    @property
    def held(self) -> bool:
        """Whether the figure lies in the promised range."""
        return self.low <= self.value <= self.high


@dataclass(frozen=True)
class SelfTest:
    """All figures; `information` are those without a promise."""

    runs: int
    seed: int
    checks: list[PromisedFigure]
    information: dict[str, Any] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """Whether every figure lies in its promised range."""
        return all(check.held for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf doctor --selftest --json`."""
        return {
            **members(self, "held", "runs", "seed"),
            "launches": LAUNCHES,
            "sizes": len(SIZES),
            "model": ModelMachine().options(),
            "checks": [
                {
                    "name": check.name,
                    "what": check.claim,
                    "value": check.value,
                    "promised": [check.low, check.high],
                    "trials": check.trials,
                    "held": check.held,
                }
                for check in self.checks
            ],
            "information": self.information,
        }


def selftest(runs: int = 1000, seed: int = 1) -> SelfTest:
    """Simulate `runs` whole runs, and a fifth as many of other machines, and judge nhalf itself.

    Raises InputError for fewer than 20 runs, MissingError without the model probe.
    """
    if runs < LEAST_RUNS:
        raise InputError(f"{runs} runs show nothing", f"use {LEAST_RUNS} or more")
    machine = ModelMachine()
    fewer = max(LEAST_RUNS, runs // 5)
    worlds = [(machine, runs), (machine.steady(), fewer)]
    worlds += [(machine.slower(float(factor)), fewer) for factor in DETECTED]
    worlds += [(machine.unlike_launches(), runs), (machine.lasting_states(), fewer)]
    usual, steady, *slower, unlike, lasting = simulate_worlds(worlds, seed)
    claim = "95 % interval covers the value of the next run"
    checks = [_coverage("coverage", f"{claim} (5 % noise, two states)", usual, LAUNCHES, COVERAGE)]
    for launches in FEWER_LAUNCHES:
        name, words = f"coverage_{launches}", f"{claim} (the same, {launches} launches)"
        checks.append(_coverage(name, words, usual, launches, COVERAGE_OF_FEW))
    for launches in (*FEWER_LAUNCHES, LAUNCHES):
        name, words = f"coverage_unlike_{launches}", f"{launches} launches that differ by 5 %"
        checks.append(_coverage(name, f"{claim} ({words})", unlike, launches, COVERAGE_OF_FEW))
    checks.append(_false_alarms(usual))
    for (factor, least), world in zip(DETECTED.items(), slower, strict=True):
        checks.append(_detection(factor, least, usual, world))
    checks += _nights(usual, unlike, fewer, seed)
    few_nights = max(LEAST_NIGHTS, runs // 40)
    launches = LOOK_LAUNCHES[-1]
    curves = 2 * CURVES * few_nights
    differing = {noise: runs_that_differ(noise, launches, curves, seed) for noise in DIFFERING}
    hung = runs_that_differ(HUNG_NOISE, launches, curves, seed, hung_share=HUNG_SHARE)
    checks += _of_differing_launches(differing, few_nights, seed)
    checks.append(_alarms_beside_hung(hung, few_nights, seed))
    checks += _advice_alarms(steady)
    information = {**_information(machine, usual), **_of_lasting_states(lasting)}
    # Where launches differ, no share can be promised for all.
    information |= {
        f"night_detected_differing_{noise:.2f}": share_named_first(
            runs, few_nights, NIGHT_LAUNCHES, seed
        )
        for noise, runs in differing.items()
    }
    information["night_detected_hung"] = share_named_first(hung, few_nights, launches, seed)
    return SelfTest(runs, seed, checks, information)


def _coverage(
    name: str, claim: str, world: SimulatedRuns, launches: int, promised: tuple[float, float]
) -> PromisedFigure:
    """The coverage of the 95 % interval for the next run's value, over all sizes and runs."""
    inside = _covered(world.summaries[launches])
    return PromisedFigure(name, claim, float(inside.mean()), *promised, len(inside))


def _covered(summary: pl.DataFrame) -> NDArray[np.bool_]:
    """Whether the interval of each point, by size and run, contains the next run's value."""
    summary = summary.sort("bytes", "run")
    median, low, high = (summary[c].to_numpy() for c in ("median_s", "ci_low_s", "ci_high_s"))
    following = np.roll(median.reshape(len(SIZES), -1), 1, axis=1).ravel()
    inside: NDArray[np.bool_] = (low <= following) & (following <= high)
    return inside


def _of_lasting_states(world: SimulatedRuns) -> dict[str, float]:
    """The effect on intervals of a state that lasts for launches and that no flag shows.

    No interval can be promised for these: runs that never met the other state cannot know it.
    """
    advice = world.summary["advice"].list
    noticed = advice.contains("launch-apart") | advice.contains("bimodal")
    covered = {n: float(_covered(world.summaries[n]).mean()) for n in world.summaries}
    return {
        **{f"lasting_states_covered_{n}": share for n, share in covered.items()},
        "lasting_states_noticed": float(noticed.mean()),  # type: ignore[arg-type]
    }


def _false_alarms(world: SimulatedRuns) -> PromisedFigure:
    """The rate at which equal machines are reported to differ, anywhere on the curve."""
    pairs = zip(world.medians, [*world.medians[1:], world.medians[0]], strict=True)
    alarms = [compare(a, b).regressed for a, b in pairs]
    claim = f"compare calls an equal machine slower, anywhere on {len(SIZES)} sizes"
    return PromisedFigure.rare("false_alarms", claim, alarms, FALSE_ALARMS)


def _detection(
    factor: str, least: float, usual: SimulatedRuns, slower: SimulatedRuns
) -> PromisedFigure:
    """The rate at which a machine that is slower by a factor is called slower."""
    pairs = list(zip(usual.medians, slower.medians, strict=False))
    detections = [compare(a, b).verdict == "slower" for a, b in pairs]
    claim = f"compare finds a slow-down of {factor}x"
    return PromisedFigure(
        f"detected_{factor}", claim, float(np.mean(detections)), least, 1.0, len(detections)
    )


def _nights(
    usual: SimulatedRuns, unlike: SimulatedRuns, nights: int, seed: int
) -> list[PromisedFigure]:
    """The rate of alarms on nights of many curves without a change, and of one that is found."""
    machines = {"": ("5 % noise, two states", usual), "_unlike": ("launches differ by 5 %", unlike)}
    checks = []
    for suffix, (words, world) in machines.items():
        alarms = share_with_alarm(world.medians, nights, LAUNCHES, seed)
        claim = f"a night of {CURVES} curves without a change raises an alarm ({words})"
        name = f"night_alarms{suffix}"
        checks.append(PromisedFigure.rare(name, claim, [alarms], NIGHT_ALARMS, nights))
        first = share_named_first(world.medians, nights, NIGHT_LAUNCHES, seed)
        claim = f"{PLANTED}x of one of {CURVES} curves is named first, {NIGHT_LAUNCHES} launches"
        name = f"night_detected{suffix}"
        checks.append(
            PromisedFigure(name, f"{claim} ({words})", first, NIGHT_DETECTED, 1.0, nights)
        )
    return checks


def _of_differing_launches(
    differing: Mapping[float, Sequence[pl.DataFrame]], nights: int, seed: int
) -> list[PromisedFigure]:
    """Coverage and alarms where launches differ, from little to much; runs differ beyond them."""
    checks = []
    for noise, runs in differing.items():
        words = f"{NIGHT_LAUNCHES} launches that differ by {percent(noise, None)}, runs by more"
        claim = f"95 % interval covers the value of the next run ({words})"
        share = share_covered(runs, NIGHT_LAUNCHES)
        name = f"coverage_differing_{noise:.2f}"
        checks.append(
            PromisedFigure(name, claim, share, *COVERAGE_OF_FEW, len(runs) * len(NIGHT_SIZES))
        )
    trials, different = nights * len(differing), differing.values()
    alarms = [share_with_alarm(runs, nights, NIGHT_LAUNCHES, seed) for runs in different]
    missed = [share_missed(runs, nights, NIGHT_LAUNCHES, seed) for runs in different]
    at_looks = [share_with_alarm_at_looks(runs, nights, LOOK_LAUNCHES, seed) for runs in different]
    claim = "a night without a change raises an alarm (launches differ by 2 to 15 %)"
    rare = PromisedFigure.rare
    checks.append(rare("night_alarms_differing", claim, alarms, NIGHT_ALARMS, trials))
    claim = "a curve that is slower by the tolerance is called not slower"
    checks.append(rare("missed_differing", claim, missed, FALSE_EQUIVALENCES, trials))
    claim = f"the same, looked at {len(LOOK_LAUNCHES)} times while it goes on"
    checks.append(rare("night_alarms_looks", claim, at_looks, NIGHT_ALARMS, trials))
    return checks


def _alarms_beside_hung(runs: Sequence[pl.DataFrame], nights: int, seed: int) -> PromisedFigure:
    """The rate of alarms where a few launches on either side hung."""
    alarms = share_with_alarm(runs, nights, LOOK_LAUNCHES[-1], seed)
    claim = (
        f"a night without a change raises an alarm ({LOOK_LAUNCHES[-1]} launches differ by "
        f"{percent(HUNG_NOISE, None)}, {percent(HUNG_SHARE, None)} hung)"
    )
    return PromisedFigure("night_alarms_hung", claim, alarms, 0.0, NIGHT_ALARMS, nights)


def _advice_alarms(steady: SimulatedRuns) -> list[PromisedFigure]:
    """The rate of warnings per point on plain lognormal noise."""
    advice = steady.summary["advice"]
    return [
        PromisedFigure(
            f"false_{name.replace('-', '_')}",
            f"advice {name} is raised on noise without states or drift, per point",
            float((advice.list.contains(name)).mean()),  # type: ignore[arg-type]
            0.0,
            ADVICE_FALSE_ALARMS,
            len(advice),
        )
        for name in ("bimodal", "launch-apart", "drift")
    ]


def _information(machine: ModelMachine, world: SimulatedRuns) -> dict[str, float]:
    """Figures without a promise: errors, widths, effort, how often the truth is covered."""
    summary = world.summary.sort("bytes", "run")
    true = machine.median_s(summary["bytes"].to_numpy().astype(np.float64))
    median, low, high = (summary[c].to_numpy() for c in ("median_s", "ci_low_s", "ci_high_s"))
    width = np.maximum(high - median, median - low) / median
    cost_s = (summary["samples"] * 2 * summary["median_s"]).to_numpy()
    advised = summary["advice"].list.contains("bimodal").mean()
    return {
        "truth_in_interval": float(((low <= true) & (true <= high)).mean()),
        "relative_error_median": float(np.median(np.abs(median / true - 1))),
        "relative_bias": float(np.mean(median / true - 1)),
        "half_width_median": float(np.median(width)),
        "within_target": float((width <= PRECISION_TARGET).mean()),
        "time_to_accuracy_s": float(np.median(cost_s)),
        "samples_per_point": float(summary["samples"].mean()),  # type: ignore[arg-type]
        "bimodal_found": float(advised),  # type: ignore[arg-type]
    }

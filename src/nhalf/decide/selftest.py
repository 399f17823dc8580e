# SPDX-License-Identifier: Apache-2.0
"""What we claim of our own statistics, measured where the truth is known.

Whole runs are simulated on the model transport: the real probe with its sampler and stopping
criterion on a virtual clock, then the real summary, advice and comparison. Noise is lognormal with
5 % per batch; the machine has two states, 20 % of the time 1.25 times slower, for 20 batches at a
stretch. The truth is computed here, from the distribution, by another way than the probe's:

    T(n) = o_s + L + o_r + nG,   times the median m of the mixture
    (1 - f) Phi(x / s) + f Phi((x - ln slow) / s) = 1/2,   m = exp(x)

with s the noise, f the share of the slow state and Phi the normal distribution.
"""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import polars as pl

from nhalf.base.errors import FailedError, InputError
from nhalf.base.native_files import executable
from nhalf.decide.compare import compare
from nhalf.statistics.advice import PRECISION_TARGET
from nhalf.statistics.intervals import Floats
from nhalf.statistics.summary import launch_medians, summarise
from nhalf.store.schema import MEASUREMENT_COLUMNS

SIZES = (0, *(2**k for k in range(15)), 24, 48, 96, 192, 1536, 3072, 6144, 12288)
"""A whole curve of 24 sizes; small ones, since the probe really moves the bytes."""
LAUNCHES = 5
RUNS_AT_ONCE = 20
LEAST_RUNS = 20
TIME_LIMIT_S = 120.0
DETECTED = {"1.05": 0.80, "1.25": 0.99}
COVERAGE = (0.93, 0.975)
FALSE_ALARMS = 0.01
ADVICE_FALSE_ALARMS = 0.02


@dataclass(frozen=True)
class SimulatedMachine:
    """Parameters of the model transport, times in seconds; its defaults are the published case."""

    o_s: float = 1e-6
    o_r: float = 1e-6
    g: float = 1e-6
    L: float = 5e-6
    G: float = 1e-9
    noise: float = 0.05
    state_slow: float = 1.25
    state_fraction: float = 0.2
    state_dwell: float = 20.0

    def slower(self, factor: float) -> SimulatedMachine:
        """The same machine with all times longer by a factor."""
        times = {name: getattr(self, name) * factor for name in ("o_s", "o_r", "g", "L", "G")}
        return SimulatedMachine(**{**vars(self), **times})

    def steady(self) -> SimulatedMachine:
        """The same machine with noise, but without a second state."""
        return SimulatedMachine(**{**vars(self), "state_fraction": 0.0})

    def options(self) -> str:
        """As the probe wants them: key=value,..."""
        return ",".join(f"{name}={value!r}" for name, value in vars(self).items())

    def median_s(self, size_bytes: Floats) -> Floats:
        """The true median of a ping-pong of each size, seconds, same shape."""
        from scipy.optimize import brentq
        from scipy.special import ndtr

        base: Floats = self.o_s + self.L + self.o_r + size_bytes * self.G
        share, shift = self.state_fraction, math.log(self.state_slow)
        if self.noise == 0:
            return base * (self.state_slow if share > 0.5 else 1.0)

        def excess(x: float) -> float:
            slow = ndtr((x - shift) / self.noise)
            return float((1 - share) * ndtr(x / self.noise) + share * slow - 0.5)

        reach = 10 * self.noise + abs(shift)
        return base * math.exp(brentq(excess, -reach, reach))


@dataclass(frozen=True)
class Check:
    """One published figure with the range that we promise."""

    name: str
    what: str
    value: float
    low: float
    high: float
    trials: int

    @property
    def held(self) -> bool:
        """Whether the figure lies in the promised range."""
        return self.low <= self.value <= self.high


@dataclass(frozen=True)
class SelfTest:
    """All figures; `information` are those without a promise."""

    runs: int
    seed: int
    checks: list[Check]
    information: dict[str, Any] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """Whether every promise held."""
        return all(check.held for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """What `nhalf selftest --json` prints."""
        return {
            "held": self.held,
            "runs": self.runs,
            "seed": self.seed,
            "launches": LAUNCHES,
            "sizes": len(SIZES),
            "model": SimulatedMachine().options(),
            "checks": [
                {
                    "name": check.name,
                    "what": check.what,
                    "value": check.value,
                    "promised": [check.low, check.high],
                    "trials": check.trials,
                    "held": check.held,
                }
                for check in self.checks
            ],
            "information": self.information,
        }


@dataclass(frozen=True)
class Simulated:
    """Many simulated runs after the real analysis: no samples are kept."""

    summary: pl.DataFrame
    medians: list[pl.DataFrame]


def selftest(runs: int = 1000, seed: int = 1) -> SelfTest:
    """Simulate `runs` whole runs, and a fifth as many of other machines, and judge ourselves.

    Raises InputError for fewer than 20 runs, MissingError without the model probe.
    """
    if runs < LEAST_RUNS:
        raise InputError(f"{runs} runs show nothing", f"use {LEAST_RUNS} or more")
    machine = SimulatedMachine()
    fewer = max(LEAST_RUNS, runs // 5)
    worlds = [(machine, runs), (machine.steady(), fewer)]
    worlds += [(machine.slower(float(factor)), fewer) for factor in DETECTED]
    usual, steady, *slower = simulate_worlds(worlds, seed)
    checks = [_coverage(machine, usual), _false_alarms(usual)]
    for (factor, least), world in zip(DETECTED.items(), slower, strict=True):
        checks.append(_detection(factor, least, usual, world))
    checks += _advice_alarms(steady)
    return SelfTest(runs, seed, checks, _information(machine, usual))


def simulate_worlds(
    worlds: Iterable[tuple[SimulatedMachine, int]], seed: int = 1
) -> list[Simulated]:
    """Simulated runs of several machines, as many each as asked, on all cores."""
    probe = str(executable("probe-model"))
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        batches = []
        first = 0
        for machine, runs in worlds:
            starts = range(0, runs, RUNS_AT_ONCE)
            batches.append(
                [
                    pool.submit(
                        _simulate,
                        probe,
                        machine,
                        range(s, min(s + RUNS_AT_ONCE, runs)),
                        seed * 1_000_003 + (first + s) * LAUNCHES,
                    )
                    for s in starts
                ]
            )
            first += runs
        done = [[job.result() for job in jobs] for jobs in batches]
    return [
        Simulated(pl.concat(part.summary for part in parts), [m for p in parts for m in p.medians])
        for parts in done
    ]


def _simulate(probe: str, machine: SimulatedMachine, runs: range, seed: int) -> Simulated:
    """Measure some runs with one process of the probe and analyse them as real ones."""
    frame = _measure(probe, machine, runs, seed)
    medians = launch_medians(frame.lazy())
    by_run = medians.partition_by("run", maintain_order=True)
    return Simulated(summarise(frame.lazy()), by_run)


def _measure(probe: str, machine: SimulatedMachine, runs: range, seed: int) -> pl.DataFrame:
    """Measurements of whole runs; each launch begins another sequence of random numbers."""
    lines: list[str] = []
    places: list[tuple[str, int, int]] = []
    for run in runs:
        for launch in range(LAUNCHES):
            for position, size in enumerate(SIZES):
                begin = f" seed={seed + (run - runs.start) * LAUNCHES + launch}"
                lines.append(
                    f"id={len(places)} pattern=pingpong bytes={size}{begin if not position else ''}"
                )
                places.append((f"{run:06d}", launch, position))
    answers = _ask(probe, machine, lines)
    rows: list[tuple[Any, ...]] = [
        (run, "model", "", "pingpong", "", 2, "", "", point["bytes"], launch, position, 0.0,
         point["batch"], point["messages_per_round"], point["bytes_per_time"], point["stop"],
         point["verified"], point["advice"], [], [])
        for (run, launch, position), point in zip(places, answers, strict=True)
    ]  # fmt: skip
    names = [name for name in MEASUREMENT_COLUMNS if name != "samples_s"]
    kinds = {name: MEASUREMENT_COLUMNS[name] for name in names}
    samples = pl.Series("samples_s", [point["samples_s"] for point in answers])
    return pl.DataFrame(rows, schema=kinds, orient="row").with_columns(samples)


def _ask(probe: str, machine: SimulatedMachine, lines: Sequence[str]) -> list[dict[str, Any]]:
    """The probe's answers to the points, in their order."""
    done = subprocess.run(
        [probe, "--options", machine.options()],
        input="\n".join(lines).encode() + b"\n",
        capture_output=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    decoder = msgspec.json.Decoder()
    answers = [decoder.decode(line) for line in done.stdout.splitlines()]
    points = [answer for answer in answers if answer.get("nhalf") == "point"]
    if done.returncode != 0 or len(points) != len(lines):
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise FailedError(
            f"the model probe answered {len(points)} of {len(lines)} points: {said}",
            "build it again",
        )
    return points


def _coverage(machine: SimulatedMachine, world: Simulated) -> Check:
    """How often the 95 % interval holds the true median: the share over all sizes and runs."""
    true = machine.median_s(world.summary["bytes"].to_numpy().astype(np.float64))
    low, high = world.summary["ci_low_s"].to_numpy(), world.summary["ci_high_s"].to_numpy()
    inside = (low <= true) & (true <= high)
    what = "95 % interval covers the true median (5 % noise, two states)"
    return Check("coverage", what, float(inside.mean()), *COVERAGE, len(inside))


def _false_alarms(world: Simulated) -> Check:
    """How often equal machines are told apart, anywhere on the curve; each run with the next."""
    pairs = zip(world.medians, [*world.medians[1:], world.medians[0]], strict=True)
    alarms = [compare(a, b).regressed for a, b in pairs]
    what = f"compare calls an equal machine slower, anywhere on {len(SIZES)} sizes"
    return Check("false_alarms", what, float(np.mean(alarms)), 0.0, FALSE_ALARMS, len(alarms))


def _detection(factor: str, least: float, usual: Simulated, slower: Simulated) -> Check:
    """How often a machine that is slower by a factor is called slower."""
    pairs = list(zip(usual.medians, slower.medians, strict=False))
    found = [compare(a, b).verdict == "slower" for a, b in pairs]
    what = f"compare finds a slow-down of {factor}x"
    return Check(f"detected_{factor}", what, float(np.mean(found)), least, 1.0, len(found))


def _advice_alarms(steady: Simulated) -> list[Check]:
    """How often advice is raised on plain lognormal noise, per point."""
    advice = steady.summary["advice"]
    return [
        Check(
            f"false_{name}",
            f"advice {name} is raised on noise without states or drift, per point",
            float((advice.list.contains(name)).mean()),  # type: ignore[arg-type]
            0.0,
            ADVICE_FALSE_ALARMS,
            len(advice),
        )
        for name in ("bimodal", "drift")
    ]


def _information(machine: SimulatedMachine, world: Simulated) -> dict[str, float]:
    """Figures without a promise: errors, widths, effort, what the next run would say."""
    summary = world.summary.sort("bytes", "run")
    true = machine.median_s(summary["bytes"].to_numpy().astype(np.float64))
    median, low, high = (summary[c].to_numpy() for c in ("median_s", "ci_low_s", "ci_high_s"))
    following = np.roll(median.reshape(len(SIZES), -1), 1, axis=1).ravel()
    width = np.maximum(high - median, median - low) / median
    cost_s = (summary["samples"] * 2 * summary["median_s"]).to_numpy()
    advised = summary["advice"].list.contains("bimodal").mean()
    return {
        "next_run_in_interval": float(((low <= following) & (following <= high)).mean()),
        "relative_error_median": float(np.median(np.abs(median / true - 1))),
        "relative_bias": float(np.mean(median / true - 1)),
        "half_width_median": float(np.median(width)),
        "within_target": float((width <= PRECISION_TARGET).mean()),
        "time_to_accuracy_s": float(np.median(cost_s)),
        "samples_per_point": float(summary["samples"].mean()),  # type: ignore[arg-type]
        "bimodal_found": float(advised),  # type: ignore[arg-type]
    }

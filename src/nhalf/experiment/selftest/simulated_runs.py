"""Many simulated runs of machines with known parameters, analysed like real ones."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import FailedError
from nhalf.base.native_files import executable
from nhalf.statistics.intervals import Floats
from nhalf.statistics.summary import launch_medians, summarise
from nhalf.store.keys import MEASUREMENT_COLUMNS

SIZES = (0, *(2**k for k in range(15)), 24, 48, 96, 192, 1536, 3072, 6144, 12288)
"""A whole curve of 24 sizes; small ones, because the probe really moves the bytes."""

LAUNCHES = 5

FEWER_LAUNCHES = (2, 3)
"""Each run is also evaluated after this many launches."""

RUNS_AT_ONCE = 20

TIME_LIMIT_S = 120.0


@dataclass(frozen=True)
class ModelMachine:
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
    launch_noise: float = 0.0

    def slower(self, factor: float) -> ModelMachine:
        """This machine with all times longer by a factor."""
        times = {name: getattr(self, name) * factor for name in ("o_s", "o_r", "g", "L", "G")}
        return replace(self, **times)

    def steady(self) -> ModelMachine:
        """This machine with noise, but without a second state."""
        return replace(self, state_fraction=0.0)

    def unlike_launches(self) -> ModelMachine:
        """This machine without a second state, with 5 % between launches."""
        return replace(self, noise=0.02, state_fraction=0.0, launch_noise=0.05)

    def lasting_states(self) -> ModelMachine:
        """This machine with states that last for whole launches; no flag shows them."""
        return replace(self, noise=0.02, launch_noise=0.02, state_dwell=1e9)

    def options(self) -> str:
        """The parameters in the probe's format: key=value,..."""
        return ",".join(f"{name}={value!r}" for name, value in vars(self).items())

    def median_s(self, size_bytes: Floats) -> Floats:
        """The true median of a ping-pong of each size, seconds, same shape."""
        from scipy.optimize import brentq
        from scipy.special import ndtr

        base: Floats = self.o_s + self.L + self.o_r + size_bytes * self.G
        share, shift = self.state_fraction, math.log(self.state_slow)
        noise = math.hypot(self.noise, self.launch_noise)
        if noise == 0:
            return base * (self.state_slow if share > 0.5 else 1.0)

        def excess(x: float) -> float:
            slow = ndtr((x - shift) / noise)
            return float((1 - share) * ndtr(x / noise) + share * slow - 0.5)

        reach = 10 * noise + abs(shift)
        return base * math.exp(brentq(excess, -reach, reach))


@dataclass(frozen=True)
class SimulatedRuns:
    """Many simulated runs after the real analysis, without their samples.

    `summaries` are by the number of launches: that of whole runs and FEWER_LAUNCHES.
    """

    summaries: dict[int, pl.DataFrame]
    medians: list[pl.DataFrame]

    @property
    def summary(self) -> pl.DataFrame:
        """The summary of whole runs."""
        return self.summaries[LAUNCHES]


def simulate_worlds(
    worlds: Iterable[tuple[ModelMachine, int]], seed: int = 1
) -> list[SimulatedRuns]:
    """Simulated runs of several machines, on all cores."""
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
        results = [[job.result() for job in jobs] for jobs in batches]
    return [_joined(parts) for parts in results]


def _joined(parts: Sequence[SimulatedRuns]) -> SimulatedRuns:
    """The runs of several processes as one."""
    counts = (*FEWER_LAUNCHES, LAUNCHES)
    summaries = {n: pl.concat(part.summaries[n] for part in parts) for n in counts}
    return SimulatedRuns(summaries, [median for part in parts for median in part.medians])


def _simulate(probe: str, machine: ModelMachine, runs: range, seed: int) -> SimulatedRuns:
    """Measure some runs with one probe process and analyse them like real ones."""
    frame = _measure(probe, machine, runs, seed)
    medians = launch_medians(frame.lazy())
    by_run = medians.partition_by("run", maintain_order=True)
    begun = {n: frame.lazy().filter(pl.col("launch") < n) for n in (*FEWER_LAUNCHES, LAUNCHES)}
    return SimulatedRuns({n: summarise(rows) for n, rows in begun.items()}, by_run)


def _measure(probe: str, machine: ModelMachine, runs: range, seed: int) -> pl.DataFrame:
    """Measurements of whole runs; each launch begins a different sequence of random numbers."""
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


def _ask(probe: str, machine: ModelMachine, lines: Sequence[str]) -> list[dict[str, Any]]:
    """The probe's answers to the points, in their order."""
    process = subprocess.run(
        [probe, "--options", machine.options()],
        input="\n".join(lines).encode() + b"\n",
        capture_output=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    decoder = msgspec.json.Decoder()
    answers = [decoder.decode(line) for line in process.stdout.splitlines()]
    points = [answer for answer in answers if answer.get("nhalf") == "point"]
    if process.returncode != 0 or len(points) != len(lines):
        message = process.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise FailedError(
            f"the model probe answered {len(points)} of {len(lines)} points: {message}",
            "build it again",
        )
    return points

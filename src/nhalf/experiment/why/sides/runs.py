"""Runs launched again, in mixtures: the level of the points at which the records differ most.

A launch is a run of one launch of the probe; its time is the geometric mean of its points.
"""

import dataclasses
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from nhalf.base.errors import InputError, NhalfError
from nhalf.base.launch.survivor import Survivor
from nhalf.experiment.turns import LaunchFailed
from nhalf.experiment.why.sides.plans import RunPair, RunSide, options_of, run_side
from nhalf.experiment.why.switch import Mixture, Ways
from nhalf.measure.loop import session
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.like import is_of
from nhalf.measure.plan.plan import Plan, sizes_text
from nhalf.measure.virtual.machine import TIMEOUT_S, VirtualMachine, in_virtual_time
from nhalf.mpi.job import is_of_job
from nhalf.sites.environment import RELEVANT
from nhalf.sites.site import find_site
from nhalf.statistics.intervals import Floats
from nhalf.statistics.ratio_intervals import interval_apart
from nhalf.statistics.summary import launch_medians
from nhalf.store.run import Run

MODEL = "model"
NOISES = (
    "noise", "launch_noise", "tail_fraction", "state_fraction", "jitter_s", "drift_per_s",
    "clock_offset_s",
)  # fmt: skip
"""Options without which the model machine takes the same time in every launch."""
NEAR_MOST = 0.5
"""Points count whose difference is at least this part of the largest, on logarithms."""
POINT = ("pattern", "bytes")
TIMED = "geometric mean of the points that differ"
Point = tuple[str, int]


def run_ways(a: tuple[Run, str], b: tuple[Run, str], least_share: float) -> Ways:
    """Two runs, or libraries of them, ready for the search.

    Raises InputError for runs without common points, and for a simulated one.
    """
    pair = RunPair(run_side(*a), run_side(*b))
    pair.check()
    recorded = RecordedTimes(_launches(pair.a), _launches(pair.b))
    points = recorded.differing_points(math.log1p(least_share))
    is_exact = _is_exact(pair)
    return Ways(
        switches=pair.switches,
        launch=RunLaunching(pair, points),
        timed=TIMED,
        not_tried=pair.not_tried,
        are_exact=is_exact,
        recorded_ratio=recorded.ratio(points),
        is_recorded_different=recorded.is_different(points, least_share, is_exact),
    )


@dataclass(frozen=True)
class RecordedTimes:
    """The times of both records: columns pattern, bytes, launch and `log`, that of seconds."""

    a: pl.DataFrame
    b: pl.DataFrame

    def differing_points(self, least: float) -> list[Point]:
        """The common points that differ most; all of them if none differs by `least`.

        Raises InputError if there is no common point.
        """
        medians = [side.group_by(POINT).agg(pl.col("log").median()) for side in (self.a, self.b)]
        joined = medians[0].join(medians[1], on=POINT, suffix="_b").sort(POINT)
        if not joined.height:
            raise InputError(
                "A and B have no point in common", "measure the same sizes: run --like"
            )
        away = joined.with_columns(away=(pl.col("log_b") - pl.col("log")).abs())
        largest = float(away["away"].to_numpy().max())
        if largest > least:
            away = away.filter(pl.col("away") >= NEAR_MOST * largest)
        return list(away.select(POINT).rows())

    def ratio(self, points: list[Point]) -> float:
        """B's level over A's, of these points."""
        a, b = (np.median(_levels(side, points)) for side in (self.a, self.b))
        return math.exp(float(b - a))

    def is_different(self, points: list[Point], least_share: float, is_exact: bool) -> bool:
        """Whether the records say that B takes another time; one launch says nothing of noise."""
        a, b = (np.exp(_levels(side, points)).tolist() for side in (self.a, self.b))
        ratio = self.ratio(points)
        is_large = max(ratio, 1 / ratio) > 1 + least_share
        if is_exact or not is_large:
            return is_large
        return len(a) > 1 and len(b) > 1 and not interval_apart(b, a).covers(1.0)


@dataclass
class RunLaunching:
    """Launches mixtures of two runs, at some points."""

    pair: RunPair
    points: list[Point]
    number: int = field(default=0, init=False)

    def __call__(self, mixture: Mixture, limit_s: float) -> float:
        """The level of one launch, seconds; raises LaunchFailed if a point has no time.

        The plan has limits of its own for each point.
        """
        self.number += 1
        mixed_plan, variables = self.pair.mixed(mixture)
        plan = at_points(mixed_plan, self.points, self.number)
        with (
            Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-why-")) as folder,
            surrounded_by(variables),
        ):
            try:
                rows = _with_logs(launch_medians(self._measured(plan, Path(folder, "run"))))
            except NhalfError as error:
                raise LaunchFailed(str(error)) from error
        levels = _levels(rows, self.points)
        if not len(levels):
            raise LaunchFailed("a point has no time")
        return math.exp(float(levels[0]))

    def _measured(self, plan: Plan, folder: Path) -> pl.LazyFrame:
        machine = _machine(self.pair)
        if machine:
            noise = machine.noise.of_launch(self.number)
            machine = dataclasses.replace(machine, noise=noise)
            plan = in_virtual_time(plan, machine, TIMEOUT_S)
        site = machine.site if machine else find_site(plan.hosts, plan.host_file, plan.launcher)
        outcome = session.measure(
            session.begin(plan, folder, site, machine=machine), Progress(True)
        )
        return outcome.run.measurements().collect().lazy()


@contextmanager
def surrounded_by(variables: Mapping[str, str]) -> Iterator[None]:
    """This process's environment with these variables, and no more that affect communication."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(RELEVANT) and not is_of_job(name):
            del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def at_points(plan: Plan, points: list[Point], seed: int) -> Plan:
    """One launch of the plan at some points; the seed differs from launch to launch."""
    blocks = []
    for block in plan.blocks:
        for pattern in block.patterns:
            sizes = [size_bytes for name, size_bytes in points if name == pattern]
            if sizes:
                changes = {"patterns": [pattern], "bytes": sizes_text(sizes), "launches": 1}
                blocks.append(msgspec.structs.replace(block, **changes))
    return msgspec.structs.replace(plan, blocks=blocks, launches=1, seed=seed, hosts_found=0)


def _machine(pair: RunPair) -> VirtualMachine | None:
    """The simulated machine, with the nodes that either side needs; None for real hosts."""
    machines = [VirtualMachine.of(side.run) for side in (pair.a, pair.b)]
    return max(filter(None, machines), key=lambda machine: machine.nodes_used, default=None)


def _is_exact(pair: RunPair) -> bool:
    """Whether all launches of either side take the same time."""
    machine = _machine(pair)
    if machine:
        return machine.is_exact
    sides = (pair.a, pair.b)
    return all(
        side.plan.transports == [MODEL]
        and not any(float(options_of(side.plan.options).get(name, 0)) for name in NOISES)
        for side in sides
    )


def _launches(side: RunSide) -> pl.DataFrame:
    """The times of a run, or of one of its libraries."""
    measurements = side.run.measurements()
    if side.library:
        measurements = measurements.filter(is_of(side.library))
    return _with_logs(launch_medians(measurements))


def _with_logs(times: pl.DataFrame) -> pl.DataFrame:
    """One row for each launch and point, with the mean of the logarithms of its curves."""
    logs = times.filter(pl.col("median_s") > 0).with_columns(log=pl.col("median_s").log())
    return logs.group_by(*POINT, "launch").agg(pl.col("log").mean()).sort(*POINT, "launch")


def _levels(rows: pl.DataFrame, points: list[Point]) -> Floats:
    """The mean logarithm of some points, of each launch that has all of them: (launches,)."""
    chosen = rows.join(pl.DataFrame(points, schema=POINT, orient="row"), on=POINT)
    launches = chosen.group_by("launch").agg(pl.col("log").mean(), count=pl.len()).sort("launch")
    return launches.filter(pl.col("count") == len(points))["log"].to_numpy()

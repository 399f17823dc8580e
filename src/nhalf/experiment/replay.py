"""The error of a simulation relative to the run it was calibrated from, by ping-pong."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import msgspec

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError
from nhalf.decide.calibrate import calibrated, points_of
from nhalf.facts.facts import Facts
from nhalf.machines.curve import PINGPONG, is_between_nodes
from nhalf.machines.machine import FittedModel, Machine
from nhalf.measure.loop.records import line
from nhalf.measure.plan.plan import Point
from nhalf.measure.probe.process import Probe
from nhalf.measure.simulate.subject import site_of, smpi_subject

TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Replayed:
    """The measured and the simulated time of one size; seconds, `error` relative to the measured.

    `model_s` is the time from the fitted segments alone.
    """

    size_bytes: int
    measured_s: float
    ci_s: tuple[float, float]
    model_s: float
    simulated_s: float

    @property
    def error(self) -> float:
        """The relative error of the simulated time; infinite where a time is unknown or 0."""
        error = self.simulated_s / self.measured_s - 1 if self.measured_s > 0 else math.inf
        return math.inf if math.isnan(error) else error


@dataclass(frozen=True)
class PingPongReplay:
    """One ping-pong of a run next to its simulation."""

    mpi: str
    placement: str
    sizes: tuple[Replayed, ...]

    @property
    def median_error(self) -> float:
        """The median of the absolute errors over all sizes."""
        return median(abs(size.error) for size in self.sizes) if self.sizes else 0.0

    @property
    def worst(self) -> Replayed:
        """The size with the largest error."""
        return max(self.sizes, key=lambda size: abs(size.error))


def replay(facts: Facts, mpi: str = "") -> list[PingPongReplay]:
    """Every ping-pong of a run (or of one library), simulated at the measured sizes.

    Raises InputError if there is none, MissingError without SimGrid.
    """
    fitted = {_key(model): model for model in facts.machine.models}
    machine = calibrated(facts)
    replays = []
    for model in machine.models:
        if model.pattern != PINGPONG or model.axes or mpi not in ("", model.mpi, model.transport):
            continue
        alone = msgspec.structs.replace(machine, models=(model,))
        points = points_of(facts.summary, model)
        simulated = _simulated(alone, model, [int(row["bytes"]) for row in points])
        sizes = tuple(
            Replayed(
                size_bytes=row["bytes"],
                measured_s=row["median_s"],
                ci_s=(row["ci_low_s"], row["ci_high_s"]),
                model_s=fitted[_key(model)].time_s(row["bytes"]),
                simulated_s=time_s,
            )
            for row, time_s in zip(points, simulated, strict=True)
        )
        replays.append(PingPongReplay(carrier(model.mpi, model.transport), model.placement, sizes))
    if not replays:
        run = ", ".join(facts.environments)
        raise InputError(
            f"{run} has no ping-pong{' of ' + mpi if mpi else ''} to replay",
            "measure one: nhalf run --pattern pingpong",
        )
    return replays


def _simulated(machine: Machine, model: FittedModel, sizes: Sequence[int]) -> list[float]:
    """The times of the sizes on the simulated machine, in seconds."""
    subject = smpi_subject(machine, site_of(machine, 2))
    placement = "2x1" if is_between_nodes(model.placement) else "1x2"
    tokens, variables = subject.launch(2, placement, "")
    times = []
    with Probe(tokens, variables, TIMEOUT_S) as probe:
        for number, size in enumerate(sizes):
            point = Point(PINGPONG, 2, size, placement)
            probe.send(line(str(number), point, 0.01, 0.01, subject.infos[PINGPONG].timing))
            record = probe.receive(TIMEOUT_S, identity=str(number))
            times.append(float(record["samples_s"][0]))
    return times


def _key(model: FittedModel) -> tuple[str, ...]:
    return (model.transport, model.mpi, model.pattern, model.placement, model.axes)

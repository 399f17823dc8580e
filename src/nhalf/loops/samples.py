"""Samples of a loop (native/node/livermore/samples.h), and which of them count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

SAMPLES = 40
SECONDS = 0.0005
STEADY_SHARE = 0.98
EXCLUSIVE_SHARE = 0.8
COUNTED_MIN = 4


@dataclass(frozen=True)
class Sample:
    """The time of an iteration, the clock before and after it, and the time of an issue test."""

    time_s: float
    before_hz: float
    after_hz: float
    issue_s: float

    @property
    def clock_hz(self) -> float:
        """The clock: other programs only lower a reading of it, and seldom both readings."""
        return max(self.before_hz, self.after_hz)

    @property
    def cycles(self) -> float:
        """Cycles of an iteration."""
        return self.time_s * self.clock_hz

    @property
    def issue_cycles(self) -> float:
        """Cycles of the issue test: a fixed number of instructions that need no unit."""
        return self.issue_s * self.clock_hz


@dataclass(frozen=True)
class LoopTime:
    """The time of a loop: the lower quartile of the samples that count."""

    cycles_per_iteration: float
    clock_hz: float
    samples_s: tuple[float, ...]


def loop_time(printed: Mapping[str, Any], iterations: float) -> LoopTime:
    """Summarise the samples that a driver printed, for passes of this many iterations."""
    names = ("time_s", "clock_hz", "clock_after_hz", "issue_s")
    rows = zip(*(printed[name] for name in names), strict=True)
    samples = [Sample(time_s / iterations, *clocks_and_issue) for time_s, *clocks_and_issue in rows]
    counted = undisturbed(samples)
    cycles = sorted(sample.cycles for sample in counted)
    clock_hz = median(sample.clock_hz for sample in counted)
    return LoopTime(cycles[len(cycles) // 4], clock_hz, tuple(sample.time_s for sample in samples))


def undisturbed(samples: Sequence[Sample]) -> list[Sample]:
    """Samples of an exclusive core at a steady clock; fewer conditions if too few meet both.

    A thread on the same core halves the rate of issue, so the samples with the fastest issue test
    tell which others shared the core.
    """
    steady = [
        sample
        for sample in samples
        if min(sample.before_hz, sample.after_hz) > STEADY_SHARE * sample.clock_hz
    ]
    if len(steady) < COUNTED_MIN:
        steady = list(samples)
    fastest_issue_cycles = sorted(sample.issue_cycles for sample in steady)[len(steady) // 20]
    exclusive = [
        sample for sample in steady if sample.issue_cycles < fastest_issue_cycles / EXCLUSIVE_SHARE
    ]
    return exclusive if len(exclusive) >= COUNTED_MIN else steady

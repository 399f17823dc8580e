# SPDX-License-Identifier: Apache-2.0
"""Samples of a loop (native/node/livermore/samples.h), and which of them count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

SAMPLES = 40
SECONDS = 0.0005
STEADY_SHARE = 0.98
ALONE_SHARE = 0.8
COUNTED_MIN = 4


@dataclass(frozen=True)
class Sample:
    """The time of an iteration; the clock before and after, and how long it took to issue."""

    time_s: float
    before_hz: float
    after_hz: float
    issue_s: float

    @property
    def clock_hz(self) -> float:
        """Another program only makes a look at the clock slower, and seldom both."""
        return max(self.before_hz, self.after_hz)

    @property
    def cycles(self) -> float:
        """Cycles of an iteration."""
        return self.time_s * self.clock_hz

    @property
    def issue_cycles(self) -> float:
        """What this many instructions that need no unit took."""
        return self.issue_s * self.clock_hz


@dataclass(frozen=True)
class Taken:
    """What samples say together: the lower quartile of those that count."""

    cycles_per_iteration: float
    clock_hz: float
    samples_s: tuple[float, ...]


def taken(said: Mapping[str, Any], iterations: float) -> Taken:
    """Of the samples that a driver printed, for passes of this many iterations."""
    names = ("time_s", "clock_hz", "clock_after_hz", "issue_s")
    looks = zip(*(said[name] for name in names), strict=True)
    samples = [Sample(time_s / iterations, *others) for time_s, *others in looks]
    counted = undisturbed(samples)
    cycles = sorted(one.cycles for one in counted)
    return Taken(
        cycles[len(cycles) // 4],
        median(one.clock_hz for one in counted),
        tuple(one.time_s for one in samples),
    )


def undisturbed(samples: Sequence[Sample]) -> list[Sample]:
    """Samples during which the core was alone and its clock did not change; else the best of both.

    Where another thread has the same core, instructions are issued half as fast: where several
    looks were faster, the core was not alone.
    """
    steady = [
        one for one in samples if min(one.before_hz, one.after_hz) > STEADY_SHARE * one.clock_hz
    ]
    if len(steady) < COUNTED_MIN:
        steady = list(samples)
    quickest = sorted(one.issue_cycles for one in steady)[len(steady) // 20]
    alone = [one for one in steady if one.issue_cycles < quickest / ALONE_SHARE]
    return alone if len(alone) >= COUNTED_MIN else steady

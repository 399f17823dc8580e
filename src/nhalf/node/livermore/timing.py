# SPDX-License-Identifier: Apache-2.0
"""The Livermore kernels compiled and run here: cycles per iteration as compilers make them."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from nhalf.base.compiled import Program, compiled
from nhalf.base.errors import FailedError, MissingError
from nhalf.base.processes import run
from nhalf.node.livermore.corpus import FOLDER, sources
from nhalf.node.livermore.titles import TITLES

COMPILERS = ("gcc", "clang")
LEVELS = (("-O0",), ("-O2",), ("-O3", "-march=native"))
SAMPLES = 40
SECONDS = 0.0005
STEADY_SHARE = 0.98
ALONE_SHARE = 0.8
COUNTED_MIN = 4
RUN_TIMEOUT_S = 120.0
SUM_ERROR_MAX = 1e-6
"""Compilers may fuse products with sums, which rounds once instead of twice."""


@dataclass(frozen=True)
class Build:
    """How kernels are compiled."""

    compiler: str
    level: tuple[str, ...]

    @property
    def title(self) -> str:
        """As a table calls it."""
        return f"{self.compiler} {' '.join(self.level)}"

    @property
    def is_optimised(self) -> bool:
        """Whether values are kept in registers."""
        return "-O0" not in self.level


@dataclass(frozen=True)
class Timing:
    """One kernel of one build: `value` is the check sum after one pass.

    `samples_s` are the times of an iteration in seconds.
    """

    number: int
    build: Build
    cycles_per_iteration: float
    iterations: int
    value: float
    clock_hz: float
    samples_s: tuple[float, ...] = ()


def builds() -> list[Build]:
    """What can be compiled here; raises MissingError where there is no compiler."""
    found = [Build(one, level) for one in COMPILERS if shutil.which(one) for level in LEVELS]
    if not found:
        raise MissingError("there is no C compiler", f"install one of {', '.join(COMPILERS)}")
    return found


def program(build: Build) -> Path:
    """The kernels and their driver, compiled; raises MissingError where they do not compile."""
    words = [build.compiler, *build.level, "-std=gnu11", *map(str, sources()), "-lm"]
    return compiled(
        Program(
            title=f"the Livermore kernels ({build.title})",
            name="livermore",
            folder="livermore",
            source=f"{FOLDER}/driver.c",
            command=words,
            why_not=lambda path: "",
        )
    )


def timings(build: Build, number: int = 0) -> Iterator[Timing]:
    """Run the kernels of a build, one or all; raises FailedError where they fail."""
    command = [str(program(build)), str(number), "0", str(SAMPLES), str(SECONDS)]
    outcome = run(command, RUN_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(f"the Livermore kernels ({build.title}) failed: {outcome.reason}")
    for line in outcome.stdout.splitlines():
        with suppress(json.JSONDecodeError):
            yield _timing(build, json.loads(line))


def _timing(build: Build, said: dict[str, Any]) -> Timing:
    """Of a line of the driver: the lower quartile of the samples that count."""
    looks = zip(
        *(said[name] for name in ("time_s", "clock_hz", "clock_after_hz", "issue_s")), strict=True
    )
    samples = [Sample(time_s / said["iterations"], *others) for time_s, *others in sorted(looks)]
    counted = undisturbed(samples)
    cycles = sorted(one.cycles for one in counted)
    clock_hz = median(one.clock_hz for one in counted)
    times_s = tuple(one.time_s for one in samples)
    low = cycles[len(cycles) // 4]
    return Timing(said["kernel"], build, low, said["iterations"], said["sum"], clock_hz, times_s)


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
        """What so many instructions that need no unit took."""
        return self.issue_s * self.clock_hz


def undisturbed(samples: Sequence[Sample]) -> list[Sample]:
    """Samples during which the core was alone and its clock did not change; else the best of both.

    Where another thread has the same core, instructions are issued half as fast: where several
    looks were faster, the core was not alone.
    """
    steady = [one for one in samples if one.before_hz > STEADY_SHARE * one.clock_hz]
    steady = [one for one in steady if one.after_hz > STEADY_SHARE * one.clock_hz]
    if len(steady) < COUNTED_MIN:
        steady = list(samples)
    quickest = sorted(one.issue_cycles for one in steady)[len(steady) // 20]
    alone = [one for one in steady if one.issue_cycles < quickest / ALONE_SHARE]
    return alone if len(alone) >= COUNTED_MIN else steady


def check_sums(timed: Sequence[Timing]) -> None:
    """Raise FailedError for kernels whose check sums differ between builds."""
    for number in range(1, len(TITLES) + 1):
        sums = {one.build.title: one.value for one in timed if one.number == number}
        reference = next(iter(sums.values()), 0.0)
        for title, value in sums.items():
            if not math.isclose(value, reference, rel_tol=SUM_ERROR_MAX):
                raise FailedError(
                    f"kernel {number} ({title}) computes {value:.12g} instead of {reference:.12g}"
                )

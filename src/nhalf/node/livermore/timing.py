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
SAMPLES = 9
SECONDS = 0.002
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
    """Of a line of the driver: the lower quartile of samples, since neighbours only slow down."""
    clock_hz = median(said["clock_hz"])
    times_s = tuple(time_s / said["iterations"] for time_s in said["time_s"])
    cycles = sorted(times_s)[len(times_s) // 4] * clock_hz
    return Timing(said["kernel"], build, cycles, said["iterations"], said["sum"], clock_hz, times_s)


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

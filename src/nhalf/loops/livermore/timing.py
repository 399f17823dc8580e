"""The Livermore kernels compiled and run here: cycles per iteration as compilers make them."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base.compiled import CompiledProgram, compiled
from nhalf.base.errors import FailedError
from nhalf.base.processes import run
from nhalf.loops.builds import Build
from nhalf.loops.livermore.corpus import FOLDER, sources_of
from nhalf.loops.livermore.titles import TITLES, TUNED
from nhalf.loops.samples import SAMPLES, SECONDS, loop_time

RUN_TIMEOUT_S = 120.0
SUM_ERROR_MAX = 1e-6
"""Compilers may fuse multiplications with additions, which rounds once instead of twice."""


@dataclass(frozen=True)
class KernelTiming:
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


def program(build: Build) -> Path:
    """The kernels and their driver, compiled; raises MissingError if they do not compile."""
    words = [
        build.compiler,
        *build.level,
        "-std=gnu11",
        *map(str, sources_of(build).values()),
        "-lm",
    ]
    return compiled(
        CompiledProgram(
            title=f"the Livermore kernels ({build.title})",
            name="livermore",
            folder="livermore",
            source=f"{FOLDER}/driver.c",
            command=words,
            why_not=lambda path: "",
        )
    )


def timings(build: Build, samples: int = SAMPLES) -> Iterator[KernelTiming]:
    """Run the kernels of a build, or those that are tuned; raises FailedError if they fail."""
    for number in TUNED if build.is_tuned else (0,):
        yield from _timings(build, number, samples)


def _timings(build: Build, number: int, samples: int) -> Iterator[KernelTiming]:
    """Run one kernel of a build; number 0 is all."""
    command = [str(program(build)), str(number), "0", str(samples), str(SECONDS)]
    outcome = run(command, RUN_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(f"the Livermore kernels ({build.title}) failed: {outcome.reason}")
    for line in outcome.stdout.splitlines():
        with suppress(json.JSONDecodeError):
            yield _timing(build, json.loads(line))


def _timing(build: Build, result: dict[str, Any]) -> KernelTiming:
    count = result["iterations"]
    sample = loop_time(result, count)
    cycles, clock_hz = sample.cycles_per_iteration, sample.clock_hz
    return KernelTiming(
        result["kernel"], build, cycles, count, result["sum"], clock_hz, sample.samples_s
    )


def check_sums(timed: Sequence[KernelTiming]) -> None:
    """Raise FailedError for kernels whose check sums differ between builds."""
    for number in range(1, len(TITLES) + 1):
        sums = {timing.build.title: timing.value for timing in timed if timing.number == number}
        reference = next(iter(sums.values()), 0.0)
        for title, value in sums.items():
            if not math.isclose(value, reference, rel_tol=SUM_ERROR_MAX):
                raise FailedError(
                    f"kernel {number} ({title}) computes {value:.12g} instead of {reference:.12g}"
                )

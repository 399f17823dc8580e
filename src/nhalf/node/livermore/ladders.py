# SPDX-License-Identifier: Apache-2.0
"""The ladder of each kernel: from its bound to its time, with a cause and a remedy for each gap."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.machines.processor import Processor
from nhalf.node.bound.program import read_program
from nhalf.node.ladder.rungs import Rungs, listing, rungs
from nhalf.node.livermore.corpus import KernelBound, sources
from nhalf.node.livermore.timing import Build, Timing

READABLE = {"x86_64", "AMD64"}
GAP_RATIO = 1.2
"""A gap is explained where a rung takes so much longer than the one above it."""


@dataclass(frozen=True)
class Ladder:
    """What was emitted for a kernel takes at least, in cycles per iteration: alone, and in turn."""

    number: int
    build: Build
    loops: tuple[Rungs, ...]

    @property
    def emitted_cycles(self) -> float:
        """By the unit that is busiest: MAC."""
        return sum(one.emitted_cycles for one in self.loops)

    @property
    def scheduled_cycles(self) -> float:
        """With the chain from one iteration to the next: MACS."""
        return sum(one.scheduled_cycles for one in self.loops)

    @property
    def is_optimised(self) -> bool:
        """Whether values are kept in registers."""
        return "-O0" not in self.build.level


def ladders(build: Build, processor: Processor) -> Iterator[Ladder]:
    """The ladders of all kernels that can be read, in one build; none on other processors."""
    if platform.machine() not in READABLE:
        return
    for number, source in enumerate(sources(), 1):
        program = read_program(source)
        if program.refusals:
            continue
        text = listing(build.compiler, build.level, source)
        found = rungs(text, program.loops, processor, "-O0" not in build.level)
        known = tuple(one for one in found if one is not None)
        if len(known) == len(program.loops):
            yield Ladder(number, build, known)


def gaps(bound: KernelBound, ladder: Ladder, timing: Timing) -> list[str]:
    """Why each rung takes longer than the one above it, and what helps."""
    essential = bound.cycles or 0.0
    emitted, scheduled = ladder.emitted_cycles, ladder.scheduled_cycles
    said = []
    if emitted > GAP_RATIO * essential:
        said.append(_emitted_more(bound, ladder))
    if scheduled > GAP_RATIO * emitted:
        said.append(_waits(ladder))
    if timing.cycles_per_iteration > GAP_RATIO * scheduled:
        said.append(
            "neither units nor chains explain the rest: misses, conflicts or short loops; "
            "block, interchange or prefetch"
        )
    return said


def _emitted_more(bound: KernelBound, ladder: Ladder) -> str:
    """Why more was emitted than is essential."""
    if not ladder.is_optimised:
        return "values are kept in memory and not in registers: compile with -O2"
    if not any(one.is_vector for one in ladder.loops):
        return "not vectorised: -O3 -march=native, or split off what keeps the compiler from it"
    loads = sum(
        count * one.lanes
        for each in ladder.loops
        for one, count in each.emitted_per_iteration.items()
        if one.name == "load"
    )
    if loads > GAP_RATIO * sum(one.counts.loads for one in bound.loops):
        return "redundant loads or spills: unroll and keep elements in registers"
    return "vectors narrower than the widest, or instructions around them: unroll"


def _waits(ladder: Ladder) -> str:
    """What iterations wait for."""
    if not ladder.is_optimised:
        return "each iteration waits for a value that goes through memory: compile with -O2"
    return "each iteration waits for the one before: unroll with partial results"

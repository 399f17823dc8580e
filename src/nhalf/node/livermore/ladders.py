# SPDX-License-Identifier: Apache-2.0
"""The ladder of each kernel in each build: from its bound to its time."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nhalf.machines.processor import Processor
from nhalf.node.bound.program import read_program
from nhalf.node.ladder.climb import Climb
from nhalf.node.ladder.rungs import Rungs, listing, rungs
from nhalf.node.livermore.corpus import KernelBound, sources
from nhalf.node.livermore.timing import Build, Timing

READABLE = {"x86_64", "AMD64"}


@dataclass(frozen=True)
class Ladder:
    """What was emitted for a kernel in one build, by its innermost loops."""

    number: int
    build: Build
    loops: tuple[Rungs, ...]


def ladders(build: Build, processor: Processor) -> Iterator[Ladder]:
    """The ladders of all kernels that can be read, in one build; none on other processors."""
    if platform.machine() not in READABLE:
        return
    for number, source in enumerate(sources(), 1):
        program = read_program(source)
        if program.refusals:
            continue
        text = listing(build.compiler, build.level, source)
        found = rungs(text, program.loops, processor, build.is_optimised)
        known = tuple(one for one in found if one is not None)
        if len(known) == len(program.loops):
            yield Ladder(number, build, known)


def climb(bound: KernelBound, ladder: Ladder | None, timing: Timing) -> Climb:
    """All rungs of a kernel: with several loops, those of one iteration of each."""
    loops = ladder.loops if ladder else ()
    essential = sum(one.counts.loads for one in bound.loops)
    return Climb(
        essential_cycles=bound.cycles,
        emitted_cycles=sum(one.emitted_cycles for one in loops) if loops else None,
        scheduled_cycles=sum(one.scheduled_cycles for one in loops) if loops else None,
        measured_cycles=timing.cycles_per_iteration,
        is_optimised=timing.build.is_optimised,
        is_vector=any(one.is_vector for one in loops),
        is_fused=_is_fused(bound, loops),
        loads_ratio=sum(one.loads for one in loops) / essential if essential else 1.0,
        spills_per_iteration=sum(one.spills_per_iteration for one in loops),
    )


def _is_fused(bound: KernelBound, loops: Sequence[Rungs]) -> bool:
    """Whether as much is fused as could be, or nothing could."""
    could = sum(one.counts.of("fused_multiply_add") for one in bound.loops)
    return not could or any(one.amount("fused_multiply_add") for one in loops)

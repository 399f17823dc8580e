# SPDX-License-Identifier: Apache-2.0
"""The ladder of each kernel in each build: from its bound to its time."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.machines.processor import Processor
from nhalf.node.bound.program import read_program
from nhalf.node.ladder.builds import Build
from nhalf.node.ladder.rungs import READABLE, Rungs, listing, rungs
from nhalf.node.livermore.corpus import sources


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

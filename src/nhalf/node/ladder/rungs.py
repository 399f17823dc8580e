# SPDX-License-Identifier: Apache-2.0
"""The rungs of a loop: what was emitted for it (MAC), and that with its chain (MACS)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.base.processes import run
from nhalf.machines.processor import Processor, Unit
from nhalf.node.bound.counts import Counts
from nhalf.node.bound.misses import stride_elements
from nhalf.node.ladder.addresses import in_any_iteration
from nhalf.node.ladder.core import LOADS
from nhalf.node.ladder.listing import EmittedLoop, Instruction, emitted_loops, loops_of_lines
from nhalf.node.ladder.micro import Operation, operations, reads_memory, writes_memory
from nhalf.node.ladder.schedule import chain_cycles

COMPILE_TIMEOUT_S = 60.0
FLOPS = {"add": 1, "multiply": 1, "fused_multiply_add": 2, "divide": 4, "square_root": 4}
REALS = tuple(FLOPS)
READABLE = {"x86_64", "AMD64"}
"""Processors whose listings can be read, as the system calls them."""
EIGHT = 8
"""Bytes of a number."""


@dataclass(frozen=True)
class Rungs:
    """Cycles per iteration of the source: by what was emitted, and by its chain.

    `unit` is the one that what was emitted keeps busiest; `emitted_per_iteration` are its
    operations, `spills_per_iteration` its accesses to the stack.
    """

    emitted_cycles: float
    chain_cycles: float
    unit: str
    emitted_per_iteration: dict[Operation, float]
    spills_per_iteration: float = 0.0

    @property
    def scheduled_cycles(self) -> float:
        """What the emitted loop takes at least: MACS."""
        return max(self.emitted_cycles, self.chain_cycles)

    @property
    def is_vector(self) -> bool:
        """Whether arithmetic is done on several numbers at once."""
        return any(one.lanes > 1 for one in self.emitted_per_iteration if one.name in REALS)

    @property
    def loads(self) -> float:
        """Numbers that are loaded."""
        return self.amount("load") + self.amount("whole_load")

    def amount(self, name: str) -> float:
        """This many operations of a kind, each number counted, that go with one iteration."""
        found = self.emitted_per_iteration.items()
        return sum(count * one.lanes for one, count in found if one.name == name)


def listing(compiler: str, level: Sequence[str], source: Path) -> str:
    """What a compiler emits; raises FailedError if it fails."""
    outcome = run([compiler, *level, "-g", "-S", "-o", "-", str(source)], COMPILE_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(f"{compiler} cannot compile {source}: {outcome.reason}")
    return outcome.stdout


def rungs(
    text: str, loops: Sequence[Counts], processor: Processor, is_optimised: bool
) -> list[Rungs | None]:
    """The rungs of each loop of a source in a listing; None if none was emitted for it.

    Of several, such as a vector loop and its rest, the one that does most at a time counts.
    """
    emitted = emitted_loops(text)
    starts = [*sorted(one.line for one in loops), 10**9]
    found: list[Rungs | None] = []
    for one in loops:
        end = next(line for line in starts if line > one.line) - 1
        pairs = [
            (_iterations(loop, one) if is_optimised else 1, -at, loop)
            for at, loop in enumerate(loops_of_lines(emitted, one.line, end))
        ]
        best = max(pairs, default=None, key=lambda pair: pair[:2])
        found.append(_rungs(best[2], best[0], processor) if best else None)
    return found


def _asked(loop: EmittedLoop) -> Counter[Operation]:
    return Counter(one for each in loop.always for one in operations(each))


def _forwarded_cycles(loop: EmittedLoop, processor: Processor) -> float:
    """What loads of whole numbers that the loop stores take longer of the loads' unit."""
    stored = {
        writes_memory(one): processor.forwarded_cycles(
            "updated_load" if reads_memory(one) else "forwarded_load"
        )
        for one in loop.always
        if writes_memory(one)
    }
    usual = processor.busy_cycles("whole_load")
    return sum(
        max(0.0, stored.get(reads_memory(one), 0.0) - usual)
        for one in loop.always
        if Operation("whole_load") in operations(one)
    )


def _iterations(loop: EmittedLoop, source: Counts) -> int:
    """How many iterations of the source a pass of the emitted loop is: by how far it goes on."""
    asked = _asked(loop)
    strides = [stride_elements(one) for one in source.streams]
    moves = [abs(stride) * EIGHT for stride in strides if stride]
    steps = _steps_bytes(loop)
    if moves and steps and min(steps) % min(moves) == 0:
        return min(steps) // min(moves)
    flops = sum(FLOPS.get(one.name, 0) * one.lanes * count for one, count in asked.items())
    if source.flops and flops:
        return max(1, round(flops / source.flops))
    return max([one.lanes for one in asked], default=1)


def _rungs(loop: EmittedLoop, iterations: int, processor: Processor) -> Rungs:
    asked = _asked(loop)
    times = _times(loop, asked, processor)
    unit = max(times, key=lambda name: times[name])
    return Rungs(
        times[unit] / iterations,
        chain_cycles(loop, processor) / iterations,
        unit,
        {one: count / iterations for one, count in asked.items()},
        sum(map(_is_spill, loop.instructions)) / iterations,
    )


def _times(loop: EmittedLoop, asked: Counter[Operation], processor: Processor) -> dict[str, float]:
    """Cycles of a pass by what it keeps busy."""
    times = {"issue": _issued(loop) / processor.issue_per_cycle}
    for one, count in asked.items():
        busy = count * processor.busy_cycles(one.name, one.lanes)
        times[one.name] = times.get(one.name, 0.0) + busy
    times |= {unit.name: _shared_cycles(unit, asked) for unit in processor.units}
    if LOADS in times:
        times[LOADS] += _forwarded_cycles(loop, processor)
    return times


def _shared_cycles(unit: Unit, asked: Counter[Operation]) -> float:
    """What all that shares a unit keeps it busy for; other widths of the same are not counted."""
    return sum(count * unit.cycles.get(one.key, 0.0) for one, count in asked.items())


def _is_spill(one: Instruction) -> bool:
    """Whether it reaches for the stack."""
    return any("(%rsp" in place for place in (reads_memory(one), writes_memory(one)))


def _issued(loop: EmittedLoop) -> int:
    """Instructions; a comparison and the jump after it are one."""
    always = loop.always
    pairs = pairwise(always)
    joined = sum(
        one.name.startswith(("cmp", "test", "add", "sub", "dec", "inc")) and other.is_jump
        for one, other in pairs
    )
    return len(always) - joined


def _steps_bytes(loop: EmittedLoop) -> list[int]:
    """By how many bytes each access goes on in a pass, as far as that is plain."""
    numbers = in_any_iteration(loop)
    found = []
    for at, one in enumerate(loop.instructions):
        for place in filter(None, (reads_memory(one), writes_memory(one))):
            address = numbers.address(place)
            step = None if address.is_indirect else address.step().constant
            if step and at not in loop.skipped:
                found.append(abs(step))
        numbers.step(one, at in loop.skipped)
    return found

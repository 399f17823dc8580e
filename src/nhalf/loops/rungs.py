"""The rungs of a loop: its emitted operations (MAC), and with its dependency chain (MACS)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.base.processes import run
from nhalf.loops.builds import Build
from nhalf.loops.climb import Climb
from nhalf.loops.listing.addresses import in_any_iteration
from nhalf.loops.listing.listing import EmittedLoop, Instruction, emitted_loops, loops_of_lines
from nhalf.loops.listing.micro_ops import MicroOperation, operations, reads_memory, writes_memory
from nhalf.loops.schedule.core import LOADS
from nhalf.loops.schedule.dependency_chain import chain_cycles
from nhalf.loops.source.counts import LoopCounts
from nhalf.loops.source.ma_bounds import Bound
from nhalf.loops.source.misses import stride_elements
from nhalf.machines.processor import Processor

COMPILE_TIMEOUT_S = 60.0
FLOPS = {"add": 1, "multiply": 1, "fused_multiply_add": 2, "divide": 4, "square_root": 4}
FLOATING_POINT = tuple(FLOPS)
READABLE = {"x86_64", "AMD64"}
"""Processors whose listings can be read, by the names that the system has for them."""
NUMBER_BYTES = 8
"""Bytes of a number."""


@dataclass(frozen=True)
class Rungs:
    """Cycles per iteration of the source: by emitted operations, and by their dependency chain.

    `unit` is the one that the emitted operations keep busiest; `emitted_per_iteration` counts
    them, and `spills_per_iteration` accesses to the stack.
    """

    emitted_cycles: float
    chain_cycles: float
    unit: str
    emitted_per_iteration: dict[MicroOperation, float]
    spills_per_iteration: float = 0.0

    @property
    def scheduled_cycles(self) -> float:
        """The lower bound of the emitted loop: MACS."""
        return max(self.emitted_cycles, self.chain_cycles)

    @property
    def is_vector(self) -> bool:
        """Whether floating-point arithmetic is done on several numbers at once."""
        return any(
            operation.lanes > 1
            for operation in self.emitted_per_iteration
            if operation.name in FLOATING_POINT
        )

    @property
    def loads(self) -> float:
        """The count of loaded numbers per iteration."""
        return self.amount("load") + self.amount("integer_load")

    def amount(self, name: str) -> float:
        """The count of operations of a kind per iteration, each lane counted."""
        emitted = self.emitted_per_iteration.items()
        return sum(
            count * operation.lanes for operation, count in emitted if operation.name == name
        )


def listing(compiler: str, level: Sequence[str], source: Path) -> str:
    """Compile to assembly; raises FailedError if the compiler fails."""
    outcome = run([compiler, *level, "-g", "-S", "-o", "-", str(source)], COMPILE_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(f"{compiler} cannot compile {source}: {outcome.reason}")
    return outcome.stdout


def rungs(
    text: str, loops: Sequence[LoopCounts], processor: Processor, is_optimised: bool
) -> list[Rungs | None]:
    """The rungs of each loop of a source in a listing; None if none was emitted for it.

    Where several were emitted, such as a vector loop and its remainder loop, the one with most
    iterations per pass counts.
    """
    return [
        _rungs(loop.emitted, loop.iterations, processor) if loop else None
        for loop in chosen_loops(text, loops, is_optimised)
    ]


@dataclass(frozen=True)
class ChosenLoop:
    """The emitted loop that stands for a loop of the source, and iterations of that per pass."""

    emitted: EmittedLoop
    iterations: int


def chosen_loops(
    text: str, loops: Sequence[LoopCounts], is_optimised: bool
) -> list[ChosenLoop | None]:
    """The emitted loop with most iterations per pass for each loop of a source; None if none."""
    emitted = emitted_loops(text)
    starts = [*sorted(source_loop.line for source_loop in loops), 10**9]
    chosen: list[ChosenLoop | None] = []
    for source_loop in loops:
        end = next(line for line in starts if line > source_loop.line) - 1
        candidates = [
            ChosenLoop(loop, _iterations(loop, source_loop) if is_optimised else 1)
            for loop in loops_of_lines(emitted, source_loop.line, end)
        ]
        # The first of several.
        chosen.append(max(candidates, default=None, key=lambda candidate: candidate.iterations))
    return chosen


def _operation_counts(loop: EmittedLoop) -> Counter[MicroOperation]:
    return Counter(
        operation for instruction in loop.always for operation in operations(instruction)
    )


def _forwarded_cycles(loop: EmittedLoop, processor: Processor) -> float:
    """Extra cycles of the load unit for integer loads of what the loop has just stored."""
    cycles_by_address = {
        writes_memory(instruction): processor.forwarded_cycles(
            "updated_load" if reads_memory(instruction) else "forwarded_load"
        )
        for instruction in loop.always
        if writes_memory(instruction)
    }
    usual_cycles = processor.busy_cycles("integer_load")
    return sum(
        max(0.0, cycles_by_address.get(reads_memory(instruction), 0.0) - usual_cycles)
        for instruction in loop.always
        if MicroOperation("integer_load") in operations(instruction)
    )


def _iterations(loop: EmittedLoop, source: LoopCounts) -> int:
    """Iterations of the source per pass of the emitted loop, by how far its addresses move."""
    operation_counts = _operation_counts(loop)
    strides = [stride_elements(stream) for stream in source.streams]
    source_steps = [abs(stride) * NUMBER_BYTES for stride in strides if stride]
    emitted_steps = _steps_bytes(loop)
    if source_steps and emitted_steps and min(emitted_steps) % min(source_steps) == 0:
        return min(emitted_steps) // min(source_steps)
    flops = sum(
        FLOPS.get(operation.name, 0) * operation.lanes * count
        for operation, count in operation_counts.items()
    )
    if source.flops and flops:
        return max(1, round(flops / source.flops))
    return max([operation.lanes for operation in operation_counts], default=1)


def _rungs(loop: EmittedLoop, iterations: int, processor: Processor) -> Rungs:
    operation_counts = _operation_counts(loop)
    times = _times(loop, operation_counts, processor)
    unit = max(times, key=lambda name: times[name])
    return Rungs(
        times[unit] / iterations,
        chain_cycles(loop, processor) / iterations,
        unit,
        {operation: count / iterations for operation, count in operation_counts.items()},
        sum(map(_is_spill, loop.instructions)) / iterations,
    )


def _times(
    loop: EmittedLoop, operation_counts: Counter[MicroOperation], processor: Processor
) -> dict[str, float]:
    """Cycles of a pass by the unit that it keeps busy."""
    times = {"issue": _issue_slots(loop) / processor.issue_per_cycle}
    for operation, count in operation_counts.items():
        busy = count * processor.busy_cycles(operation.name, operation.lanes)
        times[operation.name] = times.get(operation.name, 0.0) + busy
    for unit in processor.units:
        # Only the widths that a shared unit describes keep it busy.
        cycles = (count * unit.cycles.get(own.key, 0.0) for own, count in operation_counts.items())
        times[unit.name] = sum(cycles)
    if LOADS in times:
        times[LOADS] += _forwarded_cycles(loop, processor)
    return times


def _is_spill(instruction: Instruction) -> bool:
    """Whether it accesses the stack."""
    return any(
        "(%rsp" in operand for operand in (reads_memory(instruction), writes_memory(instruction))
    )


def _issue_slots(loop: EmittedLoop) -> int:
    """Issue slots of a pass; a comparison and the jump after it are fused into one."""
    instructions = loop.always
    pairs = pairwise(instructions)
    fused = sum(
        instruction.name.startswith(("cmp", "test", "add", "sub", "dec", "inc"))
        and successor.is_jump
        for instruction, successor in pairs
    )
    return len(instructions) - fused


def _steps_bytes(loop: EmittedLoop) -> list[int]:
    """By how many bytes each access moves on in a pass, where that is known."""
    integers = in_any_iteration(loop)
    steps_bytes = []
    for position, instruction in enumerate(loop.instructions):
        for operand in filter(None, (reads_memory(instruction), writes_memory(instruction))):
            address = integers.address(operand)
            step = None if address.is_indirect else address.step().constant
            if step and position not in loop.skipped:
                steps_bytes.append(abs(step))
        integers.step(instruction, position in loop.skipped)
    return steps_bytes


def climb(
    bounds: Sequence[Bound],
    loops: Sequence[Rungs],
    build: Build,
    measured_cycles: float | None,
    followed_cycles: float | None = None,
) -> Climb:
    """Sum the rungs of loops with equal trip counts, for one iteration of each.

    Without `loops`, emitted operations are unknown; without `bounds`, essential ones. Where
    instructions were followed, their time is MACS, not the dependency chain in the listing.
    """
    scheduled_cycles = sum(rungs.scheduled_cycles for rungs in loops) if loops else None
    essential_loads = sum(bound.counts.loads for bound in bounds)
    loads_ratio = sum(rungs.loads for rungs in loops) / essential_loads if essential_loads else 1.0
    return Climb(
        essential_cycles=sum(bound.cycles for bound in bounds) if bounds else None,
        emitted_cycles=sum(rungs.emitted_cycles for rungs in loops) if loops else None,
        scheduled_cycles=scheduled_cycles if followed_cycles is None else followed_cycles,
        measured_cycles=measured_cycles,
        is_optimised=build.is_optimised,
        is_vector=any(rungs.is_vector for rungs in loops),
        is_fused=_is_fused(bounds, loops),
        loads_ratio=loads_ratio,
        spills_per_iteration=sum(rungs.spills_per_iteration for rungs in loops),
    )


def _is_fused(bounds: Sequence[Bound], loops: Sequence[Rungs]) -> bool:
    """Whether multiply-adds are fused, or the loop has none."""
    fusible_pairs = sum(bound.counts.of("fused_multiply_add") for bound in bounds)
    return not fusible_pairs or any(rungs.amount("fused_multiply_add") for rungs in loops)

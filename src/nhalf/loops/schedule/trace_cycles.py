"""Fewest cycles of a trace of executed instructions on a processor."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from nhalf.loops.listing.decoded import Decoded
from nhalf.loops.schedule.core import Core
from nhalf.loops.schedule.nearest_cache import with_misses
from nhalf.loops.schedule.tracing import Executed
from nhalf.machines.processor import Processor

WHOLE_TRACE_MAX = 16_000
"""Up to this many instructions all are executed; of longer traces, pieces from all over it."""
PIECES = 8
PIECE_INSTRUCTIONS = 3_000
WARM_UP_INSTRUCTIONS = 1_000
"""Instructions executed before each piece, so that the core is in its steady state."""


def trace_cycles(
    trace: Sequence[Executed], instructions: Sequence[Decoded], processor: Processor
) -> float:
    """Fewest cycles of a trace that follows another one of the same kind."""
    trace = with_misses(trace, instructions, processor)
    busiest_cycles = _busiest_cycles(trace, instructions, processor)
    if len(trace) <= WHOLE_TRACE_MAX:
        return max(busiest_cycles, _cycles(trace, trace, instructions, processor))
    starts = [
        WARM_UP_INSTRUCTIONS
        + place * (len(trace) - WARM_UP_INSTRUCTIONS - PIECE_INSTRUCTIONS) // (PIECES - 1)
        for place in range(PIECES)
    ]
    pieces = [
        _cycles(
            trace[start - WARM_UP_INSTRUCTIONS : start],
            trace[start : start + PIECE_INSTRUCTIONS],
            instructions,
            processor,
        )
        for start in starts
    ]
    return max(busiest_cycles, fmean(pieces) / PIECE_INSTRUCTIONS * len(trace))


def _busiest_cycles(
    trace: Sequence[Executed], instructions: Sequence[Decoded], processor: Processor
) -> float:
    """Cycles of the busiest unit, or of the front end: a lower bound whatever overlaps."""
    busy: dict[str, float] = {}
    issue_cycles = 0.0
    for number, count in Counter(executed.number for executed in trace).items():
        instruction = instructions[number]
        issue_cycles += count * (
            instruction.issue_slots / processor.issue_per_cycle + instruction.call_cycles
        )
        for name, cycles in instruction.busy_cycles:
            busy[name] = busy.get(name, 0.0) + count * cycles
    return max([issue_cycles, *busy.values()])


def _cycles(
    before: Sequence[Executed],
    trace: Sequence[Executed],
    instructions: Sequence[Decoded],
    processor: Processor,
) -> float:
    core = Core(processor)
    core.run(before, instructions)
    start_cycle = core.retired_cycle
    core.run(trace, instructions)
    return core.retired_cycle - start_cycle

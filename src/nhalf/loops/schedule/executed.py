"""Cycles of a program from its executed instructions, one by one on a described core."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from nhalf.base.errors import FailedError
from nhalf.base.processes import run
from nhalf.loops.builds import Build
from nhalf.loops.listing.decoded import Decoded, decoded
from nhalf.loops.listing.library_costs import call_costs, called_functions
from nhalf.loops.listing.listing import instructions_of
from nhalf.loops.schedule.core import Core
from nhalf.loops.schedule.tracing import Executed, executed, recording
from nhalf.machines.processor import Cache, Processor


class NearCache:
    """A set-associative cache that evicts the least recently used line."""

    def __init__(self, cache: Cache) -> None:
        self.ways = cache.ways or cache.size_bytes // cache.line_bytes
        self.sets: list[dict[int, None]] = [
            {} for _ in range(cache.size_bytes // cache.line_bytes // self.ways)
        ]

    def holds(self, line: int) -> bool:
        """Whether the cache holds a line; afterwards it does."""
        lines = self.sets[line % len(self.sets)]
        is_held = line in lines
        if is_held:
            del lines[line]
        elif len(lines) >= self.ways:
            del lines[next(iter(lines))]
        lines[line] = None
        return is_held


def with_misses(
    trace: Sequence[Executed], instructions: Sequence[Decoded], processor: Processor
) -> list[Executed]:
    """The trace of one of many passes, with the lines that each instruction misses."""
    if not processor.caches:
        return list(trace)
    line_bytes = processor.caches[0].line_bytes
    cache = NearCache(processor.caches[0])
    marked = list(trace)
    for _ in range(2):
        for position, step in enumerate(marked):
            if step.address:
                last = step.address + instructions[step.number].size_bytes - 1
                lines = range(step.address // line_bytes, last // line_bytes + 1)
                missed = sum(not cache.holds(line) for line in lines)
                if missed != step.missed:
                    marked[position] = step._replace(missed=missed)
    return marked


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
    span = len(trace) - WARM_UP_INSTRUCTIONS - PIECE_INSTRUCTIONS
    pieces = []
    for place in range(PIECES):
        begin = place * span // (PIECES - 1)
        start = begin + WARM_UP_INSTRUCTIONS
        piece = trace[start : start + PIECE_INSTRUCTIONS]
        pieces.append(_cycles(trace[begin:start], piece, instructions, processor))
    return max(busiest_cycles, fmean(pieces) / PIECE_INSTRUCTIONS * len(trace))


def _busiest_cycles(
    trace: Sequence[Executed], instructions: Sequence[Decoded], processor: Processor
) -> float:
    """Cycles of the busiest unit, or of the front end: a lower bound whatever overlaps."""
    busy: dict[str, float] = {}
    issue_cycles = 0.0
    for number, count in Counter(step.number for step in trace).items():
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


ASSEMBLE_TIMEOUT_S = 120.0
RUN_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Followed:
    """The report that a program printed, and the fewest cycles of each of its passes."""

    report: Mapping[str, Any]
    pass_cycles: float


def assembled(
    build: Build,
    listings: Mapping[str, str],
    folder: Path,
    arguments: Sequence[str] = (),
    functions: Collection[str] | None = None,
) -> Path:
    """Build a program of listings, by file name, whose functions record their instructions.

    Only `functions` record, by default all. `arguments` are further ones for the compiler, such as
    other sources. Raises FailedError if it cannot be assembled.
    """
    files = []
    for name, text in listings.items():
        files.append(folder / f"{name}.s")
        files[-1].write_text(recording(text, functions), "utf-8")
    program = folder / "followed"
    command = [build.compiler, "-O1", "-std=gnu11", *arguments, *map(str, files), "-lm"]
    outcome = run([*command, "-o", str(program)], ASSEMBLE_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(f"the listings ({build.title}) cannot be assembled: {outcome.reason}")
    return program


def followed(command: Sequence[str], text: str, processor: Processor, folder: Path) -> Followed:
    """Run a program that writes the records of a listing to the file that is its last argument.

    Raises FailedError if it fails, or records nothing.
    """
    records = folder / "records"
    outcome = run([*command, str(records)], RUN_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(outcome.reason)
    report = json.loads(outcome.stdout.splitlines()[-1])
    trace = list(executed(records.read_bytes()))
    instructions = instructions_of(text)
    decoded_instructions = decoded(
        instructions, processor, call_costs(called_functions(instructions))
    )
    cycles = trace_cycles(trace, decoded_instructions, processor)
    return Followed(report, cycles / report["passes"])

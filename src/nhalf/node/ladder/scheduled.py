# SPDX-License-Identifier: Apache-2.0
"""What a trace of executed instructions takes at least on a processor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from nhalf.machines.processor import Processor
from nhalf.node.ladder.core import Core
from nhalf.node.ladder.decoded import Decoded
from nhalf.node.ladder.near import with_misses
from nhalf.node.ladder.tracing import Executed

WHOLE = 16_000
"""Instructions up to which all are followed; of more, pieces from all over the trace."""
PIECES = 8
PIECE = 3_000
BEFORE = 1_000
"""Instructions before each piece, so that the core is as busy as it is in between."""


def trace_cycles(trace: Sequence[Executed], what: Sequence[Decoded], processor: Processor) -> float:
    """Cycles of a trace after another one of the same kind."""
    trace = with_misses(trace, what, processor)
    least = _busiest_cycles(trace, what, processor)
    if len(trace) <= WHOLE:
        return max(least, _cycles(trace, trace, what, processor))
    begins = [
        BEFORE + place * (len(trace) - BEFORE - PIECE) // (PIECES - 1) for place in range(PIECES)
    ]
    pieces = [
        _cycles(trace[at - BEFORE : at], trace[at : at + PIECE], what, processor) for at in begins
    ]
    return max(least, fmean(pieces) / PIECE * len(trace))


def _busiest_cycles(
    trace: Sequence[Executed], what: Sequence[Decoded], processor: Processor
) -> float:
    """What the busiest unit, or the front end, takes for a trace: no overlap makes it less."""
    busy: dict[str, float] = {}
    front_cycles = 0.0
    for number, count in Counter(one.number for one in trace).items():
        one = what[number]
        front_cycles += count * (one.slots / processor.issue_per_cycle + one.call_cycles)
        for name, cycles in one.busy_cycles:
            busy[name] = busy.get(name, 0.0) + count * cycles
    return max([front_cycles, *busy.values()])


def _cycles(
    before: Sequence[Executed],
    trace: Sequence[Executed],
    what: Sequence[Decoded],
    processor: Processor,
) -> float:
    core = Core(processor)
    core.run(before, what)
    began = core.ended
    core.run(trace, what)
    return core.ended - began

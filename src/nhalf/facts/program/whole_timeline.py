"""Whether a timeline holds every call, and whether at least the counts do."""

from __future__ import annotations

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program
from nhalf.measure.traced.collect import LOST
from nhalf.measure.traced.layout import DISK_FULL, TIMELINE_CUT


@fact
def has_whole_timeline(program: Program) -> bool:
    """Whether there is a timeline that nothing cut off: what is replayed is the whole program."""
    is_cut = any("timeline" in note or note == LOST[DISK_FULL] for note in program.trace.notes)
    return not program.timeline.is_empty() and not is_cut


@fact
def is_counted(program: Program) -> bool:
    """Whether every call is counted; a timeline that is cut off lacks none of the counts."""
    trace = program.trace
    is_cut = trace.notes == [LOST[TIMELINE_CUT]]
    return trace.complete or (is_cut and all(record.finished for record in trace.ranks))

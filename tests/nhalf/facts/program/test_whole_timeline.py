"""Nothing is said of a whole program by a timeline that was cut off."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.decide.program.efficiency import efficiency
from nhalf.decide.program.predict import COUNTS, TIMELINE, predict_program
from nhalf.decide.program.target import Target
from nhalf.decide.program.tolerance import tolerances
from nhalf.decide.program.tolerance_curves import curves, network_curves
from nhalf.facts.program.program import Program
from nhalf.facts.program.whole_timeline import has_whole_timeline, is_counted
from nhalf.machines.message import Messages
from nhalf.measure.traced.collect import LOST
from nhalf.measure.traced.layout import DISK_FULL, SIZES_ROUNDED, TIMELINE_CUT
from nhalf.present.program.verdict import program_verdict
from tests.nhalf.decide.program.known_programs import machine
from tests.nhalf.traced_programs import call, program, timed


def late(*notes: str) -> Program:
    """A message that is received late."""
    made = timed(
        2,
        call(0, "MPI_Send", "sent", 1, 4.0, 4.5),
        call(1, "MPI_Recv", "received", 0, 1.0, 5.0),
    )
    made.trace.notes = list(notes)
    made.trace.complete = not notes
    return made


@pytest.mark.parametrize(
    "note",
    [
        LOST[TIMELINE_CUT],
        LOST[DISK_FULL],
        "the timeline of rank 1 lacks 3 records: its file is cut off",
    ],
)
def test_of_a_part_only_the_counts_speak(note: str) -> None:
    whole, part = late(), late(note)
    assert (has_whole_timeline(whole), has_whole_timeline(part)) == (True, False)
    trees = efficiency(whole), efficiency(part)
    assert trees[0] is not None and trees[0].transfer_share is not None
    assert trees[1] is not None and trees[1].transfer_share is None
    assert trees[1].communication_share == trees[0].communication_share
    assert tolerances(whole) and not tolerances(part)
    assert network_curves(whole) and not network_curves(part)
    on = Messages(machine())
    methods = [predict_program(made, Target(on), on).method for made in (whole, part)]
    assert methods == [TIMELINE, COUNTS]
    with pytest.raises(InputError, match="no whole timeline"):
        curves([part])


def test_what_rounds_sizes_cuts_nothing() -> None:
    assert has_whole_timeline(late(LOST[SIZES_ROUNDED]))
    assert not has_whole_timeline(program(2))


def test_counts_are_whole_where_only_the_timeline_is_cut() -> None:
    part = late(LOST[TIMELINE_CUT])
    assert is_counted(part) and is_counted(late()) and not is_counted(late(LOST[DISK_FULL]))
    assert program_verdict(part).startswith("The timeline is cut off. ")
    assert program_verdict(late(LOST[DISK_FULL])).startswith("The trace is incomplete. ")
    unfinished = late(LOST[TIMELINE_CUT])
    unfinished.trace.ranks[0].finished = False
    assert not is_counted(unfinished)

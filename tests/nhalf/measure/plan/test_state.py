"""What a journal says, in every form."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.measure.plan.state import RunState


@pytest.mark.parametrize(
    "event",
    [
        {"event": "point"},
        {"event": "sizes", "subject": "x"},
        {"event": "failed", "pattern": "p", "ranks": 2},
        {"event": "point", "pattern": [], "ranks": 2, "bytes": 3, "subject": "x", "launch": 0},
    ],
)
def test_a_journal_of_another_form_is_one_clear_line(event: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="event of another form"):
        RunState().note(event)


def test_events_that_are_not_known_are_passed_over() -> None:
    state = RunState()
    state.note({"event": "later"})
    assert state == RunState()


def test_hosts_that_died_are_remembered() -> None:
    state = RunState()
    state.note({"event": "host", "host": "n2", "reason": "does not answer any more"})
    assert state.dead == {"n2": "does not answer any more"}
    with pytest.raises(InputError):
        state.note({"event": "host"})


def test_ranks_that_moved_to_other_hosts() -> None:
    state = RunState()
    launch = {"event": "launch", "subject": "x", "ranks": 2, "asked_placement": "2x1"}
    state.note(launch | {"placement": [{"host": "n1"}, {"host": "n2"}]})
    start = ("x", 2, "2x1")
    assert not state.moved(start, {"placement": [{"host": "n1"}, {"host": "n2"}]})
    assert state.moved(start, {"placement": [{"host": "n2"}, {"host": "n1"}]})
    assert not state.moved(("x", 2, "1x2"), {"placement": [{"host": "n2"}, {"host": "n2"}]})

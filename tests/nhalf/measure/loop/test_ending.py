"""How a run ended, from its journal: word for word, and once.

The end of a job is seen before it comes, on a clock that does as it is told.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nhalf.measure.loop.ending import (
    ROOM_S,
    UNLIMITED,
    RunOutcome,
    TimeLimit,
    TimeUp,
    keep_end,
    last_end,
    time_limit,
)
from nhalf.store.journal import Tail
from nhalf.store.run import Run


def run_in(folder: Path) -> Run:
    return Run.create(folder / "r", {"environment": {}, "plan": {}, "titles": {}})


def test_what_is_kept_is_what_is_told(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    assert last_end(run) is None
    assert run.ends() == 0
    outcome = RunOutcome(run, {"mpich": "it's ill"}, ["a note"], {"pingpong": (1, 3)})
    outcome = dataclasses.replace(outcome, lost={"n3": "no route"})
    keep_end(outcome)
    assert last_end(run) == outcome
    keep_end(outcome)
    assert run.ends() == 1, "a run that ends as before says nothing"
    other = dataclasses.replace(outcome, failed={})
    keep_end(other)
    assert last_end(run) == other
    keep_end(outcome)
    assert (last_end(run), run.ends()) == (outcome, 3)


def test_an_end_is_told_again_after_points(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    outcome = RunOutcome(run, {})
    keep_end(outcome)
    with run.journal() as journal:
        journal.append({"event": "planned", "points": 1})
    keep_end(outcome)
    assert run.ends() == 2


def test_a_tail_hands_out_whole_lines_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    tail = Tail(path)
    assert list(tail.lines()) == [], "there is none yet"
    path.write_bytes(b"one\ntwo\nthr")
    assert list(tail.lines()) == [b"one\n", b"two\n"]
    assert list(tail.lines()) == []
    path.write_bytes(b"one\ntwo\nthree\n")
    assert list(tail.lines()) == [b"three\n"]


RESUMING = "nhalf run --resume /r"


class Clock:
    """Seconds, and when the job ends by what the scheduler says at the time."""

    def __init__(self, ends_s: float | None) -> None:
        self.now_s = 0.0
        self.ends_s = ends_s
        self.asked = 0

    def left_s(self) -> float | None:
        self.asked += 1
        return None if self.ends_s is None else self.ends_s - self.now_s

    def limit(self) -> TimeLimit:
        return TimeLimit(self.left_s, "Slurm job 7", lambda: self.now_s)


def test_it_is_near_before_the_end_and_not_earlier() -> None:
    clock = Clock(100.0)
    limit = clock.limit()
    clock.now_s = 100.0 - ROOM_S - 1
    assert not limit.is_near()
    limit.check(RESUMING)
    assert clock.asked == 1, "nobody is asked at every point"
    clock.now_s = 100.0 - ROOM_S
    assert limit.is_near()
    with pytest.raises(TimeUp, match="time of Slurm job 7 is nearly up") as caught:
        limit.check(RESUMING)
    assert RESUMING in str(caught.value)
    assert caught.value.exit_code == 130


def test_a_limit_may_be_extended_or_fall_away() -> None:
    clock = Clock(100.0)
    limit = clock.limit()
    clock.now_s, clock.ends_s = 99.0, 200.0
    assert not limit.is_near()
    clock.now_s = 190.0
    assert limit.is_near()
    clock.ends_s = None
    assert not limit.is_near()


def test_no_limit_is_never_near() -> None:
    clock = Clock(None)
    limit = clock.limit()
    clock.now_s = 1e12
    assert not limit.is_near()
    UNLIMITED.check(RESUMING)


def test_outside_of_jobs_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert not time_limit().is_near()


def test_inside_of_a_job_its_scheduler_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    squeue = tmp_path / "squeue"
    squeue.write_text('#!/bin/sh\n[ "$1" = --jobs=7 ] && echo 0:03\n')
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert time_limit().is_near()
    squeue.write_text("#!/bin/sh\necho UNLIMITED\n")
    assert not time_limit().is_near()

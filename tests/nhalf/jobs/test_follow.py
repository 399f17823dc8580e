"""Following a job, with a scheduler and a clock that do as they are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from nhalf.base.errors import MissingError
from nhalf.jobs.follow import ASK_LEAST_S, ASK_MOST_S, AWAY_MAX_S, LATE_MAX_S, JobStatus, follow
from nhalf.sites.batch import BatchSystem, JobState, Phase, Unreachable

WAITING = JobState("PENDING", Phase.WAITING, "Resources")
RUNNING = JobState("RUNNING", Phase.RUNNING, "", "n1")
DONE = JobState("COMPLETED", Phase.DONE)
TIMEOUT = JobState("TIMEOUT", Phase.BROKEN, "TimeLimit")


class Scripted:
    """A scheduler that answers from a list; the last answer is repeated. And a clock."""

    title = "Slurm"

    def __init__(self, answers: list[JobState | Unreachable | None]) -> None:
        self.answers = answers
        self.asked_s: list[float] = []
        self.now_s = 0.0
        self.at: dict[float, Callable[[], None]] = {}

    def state(self, job: str) -> JobState | None:
        assert job == "7"
        self.asked_s.append(self.now_s)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Unreachable):
            raise answer
        return answer

    def pause(self, seconds: float) -> None:
        self.now_s += seconds
        for moment in [moment for moment in self.at if moment <= self.now_s]:
            self.at.pop(moment)()

    def follow(self, run: Path, ends: int = 0) -> Iterator[JobStatus]:
        system = cast(BatchSystem, self)
        return follow(system, "7", run, ends, pause=self.pause, now=lambda: self.now_s)


def write(run: Path, *events: dict[str, Any], end: str = "\n") -> None:
    with (run / "journal.jsonl").open("a") as file:
        file.write("\n".join(json.dumps(event) for event in events) + end)


POINT = {"event": "point", "mpi": "m", "pattern": "pingpong", "bytes": 8, "samples_s": [1.0]}


def test_states_come_in_order_and_the_last_one_is_the_end(tmp_path: Path) -> None:
    system = Scripted([WAITING, WAITING, RUNNING, TIMEOUT])
    looks = list(system.follow(tmp_path))
    names = list(dict.fromkeys(look.state.name for look in looks if look.state))
    assert names == ["PENDING", "RUNNING", "TIMEOUT"]
    assert [look.state for look in looks].count(TIMEOUT) == 1
    assert looks[-1] == JobStatus(TIMEOUT)
    assert system.asked_s == [0.0, ASK_LEAST_S, 2 * ASK_LEAST_S, 3 * ASK_LEAST_S]


def test_points_are_those_of_the_journal(tmp_path: Path) -> None:
    system = Scripted([RUNNING, RUNNING, RUNNING, DONE])
    write(tmp_path, POINT, POINT)
    system.at[1.0] = lambda: write(tmp_path, {"event": "planned", "points": 3}, POINT)
    system.at[2.0] = lambda: write(tmp_path, {"event": "point", "bytes": "odd"}, POINT, end="")
    system.at[3.0] = lambda: write(tmp_path, {}, {"event": "end"})
    looks = list(system.follow(tmp_path))
    assert [look.points for look in looks[:3]] == [2, 3, 3]
    assert [look.planned for look in looks[:2]] == [0, 5]
    # The line without an end was damaged by what came after it.
    assert looks[-1] == JobStatus(DONE, 3, 5, 1, "m  pingpong 8 B")


def test_a_job_that_nobody_knows_has_ended(tmp_path: Path) -> None:
    assert list(Scripted([None]).follow(tmp_path)) == [JobStatus(None)]


def test_a_scheduler_may_be_away_for_a_while(tmp_path: Path) -> None:
    away = Unreachable("connect failure")
    system = Scripted([away, RUNNING, *[away] * 10, DONE])
    write(tmp_path, {"event": "end"})
    states = [look.state for look in system.follow(tmp_path)]
    assert states[0] is None and states[-1] == DONE
    assert states[5] == RUNNING, "the last state that is known"


def test_but_not_for_ever(tmp_path: Path) -> None:
    system = Scripted([Unreachable("connect failure")])
    with pytest.raises(MissingError, match=r"15 min \(connect failure\); job 7"):
        list(system.follow(tmp_path))
    assert AWAY_MAX_S < system.now_s < AWAY_MAX_S + 2 * ASK_MOST_S


def test_the_file_system_may_be_late_but_not_for_ever(tmp_path: Path) -> None:
    write(tmp_path, {"event": "end"})
    system = Scripted([DONE])
    system.at[3.0] = lambda: write(tmp_path, POINT, {"event": "end"})
    assert list(system.follow(tmp_path, ends=1))[-1].ends == 2
    assert system.now_s == 3.0
    system = Scripted([DONE])
    assert list(system.follow(tmp_path, ends=2))[-1].ends == 2
    assert system.now_s == LATE_MAX_S
    system = Scripted([TIMEOUT])
    list(system.follow(tmp_path, ends=2))
    assert system.now_s == 0.0, "nothing is to be expected"


def test_long_jobs_are_asked_for_seldom(tmp_path: Path) -> None:
    system = Scripted([*[WAITING] * 300, TIMEOUT])
    list(system.follow(tmp_path))
    apart_s = [b - a for a, b in zip(system.asked_s, system.asked_s[1:], strict=False)]
    assert (apart_s[0], apart_s[-1]) == (ASK_LEAST_S, ASK_MOST_S)

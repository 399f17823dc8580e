"""Which of several processes ended first.

The rank that ended first, from what launchers and other ranks say.
"""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from nhalf.measure.probe import rank_watch
from nhalf.measure.probe.rank_watch import RankWatch, ended_rank, own_words


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    yield started
    for process in started:
        process.kill()
        process.wait()


def watched(
    processes: list[subprocess.Popen[bytes]], host: str
) -> tuple[RankWatch, selectors.BaseSelector]:
    selector = selectors.DefaultSelector()
    watch = RankWatch(selector)
    watch.begin([{"rank": n, "host": host, "pid": p.pid} for n, p in enumerate(processes)])
    return watch, selector


def look(watch: RankWatch, selector: selectors.BaseSelector, timeout_s: float) -> None:
    watch.note([key.fd for key, _ in selector.select(timeout_s)])


def test_the_first_to_end_is_remembered_and_the_others_may_follow(
    processes: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, selector = watched(processes, socket.gethostname())
    look(watch, selector, 0)
    assert (watch.first_process, watch.is_overdue) == (0, False)
    for number in (1, 0):
        processes[number].kill()
        look(watch, selector, 60)
    assert watch.first is not None and watch.first["rank"] == 1
    was_overdue = watch.is_overdue
    monkeypatch.setattr(rank_watch, "ENDS_ALONE_S", -1.0)
    assert (was_overdue, watch.is_overdue) == (False, True)
    watch.close()
    assert not selector.get_map()


def test_of_several_that_ended_meanwhile_the_first_is_known(
    processes: list[subprocess.Popen[bytes]],
) -> None:
    watch, selector = watched(processes, socket.gethostname())
    for number in (2, 0, 1):
        processes[number].kill()
        processes[number].wait()
    look(watch, selector, 60)
    assert watch.first is not None and watch.first["rank"] == 2


def test_processes_of_other_hosts_are_not_looked_for(
    processes: list[subprocess.Popen[bytes]],
) -> None:
    watch, selector = watched(processes, "another")
    assert len(selector.get_map()) == 1  # only who listens
    watch.close()
    assert not selector.get_map()


HOLDER = """
import os, socket, time
line = socket.socket(socket.AF_UNIX)
line.connect("\\0" + os.environ["NHALF_LIFE_LINE"])
time.sleep(60)
"""


def test_a_life_line_names_its_process_before_ranks_have_said_who_they_are() -> None:
    selector = selectors.DefaultSelector()
    watch = RankWatch(selector)
    names = {**os.environ, **dict([watch.mark.split("=")])}
    holders = [subprocess.Popen([sys.executable, "-c", HOLDER], env=names) for _ in range(2)]
    try:
        while len(selector.get_map()) < 3:
            look(watch, selector, 60)
        holders[1].kill()
        look(watch, selector, 60)
        assert watch.first_process == holders[1].pid
        assert not watch.is_sure(2)
        here = socket.gethostname()
        watch.begin([{"rank": n, "host": here, "pid": one.pid} for n, one in enumerate(holders)])
        assert watch.first is not None and watch.first["rank"] == 1
        assert watch.is_sure(2) and not watch.is_sure(3)
    finally:
        watch.close()
        for one in holders:
            one.kill()
            one.wait()


PLACEMENT = [{"rank": rank, "host": "n1", "pid": 4710 + rank} for rank in range(3)]
NAMED = "rank 1 (process 4711) ended before the others"


@pytest.mark.parametrize(
    "line",
    [
        "=   PID 4711 RUNNING AT n1",
        "=   RANK 1 PID 4711 RUNNING AT n1",
        "mpirun noticed that process rank 1 with PID 4711 on node n1 exited on signal 9 (Killed).",
        "probe: rank 1 (process 4711) has ended before the others",
    ],
)
def test_a_rank_is_named_by_its_process(line: str) -> None:
    assert ended_rank(["some words 4712", line, "YOUR APPLICATION TERMINATED"], PLACEMENT) == NAMED


def test_what_a_rank_has_seen_goes_before_what_launchers_clean_up() -> None:
    lines = ["probe: rank 1 (process 4711) has ended before the others", "killing PID 4710"]
    assert ended_rank(lines, PLACEMENT) == NAMED


@pytest.mark.parametrize("line", ["PID 4710 and PID 4711", "PID 99", "rank 1 failed", ""])
def test_nothing_is_guessed(line: str) -> None:
    assert ended_rank([line], PLACEMENT) == ""


def test_the_kernel_goes_before_launchers_that_name_all() -> None:
    lines = ["RANK 0 PID 4710 RUNNING AT n1", "RANK 1 PID 4711 RUNNING AT n1"]
    assert ended_rank(lines, PLACEMENT) == ""
    assert ended_rank(lines, PLACEMENT, PLACEMENT[1]) == NAMED


ALL_GIVE_UP = [
    "probe: rank 0: rank 1 (process 4711) has ended before the others",
    "probe: rank 2: rank 0 (process 4710), rank 1 (process 4711) has ended before the others",
]


def test_a_rank_that_gave_up_because_of_another_is_not_named() -> None:
    assert ended_rank(ALL_GIVE_UP, PLACEMENT) == NAMED
    assert ended_rank(ALL_GIVE_UP, PLACEMENT, PLACEMENT[2]) == NAMED


def test_of_ranks_that_all_hold_a_life_line_the_first_is_named() -> None:
    lines = ["probe: rank 2: rank 0 (process 4710) has ended before the others"]
    assert ended_rank(lines, PLACEMENT, PLACEMENT[1], is_sure=True) == NAMED


def test_a_rank_that_gave_up_first_has_said_why() -> None:
    lines = ["probe: rank 0: rank 1 (process 4711) has ended", "probe: rank 1: no memory"]
    assert ended_rank(lines, PLACEMENT, PLACEMENT[1], is_sure=True) == ""
    assert own_words(lines, PLACEMENT[1])[0] == "rank 1: no memory"

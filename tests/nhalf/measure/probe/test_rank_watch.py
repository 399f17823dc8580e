# SPDX-License-Identifier: Apache-2.0
"""Which of several processes ended first."""

from __future__ import annotations

import selectors
import socket
import subprocess
from collections.abc import Iterator

import pytest

from nhalf.measure.probe import rank_watch
from nhalf.measure.probe.rank_watch import RankWatch


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
    assert watch.first is None and not watch.is_overdue
    for number in (1, 0):
        processes[number].kill()
        look(watch, selector, 60)
    assert watch.first is not None and watch.first["rank"] == 1
    assert not watch.is_overdue
    monkeypatch.setattr(rank_watch, "ENDS_ALONE_S", -1.0)
    assert watch.is_overdue
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
    assert not selector.get_map()
    watch.close()

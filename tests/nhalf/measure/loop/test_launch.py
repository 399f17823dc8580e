"""One launch and its retry without any process: what stands in for a probe follows a script.

When the front end must not work beside ranks.

What others take of the cores: what was busy, less what this process and its children took.
"""

from __future__ import annotations

import itertools
import os
import resource
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from nhalf.measure.loop import launch
from nhalf.measure.loop.launch import OthersWatch, busy_ticks, leaves_a_core
from nhalf.measure.loop.measure import Measuring
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.records import Records
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Subject
from nhalf.store.run import Run
from tests.nhalf.measure.loop.fakes import DESCRIPTION, EVERYTHING, measured

Answer = Callable[[int, int], dict[str, Any]]


class Scripted:
    """Answers a point with what `answer` says of its size and of the number of the launch."""

    def __init__(self, opened: list[Scripted], answer: Answer) -> None:
        opened.append(self)
        self.number = len(opened)
        self.launch = {"ranks": 2, "clock": {"name": "virtual"}}
        self.events: list[str] = []
        self._answer = answer
        self._asked: list[tuple[str, int]] = []

    def send(self, line: str) -> None:
        asked = dict(part.split("=") for part in line.split())
        self.events.append(f"asked {asked['bytes']}")
        self._asked.append((asked["id"], int(asked["bytes"])))

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        asked, size_bytes = self._asked.pop()
        assert asked == identity
        return self._answer(size_bytes, self.number)

    def kill(self) -> None:
        self.events.append("killed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.events.append("killed" if kind else "ended")


def point(size_bytes: int, number: int) -> dict[str, Any]:
    return {
        "nhalf": "point", "elapsed_s": 0.0, "batch": 1, "messages_per_round": 2,
        "bytes_per_time": size_bytes, "stop": "precision", "verified": True, "advice": [],
        "samples_s": [1e-6 * number],
    }  # fmt: skip


def measure(
    folder: Path, answer: Answer
) -> tuple[list[Scripted], Measuring, dict[str, str], list[dict[str, Any]]]:
    """The launches, the loop, what failed, and the journal of a run."""
    plan = Plan(
        transports=[], mpi=[], blocks=[Block(["pingpong"], [2], "0,8,64")], launches=2,
        budget_s=0.0, precision=0.1, options="", seed=1, timeout_s=10.0,
    )  # fmt: skip
    opened: list[Scripted] = []
    run = Run.create(folder / "run", {})
    subject = Subject("fake", ("fake",), DESCRIPTION)
    measuring = Measuring(
        run, plan, [subject], Progress(quiet=True), open_=lambda *_: Scripted(opened, answer)
    )
    failed = measuring.run()
    return opened, measuring, failed, run.events()


PASSES = 3


def test_a_launch_asks_for_every_point_in_passes_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nhalf.measure.plan.budget.VISITS_MAX", PASSES)
    opened, measuring, failed, events = measure(tmp_path, point)
    assert (failed, measuring.troubles_in_words()) == ({}, [])
    assert set(measured(events)) == set(EVERYTHING)
    for each in opened:
        *questions, last = each.events
        assert last == "ended"
        passes = [sorted(questions[start : start + 3]) for start in range(0, len(questions), 3)]
        assert passes == [["asked 0", "asked 64", "asked 8"]] * PASSES


def test_where_ranks_fill_all_cores_answers_are_kept_between_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, send = Records.point, Scripted.send
    for free in (True, False):
        order: list[str] = []
        monkeypatch.setattr("nhalf.measure.loop.launch.leaves_a_core", lambda launch, f=free: f)
        monkeypatch.setattr(Records, "point", logged(keep, order, "kept"))
        monkeypatch.setattr(Scripted, "send", logged(send, order, "asked"))
        measure(tmp_path / str(free), point)
        pairs = list(itertools.pairwise(order))
        assert (("asked", "asked") in pairs) == free


def test_simulations_share_the_points_of_a_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Subject, "at_once", 2)
    few, _, _, _ = measure(tmp_path / "few", point)
    assert len(few) == 2, "three points are not worth a second process"
    monkeypatch.setattr("nhalf.measure.loop.launch.POINTS_EACH", 1)
    opened, _, failed, events = measure(tmp_path / "many", point)
    assert failed == {}
    assert measured(events) == EVERYTHING
    assert [len(each.events) for each in opened] == [3, 2, 3, 2]
    assert all(each.events[-1] == "ended" for each in opened)


def logged(call: Callable[..., None], order: list[str], name: str) -> Callable[..., None]:
    def noting(*given: Any) -> None:
        order.append(name)
        call(*given)

    return noting


def test_a_launch_that_died_is_killed_and_only_what_it_lacks_is_asked_again(
    tmp_path: Path,
) -> None:
    def dies_once(size_bytes: int, number: int) -> dict[str, Any]:
        if (size_bytes, number) == (8, 1):
            raise LaunchError("gone")
        return point(size_bytes, number)

    opened, measuring, failed, events = measure(tmp_path, dies_once)
    assert failed == {}
    assert measured(events) == EVERYTHING
    first, again, _ = opened
    assert first.events[-2:] == ["asked 8", "killed"]
    assert set(again.events) == {"asked 0", "asked 8", "asked 64", "ended"} - set(first.events[:-2])
    assert again.events[-2] == "asked 8", "who ended a launch comes last"
    assert measuring.troubles_in_words() == ["fake: gone"]


def test_an_answer_is_kept_while_the_next_point_is_running(tmp_path: Path) -> None:
    """The last sample that came is in the journal although the next question finds nobody."""

    def dies_at_the_second(size_bytes: int, number: int) -> dict[str, Any]:
        if len(done) == 1:
            done.append(size_bytes)
            raise LaunchError("gone")
        done.append(size_bytes)
        return point(size_bytes, number)

    done: list[int] = []
    opened, _, _, events = measure(tmp_path, dies_at_the_second)
    kinds = [event["event"] for event in events]
    assert kinds[:4] == ["planned", "launch", "point", "launch"]
    assert len(opened) == 3


UNBOUND = [[0, 1, 2, 3]] * 4


@pytest.mark.parametrize(
    ("allowed", "free"),
    [
        ([], True),
        ([[0], [1]], True),
        ([[0], [1], [2], [3]], False),
        (UNBOUND, False),
        (UNBOUND[:3], True),
        ([[0, 1]] * 4, True),
        ([[]] * 4, False),
    ],
)
def test_ranks_are_counted_where_they_may_run(allowed: list[list[int]], free: bool) -> None:
    ranks = [{"host": "here", "allowed_cpus": cores} for cores in allowed]
    others = [{"host": "there", "allowed_cpus": [core]} for core in range(4)]
    assert leaves_a_core({"placement": [*ranks, *others]}, "here", 4) == free


def test_who_says_nothing_of_places_has_a_core_to_spare() -> None:
    assert leaves_a_core({})


TEXT = """cpu  99 99 99 99 99 99 99 99 0 0
cpu0 10 1 2 1000 500 3 4 5 7 0
cpu1 20 0 0 1000 0 0 0 0 0 0
cpu10 7 0 0 0 0 0 0 0 0 0
intr 12345
"""


def test_a_core_is_busy_that_neither_idles_nor_waits() -> None:
    assert busy_ticks(TEXT, [0]) == 10 + 1 + 2 + 3 + 4 + 5
    assert busy_ticks(TEXT, [1]) == 20
    assert busy_ticks(TEXT, [0, 1, 10]) == 25 + 20 + 7


@pytest.mark.parametrize(
    "text", ["", "cpu0\n", "cpu0 a b c d e f g h\n", TEXT.replace("cpu1 ", "")]
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        busy_ticks(text, [0, 1])


def test_own_time_is_not_that_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, ten seconds: 16 s busy, of which this process took 1 and its children 9."""
    ticks = os.sysconf("SC_CLK_TCK")
    clock = iter([(0.0, 0, (0.0, 0.0)), (10.0, 16 * ticks, (1.0, 9.0))])
    own: list[float] = []

    def read_text() -> str:
        now_s, busy, usages = next(clock)
        own[:] = usages
        monkeypatch.setattr(launch.time, "monotonic", lambda: now_s)
        return f"cpu0 {busy} 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n"

    monkeypatch.setattr(launch, "STAT", types.SimpleNamespace(read_text=read_text))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(
        resource,
        "getrusage",
        lambda who: types.SimpleNamespace(ru_utime=own[who != resource.RUSAGE_SELF], ru_stime=0.0),
    )
    watch = OthersWatch()
    assert watch.cores() == pytest.approx(0.6)


def test_where_the_system_does_not_tell_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "STAT", types.SimpleNamespace(read_text=lambda: ""))
    assert OthersWatch().cores() is None

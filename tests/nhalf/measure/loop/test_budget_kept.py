"""A budget is kept to and used up, on a clock that only moves when somebody works."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from nhalf.base.errors import InputError
from nhalf.jobs.request import RunRequest
from nhalf.measure.loop import launch, scout, session, stopping
from nhalf.measure.loop.measure import Measuring
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan import budget
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.planning import plan_of
from nhalf.measure.probe.subject import Subject
from nhalf.sites.site import HERE
from nhalf.statistics.doubt import MORE_LAUNCHES
from nhalf.store.run import Run
from tests.nhalf.measure.loop.fakes import DESCRIPTION, measured
from tests.probes import is_built

BATCH = 25
SAMPLE_S = 1e-6 * BATCH * 2
"""What a sample takes: it is a mean over a batch of rounds of two messages."""


@dataclass
class Machine:
    """What starting and a point cost beside its slice, and by how much launches differ.

    With `noise`, samples of 50 µs differ by it, and launches by `spread`.
    """

    start_s: float
    point_s: float
    spread: float
    noise: float = 0.0
    now_s: float = 1000.0
    starts: int = 0
    time: Callable[[], float] = field(default=time.time)

    def monotonic(self) -> float:
        return self.now_s


class Working:
    """Processes that take their time."""

    def __init__(self, machine: Machine) -> None:
        self.launch = {"ranks": 2, "clock": {"name": "virtual"}}
        self._machine = machine
        machine.starts += 1
        machine.now_s += machine.start_s
        self._asked: dict[str, str] = {}
        self._random = np.random.default_rng(machine.starts)
        self._level = self._random.normal(0, machine.spread)

    def send(self, line: str) -> None:
        self._asked = dict(part.split("=") for part in line.split())

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        machine, size_bytes = self._machine, int(self._asked["bytes"])
        machine.now_s += machine.point_s * (1 + size_bytes / 2**21) + float(self._asked["slice_s"])
        time_s = 1e-6 * (1 + machine.spread * (machine.starts * 7 % 5))
        samples_s = [time_s]
        if machine.noise:
            number = max(3, round(float(self._asked["slice_s"]) / SAMPLE_S))
            noises = self._level + self._random.normal(0, machine.noise, number)
            samples_s = (1e-6 * np.exp(noises)).tolist()
        return {
            "nhalf": "point", "elapsed_s": 0.0, "batch": BATCH, "messages_per_round": 2,
            "bytes_per_time": size_bytes, "stop": "time", "verified": True, "advice": [],
            "samples_s": samples_s,
        }  # fmt: skip

    def kill(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        pass


@pytest.fixture
def go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[float, list[dict[str, Any]], Measuring]]:
    """How long a run takes, its events and its loop."""

    def run(
        machine: Machine, budget_s: float, sizes: str, subjects: int = 1
    ) -> tuple[float, list[dict[str, Any]], Measuring]:
        for module in (budget, launch, scout, stopping):
            monkeypatch.setattr(module, "time", machine)
        plan = Plan(
            transports=[], mpi=[], blocks=[Block(["pingpong"], [2], sizes)], launches=5,
            budget_s=budget_s, precision=0.03, options="", seed=1, timeout_s=10.0,
        )  # fmt: skip
        made = Run.open(tmp_path) if (tmp_path / "run.json").exists() else Run.create(tmp_path, {})
        libraries = [Subject(f"library{n}", ("fake",), DESCRIPTION) for n in range(subjects)]
        began_s = machine.now_s
        measuring = Measuring(
            made, plan, libraries, Progress(quiet=True), open_=lambda *_: Working(machine)
        )
        assert measuring.run() == {}
        return machine.now_s - began_s, made.events(), measuring

    return run


@pytest.mark.sampled(6)
@pytest.mark.parametrize("subjects", [1, 2, 4])
@pytest.mark.parametrize("point_s", [0.003, 0.1, 0.5])
@pytest.mark.parametrize("budget_s", [15.0, 60.0])
def test_a_run_ends_within_its_budget_and_does_not_waste_it(
    go: Callable[..., Any], budget_s: float, point_s: float, subjects: int
) -> None:
    took_s, events, measuring = go(Machine(0.8, point_s, 0.2), budget_s, "0:4M", subjects)
    assert 0.8 * budget_s < took_s < 1.2 * budget_s
    assert len({subject for subject, _, _ in measured(events)}) == subjects
    left_out = len(measured(events)) < subjects * 5 * 24
    assert bool(measuring.omissions_in_words()) or not left_out, "what is left out is said"


@pytest.mark.parametrize("subjects", [1, 5])
@pytest.mark.parametrize("point_s", [0.003, 0.1, 0.4])
def test_without_a_budget_every_launch_is_made_of_fewer_sizes_where_time_is_short(
    go: Callable[..., Any], point_s: float, subjects: int
) -> None:
    took_s, events, measuring = go(Machine(0.8, point_s, 0.2), 0.0, "0:4M", subjects)
    assert took_s < 2.0 * (14.0 * subjects + 20.0)
    launches: dict[tuple[str, int], set[int]] = {}
    for subject, number, size in measured(events):
        launches.setdefault((subject, size), set()).add(number)
    complete = [key for key, numbers in launches.items() if len(numbers) == 5]
    assert {size for _, size in complete} >= {0, 2**22}
    assert len({subject for subject, _ in complete}) == subjects
    assert measuring.agenda.unfinished() is None
    omissions = measuring.omissions_in_words()
    if point_s == 0.003:
        assert len(complete) == subjects * 24
        assert omissions == []
    if point_s == 0.4:
        assert omissions[0].startswith("pingpong: every ")
        assert omissions[1].startswith(f"Left out for the default time ({14 * subjects} s); ")
        assert "; continue: nhalf run --resume " in omissions[1]


def test_a_time_limit_is_said_with_the_command_that_goes_on(go: Callable[..., Any]) -> None:
    _, _, measuring = go(Machine(3.0, 0.5, 0.2), 15.0, "0:4M", 4)
    assert measuring.omissions_in_words()[-1].startswith(
        "Stopped with 0 of 5 launches complete: time limit (15 s) reached; "
        "continue: nhalf run --resume "
    )


def test_spare_time_becomes_launches_where_the_precision_is_missed(go: Callable[..., Any]) -> None:
    took_s, events, _ = go(Machine(0.8, 0.003, 0.2), 20.0, "8,1K", subjects=2)
    assert took_s == pytest.approx(20.0, rel=0.1)
    launches = Counter(subject for subject, _, size in measured(events) if size == 8)
    assert launches["library0"] == launches["library1"] > 5, "libraries take turns"


def test_launches_come_before_sizes_until_there_are_enough(
    go: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is left out but sizes between those of the plan."""
    asked_at: list[int] = []
    widened = stopping.Stopping.widened

    def noted(self: stopping.Stopping) -> bool:
        asked_at.append(self._agenda.launches())
        return widened(self)

    monkeypatch.setattr(stopping.Stopping, "widened", noted)
    _, events, _ = go(Machine(0.1, 0.003, 0.2), 20.0, "8,1K")
    assert max(Counter(size for _, _, size in measured(events)).values()) > MORE_LAUNCHES
    assert min(asked_at) == MORE_LAUNCHES


@pytest.mark.sampled(3)
@pytest.mark.parametrize("start_s", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("spread", "noise"), [(0.1, 0.1), (0.02, 0.3), (0.1, 0.0001)])
def test_the_mean_is_as_certain_as_the_best_division_of_the_budget_makes_it(
    go: Callable[..., Any], tmp_path: Path, start_s: float, spread: float, noise: float
) -> None:
    """Within 15 % of the optimum in closed form, which knows the machine."""
    points, point_s, budget_s = 24, 0.003, 60.0
    go(Machine(start_s, point_s, spread, noise), budget_s, "0:4M")
    measured_points = Run.open(tmp_path).measurements().collect()
    launches = measured_points["launch"].n_unique()
    samples = measured_points["samples_s"].list.len().sum() / points
    of_median = np.pi / 2 * noise**2
    reached = spread**2 / launches + of_median / samples
    least = np.inf
    for number in range(1, 200):
        slice_s = (budget_s / number - start_s) / points - point_s * 1.5
        if slice_s > 0:
            least = min(least, (spread**2 + of_median * SAMPLE_S / slice_s) / number)
    assert np.sqrt(reached / least) < 1.15


def test_a_run_ends_early_where_its_precision_is_reached(go: Callable[..., Any]) -> None:
    took_s, events, _ = go(Machine(0.8, 0.003, 0.0), 20.0, "8,1K")
    assert set(measured(events).values()) == {1}
    assert len(measured(events)) == 2 * 5
    assert took_s < 10.0


@pytest.mark.skipif(not is_built("probe-model"), reason="the probes are not built")
def test_it_begins_when_probes_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends_s: list[float] = []
    monkeypatch.setattr(session, "compile_probes", lambda *_: ends_s.append(time.monotonic()))
    request = RunRequest(transport="model", pattern="pingpong", sizes="8", budget="5s")
    prepared = session.begin(plan_of(request, HERE), tmp_path / "run")
    assert len(ends_s) == 1
    assert prepared.began_s >= ends_s[0]


@pytest.mark.skipif(not is_built("probe-threads"), reason="the probes are not built")
def test_a_misspelt_pattern_is_refused_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compile_probes(*_: object) -> None:
        pytest.fail("a probe is compiled")

    monkeypatch.setattr(session, "compile_probes", compile_probes)
    request = RunRequest(transport="shm", pattern="put,pingpang", sizes="8")
    with pytest.raises(InputError, match="unknown pattern 'pingpang'"):
        session.begin(plan_of(request, HERE), tmp_path / "run")

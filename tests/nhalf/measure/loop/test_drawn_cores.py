"""Launches on cores that are drawn: which are, and where ranks really went."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nhalf.measure.loop import retry
from nhalf.measure.loop.measure import Measuring
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.probe import subject as subject_module
from nhalf.measure.probe.subject import Subject
from nhalf.mpi import Library
from nhalf.sites.start import StartCommand
from nhalf.store.places import started_launches
from nhalf.store.run import Run
from tests.nhalf.measure.loop.fakes import DESCRIPTION
from tests.nhalf.measure.loop.test_launch import Scripted, point

LIBRARY = Library("fake", "fake", "1", Path(), None, "mpirun", True, None, "path")
MAP = {"name": "pair-map-latency", "present": True, "ranks_min": 2}
LAUNCHES = 5


class Placed(Scripted):
    """Its ranks are on the cores that its command names, or where the launcher puts them."""

    def __init__(self, tokens: Sequence[str], obeys: bool) -> None:
        super().__init__([], point)
        cores = tokens[-1].split(",") if "--cpus" in tokens and obeys else ["0", "1"]
        places = [{"host": "n1", "allowed_cpus": [int(core)]} for core in cores]
        self.launch = {"ranks": 2, "clock": {"name": "steady"}, "placement": places}


def cores_of(folder: Path, *, obeys: bool = True, **changes: Any) -> list[list[int]]:
    """What ranks were bound to in each launch of a run, by its journal."""
    block = Block([changes.pop("pattern", "pingpong")], [2], "8", placements=["cores"])
    plan = Plan(
        transports=[], mpi=[], blocks=[block], launches=LAUNCHES, budget_s=0.0, precision=0.1,
        options="", seed=1, timeout_s=10.0, draws_cores=changes.pop("draws_cores", True),
    )  # fmt: skip
    run = Run.create(folder / "run", {})
    described = {**DESCRIPTION, "patterns": [*DESCRIPTION["patterns"], MAP]}
    subject = Subject("mpi", ("fake",), described, LIBRARY, measures_library=True)
    subject = dataclasses.replace(subject, **changes)
    Measuring(
        run,
        plan,
        [subject],
        Progress(quiet=True),
        open_=lambda tokens, *_: Placed(tokens, obeys),
    ).run()
    (launches,) = started_launches(run).values()
    return [[place.allowed_cpus[0] for place in launch.placement] for launch in launches]


@pytest.fixture(autouse=True)
def other_cores(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Cores 2 and 3 are always drawn; the seeds of the draws."""
    seeds: list[str] = []

    def drawn(chosen: list[list[int]], allowed: set[int], seed: str) -> list[int]:
        assert chosen == [[0], [1]]
        seeds.append(seed)
        return [2, 3]

    monkeypatch.setattr(retry, "drawn_cores", drawn)
    monkeypatch.setattr(
        subject_module, "start", lambda _, command, *__, **___: StartCommand(list(command), {})
    )
    return seeds


def test_the_launchers_choice_comes_first_and_again(tmp_path: Path, other_cores: list[str]) -> None:
    own, drawn = [0, 1], [2, 3]
    assert cores_of(tmp_path) == [own, drawn, drawn, own, drawn]
    assert other_cores == ["1 1", "1 2", "1 1"]


def test_ranks_that_do_not_go_there_are_left_alone(tmp_path: Path, other_cores: list[str]) -> None:
    assert cores_of(tmp_path, obeys=False) == [[0, 1]] * LAUNCHES
    assert len(other_cores) == 1


@pytest.mark.parametrize(
    "changes",
    [{"draws_cores": False}, {"pattern": "pair-map-latency"}, {"library": None}],
    ids=["named", "map", "threads"],
)
def test_where_cores_matter_they_stay(changes: dict[str, Any], tmp_path: Path) -> None:
    assert cores_of(tmp_path, **changes) == [[0, 1]] * LAUNCHES

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.store.places import places, started_launches
from nhalf.store.run import JOURNAL, Run

WHERE = [
    {"rank": 0, "host": "n1", "pid": 7, "cpu": 3, "allowed_cpus": [3], "numa": 1},
    {"rank": 1, "host": "n1", "pid": 8, "cpu": 0, "allowed_cpus": [0, 1], "numa": 0},
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", {})


def test_places_are_those_of_the_first_launch(run: Run) -> None:
    start = {"event": "launch", "subject": "mpich", "ranks": 2, "asked_placement": "cores"}
    with run.journal() as journal:
        journal.append({**start, "placement": WHERE})
        journal.append({**start, "placement": WHERE[::-1]})
        journal.append({**start, "asked_placement": "free", "placement": []})
    found = places(run)
    assert set(found) == {("mpich", 2, "cores"), ("mpich", 2, "free")}
    first, second = found["mpich", 2, "cores"]
    assert (first.host, first.cpu, first.numa, first.pinned) == ("n1", 3, 1, True)
    assert not second.pinned


def test_every_launch_has_its_places_and_what_it_took_to_start(run: Run) -> None:
    start = {"event": "launch", "subject": "mpich", "ranks": 2, "asked_placement": "cores"}
    with run.journal() as journal:
        journal.append({**start, "placement": WHERE, "start_s": 0.25})
        journal.append({**start, "placement": WHERE[::-1], "start_s": None})
        journal.append({**start, "placement": WHERE, "start_s": 0.5})
    (launches,) = started_launches(run).values()
    cpus = [[place.cpu for place in launch.placement] for launch in launches]
    assert cpus == [[3, 0], [0, 3], [3, 0]]
    assert [launch.start_s for launch in launches] == [0.25, None, 0.5]


def test_a_run_without_launches_has_none(run: Run) -> None:
    assert places(run) == started_launches(run) == {}


def test_places_of_another_form_are_damage(run: Run) -> None:
    with run.journal() as journal:
        journal.append({"event": "launch", "subject": "mpich", "placement": 5})
        journal.append({"event": "end"})
    with pytest.raises(InputError, match=JOURNAL):
        places(run)

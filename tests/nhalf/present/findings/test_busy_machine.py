"""A machine that others keep busy is named before anything that was measured on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings.precision import BusyMachine
from nhalf.store.run import Others, Run, others
from tests.nhalf.synthetic import build_measurements


def said(ranks: int, allowed: int, *cores: float) -> list[str]:
    launches = [Others("mpich", n, ranks, taken, allowed) for n, taken in enumerate(cores)]
    facts = Facts(build_measurements(launches=2), find_others=lambda: {"run": launches})
    return [finding.text for finding in BusyMachine().find(facts)]


@pytest.mark.parametrize(
    ("ranks", "allowed", "cores"),
    [
        (2, 2, [0.0, 0.0]),
        (2, 2, [0.2, 0.1, 0.05]),
        (2, 16, [13.9, 14.2]),
        (1, 2, [1.0]),
        (2, 2, [1.0, 0.0, 0.0]),
        (4, 2, [0.1, 0.1]),
    ],
)
def test_ranks_with_cores_of_their_own_are_no_word_worth(
    ranks: int, allowed: int, cores: list[float]
) -> None:
    assert said(ranks, allowed, *cores) == []


def test_what_others_took_is_named() -> None:
    (text,) = said(2, 2, 1.0, 0.9, 1.1)
    assert text.startswith("Other processes kept 1.0 of 2 cores busy during all launches")
    (text,) = said(16, 16, 4.0, 0.0, 4.0)
    assert text.startswith("Other processes kept 4.0 of 16 cores busy during 2 of 3 launches")


def test_runs_of_which_nothing_is_known_say_nothing(tmp_path: Path) -> None:
    assert list(BusyMachine().find(Facts(build_measurements(launches=2)))) == []
    run = Run.create(tmp_path / "run", {})
    assert others(run) == []
    event = {
        "event": "others",
        "subject": "a",
        "launch": 0,
        "ranks": 2,
        "taken_cores": 0.5,
        "allowed": 4,
    }
    with run.journal() as journal:
        journal.append({"event": "planned", "points": 3})
        journal.append(event)
        journal.append({"event": "others", "taken_cores": "many"})
    assert others(run) == [Others("a", 0, 2, 0.5, 4)]

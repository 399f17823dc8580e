"""The order in which a study is measured: most verdicts in a second first, then what is open."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.measure.loop.ending import RunOutcome
from nhalf.measure.plan.budget import LAUNCHES_MIN
from nhalf.measure.plan.plan import Point, Start
from nhalf.studies.judge import FAILS, HOLDS, UNTESTED, ConclusionJudgement, Verdict
from nhalf.studies.turns import (
    ENOUGH,
    LAUNCHES_MOST,
    POINT_S,
    DecisionTurns,
    Work,
    margin,
    measure_in_turns,
)
from nhalf.studies.value import StudyValue
from tests.nhalf.cli.model_machine import MACHINE, needs_probes
from tests.nhalf.studies.test_decidable import SHORT, conclusion, form, plan

Call = Callable[..., Any]
PAIR, MANY = Start("mpi", 2, "cores"), Start("mpi", 64, "cores")
NO_LIMIT_S = 1e6


def work(*points: tuple[Start, str]) -> Work:
    return frozenset((start, Point(name, start.ranks, 8)) for start, name in points)


def judged(
    low: float, middle: float, high: float, verdict: Verdict = UNTESTED, **members: Any
) -> ConclusionJudgement:
    launches = {("", number): middle for number in range(10)}
    value = StudyValue(middle, (low, high), per_launch=launches)
    about = conclusion(SHORT, SHORT | {"bytes": 16}, **members)
    return ConclusionJudgement(about, verdict, value=value, limit=1.0)


def test_what_decides_most_for_its_time_is_measured_first() -> None:
    turns = DecisionTurns(
        {
            "alone": work((PAIR, "a")),
            "same": work((PAIR, "a")),
            "slow": work((MANY, "b")),
            "apart": work((PAIR, "a"), (PAIR, "c")),
        },
        work((PAIR, "d")),
    )
    taken, takes_s, all_s = turns.next(0.1)
    assert all_s == takes_s
    assert taken == turns.works["alone"] | turns.works["apart"]
    assert takes_s == pytest.approx(LAUNCHES_MIN * (1 + 2 / 8 + 2 * POINT_S))
    assert turns.tried == {"alone", "same", "apart"}
    taken, takes_s, all_s = turns.next(0.1)
    assert all_s == takes_s
    assert taken == turns.works["slow"]
    assert takes_s == pytest.approx(LAUNCHES_MIN * (1 + 64 / 8 + POINT_S))
    assert turns.next(NO_LIMIT_S) == (frozenset(), 0, 0)


def test_what_was_never_tried_comes_before_what_is_open() -> None:
    turns = DecisionTurns({"open": work((PAIR, "a")), "slow": work((MANY, "b"))}, frozenset())
    turns.tried, turns.verdicts = {"open"}, {"open": judged(1.01, 1.1, 1.2, HOLDS)}
    assert turns.next(0.1, left_s=10)[:2] == (turns.works["open"], 0)
    assert turns.next(0.1, left_s=50)[0] == turns.works["slow"]
    assert turns.next(0.1)[:2] == (turns.works["open"], 0)


def test_a_verdict_that_fell_is_left_and_an_open_one_goes_on() -> None:
    names = ("fell", "near", "open", "unknown")
    turns = DecisionTurns({name: work((PAIR, name)) for name in names}, frozenset())
    assert turns.next(NO_LIMIT_S)[0] == frozenset().union(*turns.works.values())
    turns.verdicts = {
        "fell": judged(1.9, 2.0, 2.1, HOLDS),
        "near": judged(1.01, 1.1, 1.2, HOLDS),
        "open": judged(0.9, 1.05, 1.2),
    }
    assert turns.next(NO_LIMIT_S)[0] == turns.works["near"] | turns.works["open"]


def test_launches_that_an_open_verdict_lacks() -> None:
    turns = DecisionTurns({"it": work((PAIR, "a"))}, frozenset())
    assert turns._lacking("it") == LAUNCHES_MIN
    turns.tried.add("it")
    half = math.exp(0.2)
    turns.verdicts["it"] = judged(math.exp(0.1) / half, math.exp(0.1), math.exp(0.1) * half)
    assert turns._lacking("it") == 10 * (3**2 - 1)  # half a width away, and 1.5 are wanted
    # A parameter that all launches gave together lacks as many times those.
    together = turns.verdicts["it"]
    assert together.value is not None
    turns.verdicts["it"] = replace(together, value=replace(together.value, per_launch={}))
    turns.launches = 20
    assert turns._lacking("it") == 20 * (3**2 - 1)
    turns.verdicts["it"] = judged(0.5, 1.0, 2.0)
    assert turns._lacking("it") == LAUNCHES_MOST
    turns.is_exact = True
    assert turns._lacking("it") == 0


@pytest.mark.parametrize(
    ("judgement", "expected"),
    [
        (judged(math.exp(-0.1), 1.0, math.exp(0.1)), 0),
        (judged(math.exp(0.1), math.exp(0.2), math.exp(0.3), HOLDS), 2),
        (judged(math.exp(-0.5), math.exp(-0.4), math.exp(-0.2), FAILS), 2),
        (judged(2.0, 2.0, 2.0, HOLDS), math.inf),
        (judged(1.0, 1.0, 1.0, HOLDS, relation="about", within_share=0.5), math.inf),
        (
            judged(math.exp(-0.1), 1.0, math.exp(0.1), HOLDS, relation="about", within_share=0.5),
            math.log(1.5) / 0.1,
        ),
        (judged(0.0, 1.0, 2.0), 0),
    ],
)
def test_how_far_a_number_is_from_its_limit(
    judgement: ConclusionJudgement, expected: float
) -> None:
    assert margin(judgement) == pytest.approx(expected)


STUDY = """
title = "What does a turn measure?"
source = "by hand"
machines = [["sp1-mpl"]]

[measure]
title = "Messages, barriers, broadcasts"
budget = "4s"
block = [
  {patterns = ["pingpong", "exchange", "bcast"], ranks = "2,4", bytes = "0,8,64"},
  {patterns = ["barrier"], ranks = "2"},
]

[[table]]
id = "barrier"
title = "Barrier"
column = [{title = "of 2", value = "barrier on 2 ranks"}]

[[conclusion]]
id = "longer"
claim = "A message of 64 B takes as long as an empty one."
value = "pingpong 64"
over = "pingpong 0"
relation = "about"
limit = 1
within_share = 0.5

[[conclusion]]
id = "out-of-reach"
claim = "A broadcast of 8 takes twice as long as one of 4."
value = "bcast 8 on 8 ranks"
over = "bcast 8 on 4 ranks"
limit = 2
"""


@needs_probes
@pytest.mark.slow
def test_a_run_in_turns_has_the_points_of_its_conclusions(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(STUDY, "utf-8")
    model = ["--transport", "model", "--model", f"{MACHINE},noise=0.02"]
    done = call("study", "mine.toml", *model, "--budget", "3s", "--out", "run", "--json")
    assert done.code == 0, done.err
    first, second = json.loads(done.out)["conclusions"]
    assert first["value"] is not None
    assert second["verdict"] == UNTESTED
    events = [json.loads(line) for line in (tmp_path / "run" / "journal.jsonl").open()]
    points = {(e["pattern"], e["bytes"]) for e in events if e["event"] == "point"}
    assert points - {("barrier", 0)} == {("pingpong", 0), ("pingpong", 64)}
    first_turn = next(e for e in events if e["event"] == "extended")
    sizes = {curve["pattern"]: curve["sizes"] for curve in first_turn["curves"]}
    assert sizes["pingpong"] == [0, 64]


LAUNCHES_OF_A_TURN = 150


class Clock:
    """Stands still but for what turns take."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


class Runs:
    """Runs that take twice the time they are given, and what they were asked for."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.asked = clock, list[tuple[float, list[str]]]()
        self.path, self.run, self.subjects = Path("run"), self, list[Any]()
        self.began_s, self.plan = clock.now_s, plan(2)

    def resume(self, path: Path, more: Any) -> Runs:
        self.asked.append((more.budget_s, [curve["pattern"] for curve in more.curves]))
        return self

    def events(self) -> list[dict[str, str]]:
        return [{"event": "launch"}] * (LAUNCHES_OF_A_TURN * len(self.asked))

    def measured(self, _: Any) -> RunOutcome:
        self.clock.now_s += 1.5 * self.asked[-1][0]
        failed = {"it": f"turn {len(self.asked)}"}
        return RunOutcome(self, failed, [], {}, {})  # type: ignore[arg-type]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    clock = Clock()
    runs = Runs(clock)
    monkeypatch.setattr("nhalf.studies.turns.time", clock)
    monkeypatch.setattr("nhalf.studies.turns.session", runs)
    monkeypatch.setattr("nhalf.studies.turns.Facts.of", lambda runs: runs)
    monkeypatch.setattr("nhalf.studies.turns.Measured", lambda name, facts: name)
    monkeypatch.setattr("nhalf.studies.turns.judge", lambda *_: judged(0.9, 1.05, 1.2))
    monkeypatch.setattr("nhalf.studies.turns._curves", lambda work, _: curves(work))
    return runs


def test_turns_end_with_the_time_and_the_last_has_the_tables(runs: Runs) -> None:
    study = form(conclusion(SHORT, SHORT | {"bytes": 16}))
    turns = DecisionTurns({"it": work((PAIR, "pingpong"))}, work((PAIR, "barrier")), pace_ratio=2)
    outcome = measure_in_turns(runs, turns, study, "here", runs.measured)  # type: ignore[arg-type]
    assert outcome.failed == {"it": f"turn {len(runs.asked)}"}
    budgets = [budget_s for budget_s, _ in runs.asked]
    assert budgets == pytest.approx([30, 15 / 4, 75 / 24, 75 / 16])
    assert [names for _, names in runs.asked[:-1]] == [["pingpong"]] * (len(runs.asked) - 1)
    assert sorted(runs.asked[-1][1]) == ["barrier", "pingpong"]
    assert turns.pace_ratio == pytest.approx(1.5 * budgets[-1] / LAUNCHES_OF_A_TURN)


def test_what_was_never_tried_may_take_all_that_is_left(runs: Runs) -> None:
    works = {"it": work((PAIR, "pingpong")), "slow": work((MANY, "bcast"))}
    study = form(conclusion(SHORT, SHORT | {"bytes": 16}))
    turns = DecisionTurns(works, work((PAIR, "barrier")), pace_ratio=2)
    measure_in_turns(runs, turns, study, "here", runs.measured)  # type: ignore[arg-type]
    assert [names for _, names in runs.asked[:1]] == [["pingpong"]]
    takes_s = 45 / LAUNCHES_OF_A_TURN * LAUNCHES_MIN * (1 + 64 / 8 + POINT_S)
    assert 15 / 4 < takes_s < 15
    budget_s, names = runs.asked[1]
    assert budget_s == pytest.approx(takes_s)
    assert sorted(names) == ["barrier", "bcast"]


def test_a_turn_ends_soon_when_its_launches_are_enough(runs: Runs) -> None:
    study = form(conclusion(SHORT, SHORT | {"bytes": 16}))
    turns = DecisionTurns({"it": work((PAIR, "pingpong"))}, frozenset(), pace_ratio=0.5)
    measure_in_turns(runs, turns, study, "here", runs.measured)  # type: ignore[arg-type]
    assert runs.asked[0][0] == pytest.approx(ENOUGH * 0.5 * LAUNCHES_MIN * (1 + 2 / 8 + POINT_S))


def curves(points: Work) -> list[dict[str, str]]:
    return [{"pattern": point.pattern} for _, point in points]

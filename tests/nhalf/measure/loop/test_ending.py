"""How a run ended, from its journal: word for word, and once."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from nhalf.measure.loop.ending import RunOutcome, keep_end, last_end
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

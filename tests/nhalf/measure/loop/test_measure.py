"""The run loop: every point of every launch once, and in which order."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from nhalf.measure.plan.plan import Block
from tests.nhalf.measure.loop.fakes import EVERYTHING, FURTHER, Fake, Go, measured, starts


def test_every_point_of_every_launch_once(fake: Fake, go: Go, tmp_path: Path) -> None:
    failed, events = go(fake())
    assert failed == {}
    assert measured(events) == EVERYTHING
    assert starts(tmp_path) == 2
    assert go(fake())[1] == events
    assert starts(tmp_path) == 2, "a finished run starts nothing"


def test_only_what_is_missing_is_measured_again(fake: Fake, go: Go, tmp_path: Path) -> None:
    _, events = go(fake())
    lines = (tmp_path / "run/journal.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line).get("bytes") != 8]
    (tmp_path / "run/journal.jsonl").write_text("".join(kept))
    (tmp_path / "fake.log").unlink()
    assert measured(go(fake())[1]) == measured(events)
    asked = (tmp_path / "fake.log").read_text().splitlines()
    assert [line.split()[-1] for line in asked] == ["start", "8", "start", "8"]


def test_launches_of_subjects_take_turns(fake: Fake, go: Go) -> None:
    _, events = go(fake("a"), fake("b"), launches=5)
    order = [(e["launch"], e["subject"]) for e in events if e["event"] == "launch"]
    assert [launch for launch, _ in order] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert {subject for _, subject in order[::2]} == {"a", "b"}, "shuffled"


def test_noise_and_stale_records_do_not_shift_answers(fake: Fake, go: Go) -> None:
    each = 'print("noise"); say(nhalf="point", id="99"); sys.stdout.write("no end ")'
    _, events = go(fake(before="print('{')", each=each))
    assert measured(events) == EVERYTHING


def test_each_placement_and_number_of_ranks_is_started_by_itself(fake: Fake, go: Go) -> None:
    block = Block(["pingpong"], [2], "8", placements=["cores", "free"])
    _, events = go(fake(), blocks=[block])
    found = Counter((e["placement"], e["launch"]) for e in events if e["event"] == "point")
    assert found == Counter({(p, k): 1 for p in ("cores", "free") for k in (0, 1)})
    asked = [e["asked_placement"] for e in events if e["event"] == "launch"]
    assert sorted(asked) == ["cores", "cores", "free", "free"]


def test_a_block_has_its_own_launches(fake: Fake, go: Go) -> None:
    more = Block(["pingpong"], [2], "0", launches=3)
    _, events = go(fake(), blocks=[FURTHER, more])
    found = Counter((e["bytes"], e["pattern"]) for e in events if e["event"] == "point")
    assert found[0, "pingpong"] == 3
    assert found[8, "pingpong"] == 1
    assert found[8, "ibcast"] == 2, "with work and without, in one launch"

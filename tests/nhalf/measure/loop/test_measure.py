# SPDX-License-Identifier: Apache-2.0
"""The run loop with probes that fail in every way, each a small program."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.measure.loop.measure import Measuring
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.retry import FAILURES_IN_A_ROW_MAX
from nhalf.measure.plan.plan import Block, Plan, Point
from nhalf.measure.probe import process
from nhalf.measure.probe.question import line
from nhalf.measure.probe.subject import Subject
from nhalf.store.run import Run

FAKE = """
import json, os, re, sys, time
log = open({log!r}, "a", buffering=1)
lines = open({log!r} + ".lines", "a", buffering=1)
print("start", file=log)
def say(**record):
    print(json.dumps(record), flush=True)
{before}
say(nhalf="launch", ranks={ranks}, library="fake", clock={{"name": "steady_clock"}}, placement=[])
for line in sys.stdin:
    if line.strip() == "end":
        break
    asked = dict(part.split("=") for part in line.split())
    n = int(asked["bytes"])
    print(asked["id"], n, file=log)
    print(line, end="", file=lines)
    {each}
    time_s = 1e-6 + n * 1e-9
    say(nhalf="point", id=asked["id"], elapsed_s=0.001, batch=1, messages_per_round=2,
        bytes_per_time=n, stop="precision", verified=True, advice=[], samples_s=[time_s] * 5)
"""
WORK = {"name": "work", "values": "0,1", "fallback": "0", "what": ""}
DESCRIPTION = {
    "what": "fake",
    "options": [],
    "patterns": [
        {"name": "pingpong", "present": True, "ranks_min": 2},
        {"name": "ibcast", "present": True, "timing": "operation", "axes": [WORK]},
    ],
}
Fake = Callable[..., Subject]
Go = Callable[..., tuple[dict[str, str], list[dict[str, Any]]]]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A subject whose probe does `before` it opens its launch and `each` before each answer."""

    def make(name: str = "fake", before: str = "", each: str = "", ranks: int = 2) -> Subject:
        path = tmp_path / f"{name}.py"
        log = str(tmp_path / f"{name}.log")
        path.write_text(FAKE.format(log=log, before=before, each=each, ranks=ranks))
        return Subject(name, (sys.executable, "-u", str(path)), DESCRIPTION)

    return make


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Go:
    """Measures subjects into tmp_path/run: the failures and all events."""
    monkeypatch.setattr(process, "END_TIMEOUT_S", 2.0)

    def measure(*subjects: Subject, **choices: Any) -> tuple[dict[str, str], list[dict[str, Any]]]:
        block = Block(patterns=["pingpong"], ranks=[2], bytes=choices.pop("bytes", "0,8,64"))
        wanted = {
            "transports": [], "mpi": [], "blocks": choices.pop("blocks", [block]),
            "launches": 2, "budget_s": 0.0,
            "precision": 0.1, "options": "", "seed": 1, "timeout_s": 10.0, **choices,
        }  # fmt: skip
        folder = tmp_path / "run"
        run = Run.open(folder) if folder.exists() else Run.create(folder, {})
        failed = Measuring(run, Plan(**wanted), subjects, Progress(quiet=True)).run()
        return failed, run.events()

    return measure


def measured(events: list[dict[str, Any]]) -> Counter[tuple[str, int, int]]:
    return Counter((e["subject"], e["launch"], e["bytes"]) for e in events if e["event"] == "point")


def starts(tmp_path: Path, name: str = "fake") -> int:
    return (tmp_path / f"{name}.log").read_text().count("start")


EVERYTHING = Counter({("fake", k, n): 1 for k in range(2) for n in (0, 8, 64)})


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


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("sys.exit('no slots available')", "exit code 1: no slots available"),
        ("time.sleep(1000)", "no answer within 0.5 s"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
    ],
)
def test_a_subject_that_never_starts_is_given_up(
    fake: Fake, go: Go, before: str, reason: str, tmp_path: Path
) -> None:
    timeout_s = 0.5 if "0.5" in reason else 10.0
    good = fake("good")
    failed, events = go(fake("bad", before), good, timeout_s=timeout_s)
    assert list(failed) == ["bad"]
    assert reason in failed["bad"]
    assert starts(tmp_path, "bad") == 2
    assert {subject for subject, _, _ in measured(events)} == {"good"}
    assert sum(measured(events).values()) == 6


def test_single_processes_instead_of_ranks_are_noticed(fake: Fake, go: Go) -> None:
    failed, _ = go(fake(ranks=1))
    assert failed == {"fake": "1 ranks started together instead of 2"}


@pytest.mark.parametrize("sizes", ["0,8,64", "0:64"])
def test_a_point_at_which_launches_die_is_left_out(fake: Fake, go: Go, sizes: str) -> None:
    failed, events = go(fake(each="if n == 8: sys.exit('bad size')"), bytes=sizes)
    assert failed == {}
    (lost,) = [e for e in events if e["event"] == "failed"]
    assert lost["bytes"] == 8
    assert "bad size" in lost["reason"]
    found = measured(events)
    assert {n for _, _, n in found} >= {0, 64}
    assert 8 not in {n for _, _, n in found}
    assert all(found["fake", launch, n] == 1 for launch in range(2) for n in (0, 64))


def test_the_only_point_may_be_the_one_that_fails(fake: Fake, go: Go) -> None:
    good = fake("good")
    failed, events = go(fake(each="sys.exit(3)"), good, bytes="8")
    assert "exit code 3" in failed["fake"]
    assert measured(events) == Counter({("good", 0, 8): 1, ("good", 1, 8): 1})


def test_a_subject_that_dies_for_good_is_given_up(fake: Fake, go: Go, tmp_path: Path) -> None:
    """It answered once, then never again: not every point of the plan is tried twice."""
    once = f"os.path.exists({str(tmp_path / 'x')!r}) and sys.exit('gone')"
    each = f"{once} or open({str(tmp_path / 'x')!r}, 'w')"
    failed, _ = go(fake(each=each), bytes="0:99:1")
    assert "gone" in failed["fake"]
    assert starts(tmp_path) == FAILURES_IN_A_ROW_MAX


def test_a_launch_that_died_once_goes_on(fake: Fake, go: Go, tmp_path: Path) -> None:
    mark = str(tmp_path / "x")
    each = f"n == 8 and not os.path.exists({mark!r}) and (open({mark!r}, 'w'), os._exit(9))"
    failed, events = go(fake(each=each))
    assert failed == {}
    assert measured(events) == EVERYTHING
    assert starts(tmp_path) == 3


def test_an_answer_that_is_an_error_leaves_the_point_out(fake: Fake, go: Go) -> None:
    each = "\n    ".join(
        [
            "if n == 8:",
            '    say(nhalf="error", id=asked["id"], message="too large")',
            "    continue",
        ]
    )
    _, events = go(fake(each=each))
    (lost,) = [e for e in events if e["event"] == "failed"]
    assert (lost["bytes"], lost["reason"]) == (8, "too large")
    assert sum(measured(events).values()) == 4


def test_noise_and_stale_records_do_not_shift_answers(fake: Fake, go: Go) -> None:
    each = 'print("noise"); say(nhalf="point", id="99"); sys.stdout.write("no end ")'
    _, events = go(fake(before="print('{')", each=each))
    assert measured(events) == EVERYTHING


def test_silence_at_a_point_is_waited_for_only_so_long(fake: Fake, go: Go) -> None:
    each = "n == 8 and time.sleep(1000)"
    failed, events = go(fake(each=each), timeout_s=0.5, bytes="0,8", launches=1, budget_s=0.1)
    assert failed == {}
    (lost,) = [e for e in events if e["event"] == "failed"]
    assert lost["reason"].startswith("no answer within")


def test_refined_sizes_are_kept_for_resuming(fake: Fake, go: Go, tmp_path: Path) -> None:
    jumping = fake(each="n = n + 10**4 if n > 100 else n")
    _, events = go(jumping, bytes="0:1K", launches=1)
    (sizes,) = [e["sizes"] for e in events if e["event"] == "sizes"]
    low = max(n for n in sizes if n <= 100)
    high = min(n for n in sizes if n > 100)
    assert high <= low * 1.05
    assert sorted(n for _, _, n in measured(events)) == sizes
    before = starts(tmp_path)
    go(jumping, bytes="0:1K", launches=1)
    assert starts(tmp_path) == before


FURTHER = Block(["ibcast", "pingpong"], [2], "8,64", launches=1)


def test_axes_go_to_the_probe_and_into_the_journal(fake: Fake, go: Go, tmp_path: Path) -> None:
    _, events = go(fake(), blocks=[FURTHER])
    points = [e for e in events if e["event"] == "point"]
    assert sorted((e["pattern"], e["axes"], e["bytes"], e["placement"]) for e in points) == [
        ("ibcast", "", 8, "cores"), ("ibcast", "", 64, "cores"),
        ("ibcast", "work=1", 8, "cores"), ("ibcast", "work=1", 64, "cores"),
        ("pingpong", "", 8, "cores"), ("pingpong", "", 64, "cores"),
    ]  # fmt: skip
    lines = (tmp_path / "fake.log.lines").read_text().splitlines()
    assert sum(line.endswith(" axis.work=1") for line in lines) == 2
    assert sum("axis" in line for line in lines) == 2
    assert go(fake(), blocks=[FURTHER])[1] == events, "a finished run starts nothing"
    assert starts(tmp_path) == 1


def test_an_axis_that_makes_a_point_impossible_leaves_the_others(fake: Fake, go: Go) -> None:
    each = """if asked.get("axis.work") == "1":
        say(nhalf="error", id=asked["id"], message="no work here")
        continue"""
    _, events = go(fake(each=each), blocks=[FURTHER])
    assert {(e["axes"], e["bytes"]) for e in events if e["event"] == "failed"} == {
        ("work=1", 8),
        ("work=1", 64),
    }
    assert sum(e["event"] == "point" for e in events) == 4


def test_each_placement_and_number_of_ranks_is_started_by_itself(fake: Fake, go: Go) -> None:
    block = Block(["pingpong"], [2], "8", placements=["cores", "free"])
    _, events = go(fake(), blocks=[block])
    found = Counter((e["placement"], e["launch"]) for e in events if e["event"] == "point")
    assert found == Counter({(p, k): 1 for p in ("cores", "free") for k in (0, 1)})
    asked = [e["asked_placement"] for e in events if e["event"] == "launch"]
    assert sorted(asked) == ["cores", "cores", "free", "free"]


def test_ranks_that_cannot_be_started_do_not_take_the_others_along(fake: Fake, go: Go) -> None:
    """The fake starts two ranks, whatever it is asked for."""
    failed, events = go(fake(), blocks=[Block(["pingpong"], [2, 8], "8")])
    assert failed == {"fake with 8 ranks, placement cores": "2 ranks started together instead of 8"}
    assert sum(measured(events).values()) == 2


def test_a_block_has_its_own_launches(fake: Fake, go: Go) -> None:
    more = Block(["pingpong"], [2], "0", launches=3)
    _, events = go(fake(), blocks=[FURTHER, more])
    found = Counter((e["bytes"], e["pattern"]) for e in events if e["event"] == "point")
    assert found[0, "pingpong"] == 3
    assert found[8, "pingpong"] == 1
    assert found[8, "ibcast"] == 2, "with work and without, in one launch"


def test_named_values_and_times_of_ranks_are_kept(fake: Fake, go: Go, tmp_path: Path) -> None:
    each = """say(nhalf="point", id=asked["id"], elapsed_s=0.001, batch=1, messages_per_round=2,
        bytes_per_time=n, stop="precision", verified=True, advice=[], samples_s=[1e-6],
        rank_s=[1e-6, 2e-6], values={"skew_s": 3.0, "overlap": 0.5, "nothing": None})
    continue"""
    go(fake(each=each), bytes="8", launches=1)
    (row,) = Run.open(tmp_path / "run").measurements().collect().to_dicts()
    assert row["rank_s"] == [1e-6, 2e-6]
    assert row["values"] == [
        {"name": "nothing", "value": None},
        {"name": "overlap", "value": 0.5},
        {"name": "skew_s", "value": 3.0},
    ]


def test_short_slices_have_few_operations() -> None:
    point = Point("bcast", 2, 8, axes="start=barrier,work=1")
    text = line("7", point, 0.002, 0.01, "operation")
    assert text == (
        "id=7 pattern=bcast bytes=8 slice_s=0.002000 precision=0.010000 samples_min=3 "
        "axis.start=barrier axis.work=1"
    )
    assert "samples_min" not in line("7", point, 0.02, 0.01, "operation")
    assert "samples_min" not in line("7", point, 0.002, 0.01, "first-rank")


def test_a_budget_that_does_not_do_leaves_sizes_out(fake: Fake, go: Go) -> None:
    """Every point takes 50 ms: two launches of 101 sizes are 10 s and more."""
    _, events = go(fake(each="time.sleep(0.05)"), bytes="0:100:1", launches=2, budget_s=3.0)
    found = measured(events)
    sizes = {n for _, _, n in found}
    assert {0, 100} <= sizes
    assert len(sizes) < 101
    assert sum(found.values()) * 0.05 < 5.0


def test_a_whole_block_that_turns_out_too_slow_is_left_out(fake: Fake, go: Go) -> None:
    """Its 300 points of 50 ms are 15 s: it is given up on the way, the others are measured."""
    whole = Block(["ibcast"], [2], "0:299:1", axes={"work": "0"}, whole=True)
    slow = 'asked["pattern"] == "ibcast" and time.sleep(0.05)'
    blocks = [whole, Block(["pingpong"], [2], "0,8,64")]
    _, events = go(fake(each=slow), blocks=blocks, launches=2, budget_s=4.0)
    found = Counter(e["pattern"] for e in events if e["event"] == "point")
    assert found["pingpong"] == 6
    assert found["ibcast"] < 150

"""What is tried again and what is given up, with probes that fail in every way."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nhalf.measure.loop.retry import FAILURES_IN_A_ROW_MAX
from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.plan import Block
from tests.nhalf.measure.loop.fakes import EVERYTHING, Fake, Go, measured, starts
from tests.patience import patience_s


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("sys.exit('no slots available')", "exit code 1: no slots available"),
        ("time.sleep(1000)", "no answer within"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
    ],
)
def test_a_subject_that_never_starts_is_given_up(
    fake: Fake, go: Go, before: str, reason: str, tmp_path: Path
) -> None:
    timeout_s = patience_s(0.5 if "no answer" in reason else 10.0)
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


def test_silence_at_a_point_is_waited_for_only_so_long(
    fake: Fake, go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stopping, "effort", lambda *_: (0.001, 1))
    each = "n == 8 and time.sleep(1000)"
    wait_s = patience_s(0.5)
    failed, events = go(fake(each=each), timeout_s=wait_s, bytes="0,8", launches=1)
    assert failed == {}
    (lost,) = [e for e in events if e["event"] == "failed"]
    assert lost["reason"].startswith("no answer within")


def test_ranks_that_cannot_be_started_do_not_take_the_others_along(fake: Fake, go: Go) -> None:
    """The fake starts two ranks, whatever it is asked for."""
    failed, events = go(fake(), blocks=[Block(["pingpong"], [2, 8], "8")])
    assert failed == {"fake with 8 ranks, placement cores": "2 ranks started together instead of 8"}
    assert sum(measured(events).values()) == 2

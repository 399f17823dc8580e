from __future__ import annotations

import pytest

from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Point


def drive(progress: Progress) -> None:
    with progress:
        progress.say("starting [/b] launch 1")
        progress.limit("time limit (30 s)")
        progress.total(2)
        progress.point("Library [x]", Point("pingpong", 2, 8), [1e-6])
        progress.point("Library [x]", Point("pingpong", 2, 8, axes="pairs=2"), [])


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_shown_without_a_terminal(
    quiet: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    drive(Progress(quiet))
    assert capfd.readouterr() == ("", "")


def test_a_terminal_sees_the_point_and_its_estimate(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    drive(Progress(quiet=False))
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "Library [x]  pingpong 8 B" in shown.err
    assert "time limit (30 s)" in shown.err

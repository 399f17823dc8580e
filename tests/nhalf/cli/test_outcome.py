"""What a run ends with is computed once, however many tell it."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest

from nhalf.base import native_files
from nhalf.base.errors import Interrupted, NhalfError
from nhalf.cli.group import command_line
from nhalf.cli.outcome import measured
from nhalf.facts.fit import fit_summary
from nhalf.measure.loop import session
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Plan
from nhalf.present.findings import findings
from nhalf.statistics.summary import summarise
from nhalf.store.run import Run

COUNTED: tuple[Callable[..., Any], ...] = (summarise, fit_summary, findings)
RUN = ["run", "--transport", "model", "--bytes", "0:64K", "--launches", "2", "--report"]


def calls_of(words: list[str]) -> Counter[str]:
    """How often each of COUNTED is called, by whatever name somebody imported it."""
    codes = {inspect.unwrap(one).__code__: one.__name__ for one in COUNTED}
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code in codes:
            counted[codes[frame.f_code]] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        command_line().main(words, standalone_mode=False)
    finally:
        sys.setprofile(before)
    return counted


def counted_in(tmp_path: Path, output: list[str]) -> Counter[str]:
    """The calls of a run with a report; skips where the probes are not built."""
    try:
        native_files.executable("probe-model")
    except NhalfError:
        pytest.skip("the probes are not built")
    counted = calls_of([*RUN, "--out", str(tmp_path / "r"), *output])
    assert (tmp_path / "r" / "report.html").exists()
    return counted


@pytest.mark.sampled(1)
@pytest.mark.parametrize("output", [[], ["--json"]], ids=["tables", "json"])
def test_everything_is_computed_once(output: list[str], tmp_path: Path) -> None:
    counted = counted_in(tmp_path, output)
    assert counted == {"summarise": 1, "fit_summary": 1, "findings": 1}


@pytest.mark.parametrize("has_point", [False, True])
def test_an_interruption_says_what_is_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    point_event: Callable[..., dict[str, Any]],
    has_point: bool,
) -> None:
    def interrupted(prepared: session.Prepared, progress: Progress) -> NoReturn:
        with prepared.run.measuring():
            if has_point:
                with prepared.run.journal() as journal:
                    journal.append(point_event())
            raise KeyboardInterrupt

    monkeypatch.setattr(session, "measure", interrupted)
    run = Run.create(tmp_path / "r", {})
    plan = Plan([], [], [], 1, 0.0, 0.01, "", 1, 60.0)
    with pytest.raises(Interrupted) as caught:
        measured(session.Prepared(run, plan, [], {}), Progress(quiet=True))
    if has_point:
        assert str(caught.value).endswith(f"go on with: {run.resuming}")
    else:
        assert str(caught.value) == "interrupted before the first point, so nothing is kept"
    assert (tmp_path / "r").exists() == has_point

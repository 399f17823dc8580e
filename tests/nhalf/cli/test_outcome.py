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
from nhalf.cli.outcome import measured, slowest_curves
from nhalf.decide.changes import Comparison, CurveRatio, Ratio
from nhalf.decide.check.verdict import CheckedRun
from nhalf.facts.fit import fit_summary
from nhalf.measure.loop import session
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Plan
from nhalf.present.findings import findings
from nhalf.statistics.doubt import CERTAIN, DIFFERENT_STATES, Doubt
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


def checked_curves(*ratios: Ratio, doubt: Doubt = CERTAIN) -> CheckedRun:
    """The check of a run with one curve for each ratio, numbered by its ranks."""
    curves = []
    for ranks, ratio in enumerate(ratios):
        point = {
            "pattern": "pingpong",
            "algorithm": "",
            "ranks": ranks,
            "placement": "",
            "axes": "",
        }
        curves.append(CurveRatio(point, "m", "m", 5, ratio, "unclear", [], 1.1, doubt))
    return CheckedRun("baseline", 0.96, (), comparison=Comparison(1.1, 0.96, curves, []))


def test_curves_are_pursued_by_how_sure_it_is_that_they_are_slower() -> None:
    usual, sure, wide = Ratio(1.0, 0.9, 1.1), Ratio(1.2, 1.1, 1.3), Ratio(1.5, 0.4, 5.0)
    assert [one["ranks"] for one in slowest_curves(checked_curves(wide, usual, sure))] == [2]
    many = checked_curves(*[usual] * 12, sure, *[usual] * 2, wide)
    assert [one["ranks"] for one in slowest_curves(many)] == [12, 15]


def test_curves_without_an_interval_are_not_pursued() -> None:
    unknown, exact = Ratio(2.0, float("nan"), float("nan")), Ratio(1.0, 1.0, 1.0)
    assert slowest_curves(checked_curves(unknown)) == []
    assert slowest_curves(checked_curves()) == []
    assert slowest_curves(checked_curves(exact, doubt=DIFFERENT_STATES)) == []
    assert slowest_curves(CheckedRun("baseline", 0.96, ())) == []
    assert [one["ranks"] for one in slowest_curves(checked_curves(unknown, exact))] == [1]

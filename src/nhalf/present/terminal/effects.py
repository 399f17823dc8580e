"""Changes against a baseline, curve by curve, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nhalf.decide.check.promise import UNVERIFIED
from nhalf.decide.check.verdict import format_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from nhalf.decide.check.verdict import CheckedRun
    from nhalf.store.run import Run

COLOURS = {
    "regression": "red",
    "incomplete": "red",
    "unclear": "yellow",
    "no regression": "green",
}


def show_effects(
    console: Console,
    check: CheckedRun,
    run: Run,
    every_size: bool = False,
    notes: Sequence[str] = (),
) -> None:
    """Print what can be told, the curves that changed, surest first, `notes`, and the finding.

    `run` is the one to extend where launches are too few.
    """
    from nhalf.decide.check.regression import finding, open_curves, unmeasured
    from nhalf.present.terminal.changes import show_changes, tolerance_words
    from nhalf.store.run import launch_interval_s

    comparison = check.comparison
    if comparison is not None:
        lost = open_curves(check)
        show_changes(
            console,
            comparison,
            run=str(run.path),
            lost=lost,
            every_size=every_size,
            launch_s=launch_interval_s(run),
        )
    for name in unmeasured(check):
        console.print(f"{name}: not measured", markup=False, soft_wrap=True)
    wrong = [
        point for answer in check.answers for point in answer.points if point.reason == UNVERIFIED
    ]
    for point in wrong:
        console.print(f"{format_place(point.point)}: {point.reason}", markup=False, soft_wrap=True)
    for note in notes:
        console.print(note, markup=False, style="dim", soft_wrap=True)
    if comparison is not None:
        console.print(tolerance_words(comparison), markup=False, style="dim", soft_wrap=True)
    verdict = finding(check)
    console.print(verdict, style=f"bold {COLOURS[verdict]}")

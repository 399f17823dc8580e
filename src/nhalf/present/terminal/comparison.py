"""Comparisons of runs on the terminal: of two, and of several, curve by curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nhalf.base.listing import few
from nhalf.base.numbers import MISSING, change
from nhalf.base.units import format_size
from nhalf.present.changes import curve_names
from nhalf.present.terminal.changes import BASELINE, show_changes, tolerance_words, word_of
from nhalf.present.terminal.tables import raw_text, show_table
from nhalf.store.keys import COMPARED_CURVE
from nhalf.store.run import launch_interval_s

if TYPE_CHECKING:
    from rich.console import Console

    from nhalf.decide.changes import Comparison, CurveRatio
    from nhalf.statistics.doubt import Doubt
    from nhalf.store.run import Run

COLOURS = {"slower": "red", "faster": "green", "mixed": "yellow", "equal": "cyan", "unclear": "dim"}
MISSING_MAX = 8


def show_comparison(
    console: Console,
    comparison: Comparison,
    *,
    names: tuple[str, str],
    run: Run,
    lost: Sequence[tuple[str, Doubt]] = (),
    every_size: bool = False,
) -> None:
    """Print the changes, what cannot be compared, and the verdict.

    `names` are those of A and B, `run` is B's, to be extended.
    """
    curves = comparison.curves
    pairs = {(curve.mpi_a, curve.mpi_b) for curve in curves}
    is_one_run = names[0] == names[1]
    before, now = ("A", "B") if is_one_run else names
    if is_one_run and len(pairs) == 1 and len(set(*pairs)) == 2:
        ((before, now),) = pairs
    sides = (before, now) if is_one_run else BASELINE
    show_changes(
        console,
        comparison,
        run=str(run.path),
        lost=lost,
        sides=sides,
        every_size=every_size,
        launch_s=launch_interval_s(run),
    )
    missing = comparison.not_comparable
    for entry in missing[:MISSING_MAX]:
        listed = few([format_size(size) for size in entry["bytes"]], 6)
        group = f"{entry['pattern']} of {entry['mpi'] or entry['transport']}, {entry['reason']}"
        console.print(f"not compared: {group}: {listed}", style="dim", markup=False)
    if len(missing) > MISSING_MAX:
        further = len(missing) - MISSING_MAX
        console.print(f"not compared: {further} further groups (all with --json)")
    verdict = comparison.verdict
    console.print(
        f"{_sentence(verdict, before, now)} {tolerance_words(comparison)}", soft_wrap=True
    )


def _sentence(verdict: str, before: str, now: str) -> str:
    """The verdict with its colour; one library of a run has no name without the other."""
    from rich.markup import escape

    if verdict == "unclear":
        between = "" if before == "A" else f" between {escape(before)} and {escape(now)}"
        return f"[bold {COLOURS[verdict]}]No significant difference[/]{between}."
    return f"{escape(now)} is [bold {COLOURS[verdict]}]{escape(_words(verdict, before))}[/]."


def _words(verdict: str, standard: str) -> str:
    return {
        "slower": f"slower than {standard}",
        "faster": f"faster than {standard}",
        "mixed": f"slower than {standard} in places and faster in others",
        "equal": f"as fast as {standard}",
    }[verdict]


def show_ratios(comparison: Comparison) -> None:
    """Print every size of every curve as one table of plain numbers."""
    rows = [
        [
            *(curve.mpi_a, curve.mpi_b, *curve.point.values(), size.size_bytes, curve.launches),
            *(size.a_s, size.b_s, size.ratio.ratio, size.ratio.low, size.ratio.high, size.verdict),
        ]
        for curve in comparison.curves
        for size in curve.sizes
    ]
    columns = ["bytes", "launches", "a_s", "b_s", "ratio", "ci_low", "ci_high", "verdict"]
    head = ["mpi_a", "mpi_b", *COMPARED_CURVE, *columns]
    show_table(head, [[raw_text(value) for value in row] for row in rows])


def show_several(console: Console, names: Sequence[str], comparisons: Sequence[Comparison]) -> None:
    """Print a row for each curve, a column for each run compared with the first of `names`."""
    columns = [{_key(curve): curve for curve in comparison.curves} for comparison in comparisons]
    curves = {key: curve for column in columns for key, curve in column.items()}
    titles = curve_names([{**curve.point, "mpi": curve.title} for curve in curves.values()])
    rows = [
        [
            name,
            *(_cell(column[key]) if key in column else MISSING for column in columns),
        ]
        for name, key in zip(titles, curves, strict=True)
    ]
    console.print(f"Change from {names[0]}", markup=False)
    show_table(["curve", *names[1:]], rows)
    for name, comparison in zip(names[1:], comparisons, strict=True):
        console.print(_sentence(comparison.verdict, names[0], name))
    console.print(
        f"{tolerance_words(comparisons[0])} Compare two runs to see intervals and sizes.",
        style="dim",
        soft_wrap=True,
    )


def _key(curve: CurveRatio) -> tuple[str, ...]:
    return (curve.mpi, *map(str, curve.point.values()))


def _cell(curve: CurveRatio) -> str:
    """'+25.1 % slower', or '22x at 4 MiB slower'."""
    place = f" at {format_size(curve.decisive.size_bytes)}" if curve.decisive else ""
    return f"{change(curve.shown.ratio)}{place} {word_of(curve)}"

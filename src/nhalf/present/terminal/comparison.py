"""Comparisons of runs on the terminal: of two, and of several, curve by curve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nhalf.base.errors import InputError
from nhalf.base.listing import few
from nhalf.base.numbers import MISSING, change, format_number
from nhalf.base.units import format_size
from nhalf.decide.machines_compared.compare import MachineComparison
from nhalf.decide.machines_compared.rows import WORDS, rows_of, titles, value_text
from nhalf.decide.machines_compared.words import labels, sentences
from nhalf.present.changes import curve_names
from nhalf.present.terminal.changes import BASELINE, show_changes, tolerance_words, word_of
from nhalf.present.terminal.tables import raw_text, show_table
from nhalf.statistics.doubt import Doubt
from nhalf.store.keys import COMPARED_CURVE
from nhalf.store.launch_interval import launch_interval_s

if TYPE_CHECKING:
    from nhalf.decide.changes import Comparison, CurveRatio
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
        [name, *(_cell(column[key]) if key in column else MISSING for column in columns)]
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


def names_machine(text: str) -> bool:
    """Whether a side is a machine of record or a machine file, with or without a library."""
    from nhalf.machines import catalogue

    return catalogue.is_machine(text) or (
        ":" in text and not Path(text).exists() and catalogue.is_machine(text.rsplit(":", 1)[0])
    )


def pair_of(mpi: str, libraries: tuple[str, str]) -> tuple[str, str]:
    """Choose the libraries of A and B from --mpi X or X,Y, or as named with the sides."""
    if not mpi:
        return libraries
    names = [name.strip() for name in mpi.split(",")]
    if len(names) > 2 or not all(names):
        raise InputError(f"--mpi {mpi!r} is not one or two names", "write --mpi openmpi,mpich")
    if any(libraries):
        raise InputError("a library is given twice", "use MACHINE:LIBRARY or --mpi, not both")
    return names[0], names[-1]


def show(console: Console, comparison: MachineComparison) -> None:
    """Print the tables, then the sentences, then what could not be compared."""
    if labels(comparison)["A"] == "A":
        for side, machine in (("A", comparison.a), ("B", comparison.b)):
            words = f"{side}: {machine.name}, {machine.source}".rstrip(", ")
            console.print(words, markup=False, highlight=False, soft_wrap=True)
        console.print()
    if comparison.parameters:
        console.print(_parameters(comparison))
    console.print(_patterns(comparison))
    for sentence in sentences(comparison):
        console.print(f"• {sentence}", markup=False, highlight=False, soft_wrap=True)
    names = labels(comparison)
    for side, lost in (("A", comparison.only_a), ("B", comparison.only_b)):
        if lost:
            words = f"not compared, only {names[side]} has it: {', '.join(lost)}"
            console.print(words, style="dim", markup=False, highlight=False, soft_wrap=True)


def _table(title_text: str, columns: list[tuple[str, bool]]) -> Table:
    table = Table(
        title=Text(title_text, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for name, numeric in columns:
        table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=True)
    return table


def _parameters(comparison: MachineComparison) -> Table:
    names = labels(comparison)
    columns = [("", False), (names["A"], True), (names["B"], True), ("B / A", True)]
    table = _table("One message", columns)
    for parameter in comparison.parameters:
        ratio = format_number(parameter.b / parameter.a) if parameter.a and parameter.b else MISSING
        table.add_row(
            WORDS[parameter.name],
            *(value_text(parameter, value) for value in (parameter.a, parameter.b)),
            ratio,
        )
    return table


def _patterns(comparison: MachineComparison) -> Table:
    table = _table("Patterns", titles(comparison))
    for row in rows_of(comparison):
        style = "dim" if row[-1] == "neither" else ""
        table.add_row(*map(Text, row[:-1]), Text(row[-1], style=style))
    return table

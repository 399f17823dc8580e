# SPDX-License-Identifier: Apache-2.0
"""Comparisons of runs on the terminal: of two, size by size, and of several, curve by curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nhalf.base.listing import few
from nhalf.base.numbers import says_nothing
from nhalf.base.units import format_size, format_time
from nhalf.present.curve_names import curve_names
from nhalf.present.terminal.tables import show_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from nhalf.decide.compare import Comparison, CurveRatio, Ratio

COLOURS = {"slower": "red", "faster": "green", "mixed": "yellow", "equal": "cyan", "unclear": "dim"}


def show_comparison(console: Console, comparison: Comparison, every_size: bool) -> None:
    """Print the tables: curves first, then the sizes that differ."""
    console.print(_curve_table(comparison))
    for curve in comparison.curves:
        table = _size_table(curve, every_size)
        if table.row_count:
            console.print(table)
    lost = comparison.not_comparable
    for entry in lost[:8]:
        listed = few([format_size(size) for size in entry["bytes"]], 6)
        group = f"{entry['pattern']} of {entry['mpi'] or entry['transport']}, {entry['reason']}"
        console.print(f"not compared: {group}: {listed}", style="dim", markup=False)
    if len(lost) > 8:
        console.print(f"not compared: {len(lost) - 8} further groups (all with --json)")
    console.print(
        f"B is [bold {COLOURS[comparison.verdict]}]{_words(comparison.verdict)}[/]: a difference "
        f"counts from {(comparison.threshold - 1) * 100:.3g} % on; all intervals of a curve hold "
        f"jointly at {comparison.confidence * 100:.3g} %."
    )


def _words(verdict: str, standard: str = "A") -> str:
    return {
        "slower": f"slower than {standard}",
        "faster": f"faster than {standard}",
        "mixed": f"slower than {standard} in places and faster in others",
        "equal": f"as fast as {standard}",
        "unclear": f"not shown to differ from {standard} (more launches narrow the intervals)",
    }[verdict]


def _table(title: str, columns: list[tuple[str, bool]]) -> Table:
    """A table; a column is a title and whether it holds numbers."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, numeric in columns:
        table.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    return table


def _curve_table(comparison: Comparison) -> Table:
    """One row per pattern and library."""
    from rich.markup import escape

    titles = [("pattern", False), ("library", False), ("launches", True), ("B / A", True)]
    table = _table("Curves", [*titles, ("interval", True), ("B is", False)])
    for curve in comparison.curves:
        table.add_row(
            escape(_pattern(curve)),
            escape(curve.mpi.replace(",", " → ") or str(curve.point["transport"])),
            str(curve.launches),
            f"{curve.ratio.ratio:.3f}",
            _interval(curve.ratio),
            f"[{COLOURS[curve.verdict]}]{curve.verdict}[/]",
        )
    return table


def _size_table(curve: CurveRatio, every_size: bool) -> Table:
    """Make the table of a curve's sizes: all, or those with their own verdict."""
    title = f"{_pattern(curve)}, {curve.mpi.replace(',', ' → ')}"
    titles = [("size", True), ("A", True), ("B", True), ("B / A", True), ("interval", True)]
    table = _table(title, [*titles, ("B is", False)])
    for size in curve.sizes:
        if every_size or size.verdict in ("slower", "faster"):
            table.add_row(
                format_size(size.size_bytes),
                format_time(size.a_s),
                format_time(size.b_s),
                f"{size.ratio.ratio:.3f}",
                _interval(size.ratio),
                f"[{COLOURS[size.verdict]}]{size.verdict}[/]",
            )
    return table


def _pattern(curve: CurveRatio) -> str:
    """Name a curve by pattern, algorithm and axes."""
    algorithm = str(curve.point["algorithm"] or "native")
    name = str(curve.point["pattern"])
    name = name if algorithm == "native" else f"{name}/{algorithm}"
    return f"{name} {curve.point['axes']}".rstrip()


def _interval(ratio: Ratio) -> str:
    if math.isnan(ratio.low):
        return "–"
    if says_nothing(ratio.low, ratio.high):
        return "unknown"
    return f"{ratio.low:.3f} to {ratio.high:.3f}"


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
    head = ["mpi_a", "mpi_b", *comparison.curves[0].point, *columns]
    show_table(head, [[str(value) for value in row] for row in rows])


def show_several(console: Console, names: Sequence[str], comparisons: Sequence[Comparison]) -> None:
    """Print a row for each curve, a column for each run compared with the first of `names`."""
    from rich.markup import escape

    table = _table(
        f"Time over that of {names[0]}", [("curve", False), *((n, True) for n in names[1:])]
    )
    columns = [{_key(curve): curve for curve in comparison.curves} for comparison in comparisons]
    curves = {key: curve for column in columns for key, curve in column.items()}
    titles = curve_names([{**curve.point, "mpi": curve.mpi} for curve in curves.values()])
    for name, key in zip(titles, curves, strict=True):
        cells = [_cell(column[key]) if key in column else "–" for column in columns]
        table.add_row(escape(name.replace(",", " → ") if "," in key[0] else name), *cells)
    console.print(table)
    for name, comparison in zip(names[1:], comparisons, strict=True):
        words = escape(_words(comparison.verdict, names[0]))
        console.print(f"{escape(name)} is [bold {COLOURS[comparison.verdict]}]{words}[/]")
    missed = (1 - comparisons[0].confidence) * len(comparisons)
    console.print(
        f"A difference counts from {(comparisons[0].threshold - 1) * 100:.3g} % on; all intervals "
        f"of a curve hold together, in all runs, with {(1 - missed) * 100:.3g} %. Compare two runs "
        "to see their sizes.",
        style="dim",
    )


def _key(curve: CurveRatio) -> tuple[str, ...]:
    return (curve.mpi, *map(str, curve.point.values()))


def _cell(curve: CurveRatio) -> str:
    return f"{curve.ratio.ratio:.3f} [{COLOURS[curve.verdict]}]{curve.verdict}[/]"

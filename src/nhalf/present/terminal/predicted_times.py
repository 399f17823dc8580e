# SPDX-License-Identifier: Apache-2.0
"""The table that `predict` puts on a terminal: the fastest algorithm of each cell, and the next."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from nhalf.base.units import format_size, format_time
from nhalf.present.terminal.output import FORM, stdout_console
from nhalf.present.terminal.tables import show_table

if TYPE_CHECKING:
    from rich.table import Table

    from nhalf.decide.predict import Prediction

CROSSOVERS_SHOWN = 12
SIZES_WITH_RUNNER_UP = 6
"""Columns that leave room for a third line in each cell; CSV and JSON have all times."""


def show_prediction(found: Prediction) -> None:
    """Findings first: what is fastest where; then times. CSV and Markdown have every time."""
    console = stdout_console()
    console.print(_words(found), markup=False, soft_wrap=True)
    if FORM.get() == "table":
        console.print(_table(found))
    else:
        rows = found.as_json()["rows"]
        show_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
    shown = found.crossovers[:CROSSOVERS_SHOWN]
    for each in shown:
        console.print(
            f"{each.ranks} ranks: {each.after} instead of {each.before} from {each.size_bytes} B",
            markup=False,
            style="dim",
            soft_wrap=True,
        )
    rest = len(found.crossovers) - len(shown)
    if rest > 0:
        console.print(f"{rest} further crossovers (all with --json)", style="dim")
    for line in found.notes:
        console.print(line, markup=False, style="dim", soft_wrap=True)


def _words(found: Prediction) -> str:
    """The fastest of all cells in a sentence."""
    cells = Counter(name for row in found.best() for name in row)
    total = sum(cells.values())
    ranking = ", ".join(f"{name} in {count}" for name, count in cells.most_common())
    return f"{found.pattern} on {found.machine}: fastest of {total} cells: {ranking}"


def _table(found: Prediction) -> Table:
    """A row per number of ranks, a column per size: the fastest, its time, and the runner-up."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("ranks", justify="right")
    best = found.best()
    for size in found.size_bytes:
        table.add_column(format_size(size), justify="right")
    names = [way.algorithm for way in found.ways]
    for i, p in enumerate(found.ranks):
        cells = []
        for j in range(len(found.size_bytes)):
            k = names.index(best[i][j])
            mark = " *" if found.extrapolated[k, i, j] else ""
            cells.append(
                f"{best[i][j]}\n{format_time(float(found.time_s[k, i, j]))}{mark}"
                f"{_runner_up(found, i, j)}"
            )
        table.add_row(str(p), *cells)
    return table


def _runner_up(found: Prediction, i: int, j: int) -> str:
    """A line on the second of a cell, and how much longer it takes; '' for one alone."""
    times_s = sorted(
        (float(time_s), way.algorithm)
        for time_s, way in zip(found.time_s[:, i, j], found.ways, strict=True)
        if not math.isnan(time_s)
    )
    if len(found.size_bytes) > SIZES_WITH_RUNNER_UP or len(times_s) < 2 or times_s[0][0] <= 0:
        return ""
    (first_s, _), (second_s, name) = times_s[:2]
    return f"\n{name} +{(second_s / first_s - 1) * 100:.0f} %"

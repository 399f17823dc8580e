"""The table that `predict` puts on a terminal: the fastest algorithm of each cell, and the next."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from nhalf.base.numbers import percent
from nhalf.base.operations import NATIVE
from nhalf.base.units import format_size, format_time
from nhalf.present.terminal.output import FORM, stdout_console
from nhalf.present.terminal.tables import add_literal, row_text, show_table
from nhalf.present.wording import count

if TYPE_CHECKING:
    from nhalf.decide.predict import Prediction

CROSSOVERS_SHOWN = 12
SIZES_WITH_RUNNER_UP = 6
"""Columns that leave room for a third line in each cell; CSV and JSON have all times."""


def show_prediction(prediction: Prediction) -> None:
    """Print what is fastest where, then times; CSV and Markdown have every time."""
    console = stdout_console()
    console.print(_words(prediction), markup=False, soft_wrap=True)
    if FORM.get() == "table":
        console.print(_table(prediction))
    else:
        rows = prediction.as_json()["rows"]
        names = [name for name in rows[0] if name != "interval_s"]
        show_table(names, [[row_text(row[name]) for name in names] for row in rows])
    shown = prediction.crossovers[:CROSSOVERS_SHOWN]
    for crossover in shown:
        console.print(
            f"{crossover.ranks} ranks: {crossover.after} instead of {crossover.before} from "
            f"{crossover.size_bytes} B",
            markup=False,
            style="dim",
            soft_wrap=True,
        )
    unlisted = len(prediction.crossovers) - len(shown)
    if unlisted > 0:
        console.print(f"{unlisted} further crossovers (all with --json)", style="dim")
    for line in prediction.notes:
        console.print(line, markup=False, style="dim", soft_wrap=True)


def _words(prediction: Prediction) -> str:
    """Count in a sentence how often each algorithm is fastest."""
    cells = Counter(name for row in prediction.best() for name in row)
    total = sum(cells.values())
    ranking = ", ".join(f"{name} in {won}" for name, won in cells.most_common())
    total_words = count(total, "cell")
    return f"{prediction.pattern} on {prediction.machine}: fastest of {total_words}: {ranking}"


def _table(prediction: Prediction) -> Table:
    """A row per number of ranks, a column per size: the fastest, its time, and the runner-up."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("ranks", justify="right")
    best, best_parts = prediction.best(), prediction.best_parts()
    for size in prediction.size_bytes:
        table.add_column(format_size(size), justify="right")
    names = [way.algorithm for way in prediction.ways]
    for i, p in enumerate(prediction.ranks):
        cells = []
        for j in range(len(prediction.size_bytes)):
            k = names.index(best[i][j])
            mark = " *" if prediction.extrapolated[k, i, j] else ""
            part_bytes = best_parts[i][j]
            part = f", parts of {format_size(part_bytes)}" if part_bytes else ""
            cells.append(
                f"{best[i][j]}{part}\n{format_time(float(prediction.time_s[k, i, j]))}{mark}"
                f"{_next_ways(prediction, i, j)}"
            )
        add_literal(table, str(p), *cells)
    return table


def _next_ways(prediction: Prediction, i: int, j: int) -> str:
    """Name the second of a cell, and how much longer it takes, and the time of the library's own.

    '' for one alone.
    """
    times_s = sorted(
        (float(time_s), way.algorithm)
        for time_s, way in zip(prediction.time_s[:, i, j], prediction.ways, strict=True)
        if not math.isnan(time_s)
    )
    if len(prediction.size_bytes) > SIZES_WITH_RUNNER_UP or len(times_s) < 2 or times_s[0][0] <= 0:
        return ""
    (first_s, _), (second_s, name) = times_s[:2]
    own = [time_s for time_s, algorithm in times_s[2:] if algorithm == NATIVE]
    words = f"\n{NATIVE} {format_time(own[0])}" if own else ""
    return f"\n{name} {percent(second_s / first_s - 1, signed=True)}{words}"

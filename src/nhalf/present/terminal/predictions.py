"""Predictions in the terminal: what is fastest in each cell, and how many held, by the ledger."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from nhalf.base.numbers import MISSING, format_number, percent, times
from nhalf.base.operations import NATIVE
from nhalf.base.units import format_size, format_time
from nhalf.decide.ledger.coverage import CELLS_MIN, KindCoverage
from nhalf.decide.ledger.lines import Ledger, Scored
from nhalf.present.terminal.output import FORM, stdout_console
from nhalf.present.terminal.tables import add_literal, row_text, show_table
from nhalf.present.wording import count

if TYPE_CHECKING:
    from rich.console import Console

    from nhalf.decide.predict import Prediction


BEST = {
    "completion": "fastest",
    "root": "root free first",
    "processors": "processors least busy",
}
"""What stands in the cells, by what algorithms are compared."""
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
    best = BEST[prediction.criterion]
    return f"{prediction.pattern} on {prediction.machine}: {best} of {total_words}: {ranking}"


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


WORST_SHOWN = 3
NAMES = (
    *("kind", "predictions", "measured", "inside", "coverage", "bias", "typical error"),
    *("95 % within", "widens by"),
)


def show_ledger(console: Console, ledger: Ledger, rows: Sequence[KindCoverage]) -> None:
    """Print a row per kind of predictions, and the measured cells furthest from theirs."""
    show_table(list(NAMES), [_cells(row) for row in rows])
    if FORM.get() != "table":
        return
    for line in _remarks(ledger, rows):
        console.print(line, markup=False, soft_wrap=True)


def _cells(row: KindCoverage) -> list[str]:
    inside = f"{row.inside} of {row.with_interval}" if row.with_interval else MISSING
    return [
        row.kind,
        str(row.predictions),
        str(row.matched),
        inside,
        MISSING if row.coverage is None else percent(row.coverage),
        _signed(row.bias_ratio),
        MISSING if row.typical_ratio is None else percent(row.typical_ratio - 1, 1),
        MISSING if row.within_ratio is None else times(row.within_ratio),
        MISSING if row.stretch_ratio is None else times(row.stretch_ratio),
    ]


def _signed(ratio: float | None) -> str:
    """How much more than predicted was measured, in the median."""
    return MISSING if ratio is None else percent(ratio - 1, 1, signed=True)


def _remarks(ledger: Ledger, rows: Sequence[KindCoverage]) -> Iterator[str]:
    few = [row.kind for row in rows if row.matched < CELLS_MIN]
    if few:
        yield f"below {CELLS_MIN} measured cells, intervals stay as they are: {', '.join(few)}"
    worst = sorted(ledger.scores, key=lambda score: -score.error_ratio)[:WORST_SHOWN]
    for score in worst:
        yield f"furthest off: {_score_words(score)}"
    if ledger.unread:
        yield f"{count(ledger.unread, 'line')} of the ledger cannot be read"


def _score_words(score: Scored) -> str:
    cell = score.cell
    way = f"{cell.pattern}/{cell.algorithm}" if cell.algorithm else cell.pattern
    where = f"{cell.ranks} ranks, {format_size(cell.size_bytes)}, {cell.library or cell.machine}"
    return (
        f"{way}, {where}: {format_number(score.measured_ratio)} times the prediction ({score.run})"
    )

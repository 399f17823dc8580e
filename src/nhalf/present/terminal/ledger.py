"""The ledger in the terminal: how many predictions held, by kind, and which were furthest off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nhalf.base.numbers import MISSING, format_number, percent, times
from nhalf.base.units import format_size
from nhalf.decide.ledger.coverage import CELLS_MIN, KindCoverage
from nhalf.decide.ledger.lines import Ledger, Scored
from nhalf.present.terminal.output import FORM
from nhalf.present.terminal.tables import show_table
from nhalf.present.wording import count

if TYPE_CHECKING:
    from rich.console import Console

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
        yield f"furthest off: {_words(score)}"
    if ledger.unread:
        yield f"{count(ledger.unread, 'line')} of the ledger cannot be read"


def _words(score: Scored) -> str:
    cell = score.cell
    way = f"{cell.pattern}/{cell.algorithm}" if cell.algorithm else cell.pattern
    where = f"{cell.ranks} ranks, {format_size(cell.size_bytes)}, {cell.library or cell.machine}"
    return (
        f"{way}, {where}: {format_number(score.measured_ratio)} times the prediction ({score.run})"
    )

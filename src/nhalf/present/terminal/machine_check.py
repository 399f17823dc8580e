"""`nhalf machines check`: where engines differ on a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nhalf.base.numbers import percent
from nhalf.base.operations import NATIVE
from nhalf.base.units import format_size, format_time
from nhalf.decide.engines.agreement import CLOSE, Agreement, ComparedCell
from nhalf.decide.engines.names import ENGINES
from nhalf.present.terminal.tables import show_table
from nhalf.present.wording import count

if TYPE_CHECKING:
    from rich.console import Console

COLUMNS = ("pattern", "ranks", "bytes", *ENGINES, "published", "apart", "reason")


def show(console: Console, answers: Agreement) -> None:
    """Print how many cells agree, then a row for each that does not, and who was not asked."""
    apart = answers.apart
    agreeing, cells = len(answers.cells) - len(apart), count(len(answers.cells), "cell")
    console.print(
        f"{answers.machine}: {agreeing} of {cells} agree within {percent(CLOSE, None)}",
        markup=False,
        soft_wrap=True,
    )
    if apart:
        show_table(COLUMNS, [_row(compared) for compared in apart])
    for engine, reason in answers.missing.items():
        words = f"{engine} was not asked: {reason}"
        console.print(words, markup=False, style="dim", soft_wrap=True)


def _row(compared: ComparedCell) -> list[str]:
    cell = compared.cell
    algorithm = "" if cell.algorithm == NATIVE else f" {cell.algorithm}"
    times_s = [*(compared.times_s.get(engine) for engine in ENGINES), compared.published_s]
    return [
        f"{cell.pattern}{algorithm}",
        f"{cell.ranks} ({cell.placement})",
        format_size(cell.size_bytes),
        *("" if time_s is None else format_time(time_s) for time_s in times_s),
        percent(compared.spread, None),
        compared.reason,
    ]

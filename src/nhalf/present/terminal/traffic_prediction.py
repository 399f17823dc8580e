"""Predicted permutations in the terminal: rates, their intervals and reasons."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from nhalf.base.units import format_rate, format_size
from nhalf.decide.traffic import PLACES, PredictedTraffic
from nhalf.present.terminal.tables import add_literal, print_table


def show(console: Console, prediction: PredictedTraffic) -> None:
    """Print a row for each permutation and place, then what widens the intervals."""
    size = format_size(prediction.size_bytes)
    title = f"{prediction.machine}, {prediction.placement}, all ranks send without pause, {size}"
    console.print(title, markup=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("to")
    table.add_column("of")
    for name in ("senders", "predicted", "interval (95 %)", "published"):
        table.add_column(name, justify="right")
    for row in prediction.rows:
        ends = [format_rate(rate_Bps) for rate_Bps in (row.rate.low, row.rate.high)]
        between = " – ".join(ends) if row.rate.is_wide else ""
        if row.rate.low <= 0:
            between = f"at most {ends[1]}"
        published = "" if row.published_Bps is None else format_rate(row.published_Bps)
        where = (row.to, PLACES[row.place], str(row.senders))
        predicted = format_rate(row.rate.middle_Bps) if row.rate.is_certain else "–"
        add_literal(table, *where, predicted, between, published)
    print_table(table, console)
    for line in prediction.reasons:
        console.print(f"• {line}", markup=False, style="dim", soft_wrap=True)

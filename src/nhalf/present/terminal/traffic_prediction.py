# SPDX-License-Identifier: Apache-2.0
"""Predicted permutations in the terminal: rates, their intervals and reasons."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from nhalf.base.units import format_rate, format_size
from nhalf.decide.traffic import PLACES, PredictedTraffic


def show(console: Console, found: PredictedTraffic) -> None:
    """A row for each permutation and place; then what makes the intervals wide."""
    size = format_size(found.size_bytes)
    title = f"{found.machine}, {found.placement}, all ranks send without pause, {size}"
    console.print(title, markup=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("to")
    table.add_column("of")
    for name in ("senders", "predicted", "95 % of what is possible", "published"):
        table.add_column(name, justify="right")
    for each in found.rows:
        ends = (format_rate(each.rate.low), format_rate(each.rate.high))
        between = " – ".join(ends) if each.rate.is_wide else ""
        known = "" if each.published_Bps is None else format_rate(each.published_Bps)
        where = (each.to, PLACES[each.place], str(each.senders))
        table.add_row(*where, format_rate(each.rate.middle_Bps), between, known)
    console.print(table)
    for line in found.reasons:
        console.print(f"• {line}", markup=False, style="dim", soft_wrap=True)

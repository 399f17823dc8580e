"""Predicted rates in the terminal: b_eff and permutations, with their intervals and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from nhalf.base.numbers import MISSING, span
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.b_eff import PredictedEffectiveBandwidth
from nhalf.machines.draws import FACTOR_MAX
from nhalf.present.terminal.tables import add_literal, print_table, show_table

if TYPE_CHECKING:
    from nhalf.decide.traffic import PredictedTraffic

WORDS = {
    "b_eff": "b_eff",
    "at-longest": "at L_max",
    "rings-at-longest": "rings at L_max",
    "pingpong": "ping-pong of 1 MiB",
}


def show_b_eff(console: Console, predictions: Sequence[PredictedEffectiveBandwidth]) -> None:
    """Print a row for each figure of each number of ranks, then what widens the intervals."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("ranks", justify="right")
    table.add_column("nodes", justify="right")
    table.add_column("of")
    for name in ("predicted", "interval (95 %)", "published"):
        table.add_column(name, justify="right")
    for prediction in predictions:
        where = (str(prediction.ranks), str(prediction.nodes))
        for name, figure in prediction.figures.items():
            between = f"{format_rate(figure.low)} – {format_rate(figure.high)}"
            published_Bps = prediction.published_Bps.get(name)
            published = "" if published_Bps is None else format_rate(published_Bps)
            predicted = format_rate(figure.middle_Bps) if figure.is_certain else "–"
            table.add_row(*where, WORDS[name], predicted, between, published)
            where = ("", "")
    print_table(table, console)
    if held := predictions[0].coverage:
        words = f"{held.inside} of {held.count} published values are inside"
        console.print(f"{words}, each predicted with all other machines but its own")
    rates = [rate for prediction in predictions for rate in prediction.figures.values()]
    if not all(rate.is_certain for rate in rates):
        console.print(f"–: the interval reaches further than a factor of {FACTOR_MAX:g}")
    for line in _reasons(predictions):
        console.print(f"• {line}", markup=False, style="dim", soft_wrap=True)


def _reasons(predictions: Sequence[PredictedEffectiveBandwidth]) -> Iterator[str]:
    """Yield each reason once, with its numbers of ranks unless it holds for all."""
    holds_for: dict[str, list[int]] = {}
    for prediction in predictions:
        for reason in prediction.reasons:
            holds_for.setdefault(reason, []).append(prediction.ranks)
    for reason, ranks in holds_for.items():
        everywhere = len(ranks) == len(predictions)
        yield reason if everywhere else f"{', '.join(map(str, ranks))} ranks: {reason}"


def show_traffic(console: Console, prediction: PredictedTraffic) -> None:
    """Print a row for each permutation and place, then what widens the intervals."""
    from nhalf.decide.traffic import PLACES

    size = format_size(prediction.size_bytes)
    title = f"{prediction.machine}, {prediction.layout}, all ranks send without pause, {size}"
    console.print(title, markup=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("to")
    table.add_column("of")
    for name in ("senders", "predicted", "interval (95 %)", "published"):
        table.add_column(name, justify="right")
    for row in prediction.rows:
        ends = [format_rate(rate_Bps) for rate_Bps in (row.rate.low, row.rate.high)]
        between = " – ".join(ends) if row.rate.is_wide else ""
        published = "" if row.published_Bps is None else format_rate(row.published_Bps)
        where = (row.to, PLACES[row.place], str(row.senders))
        predicted = format_rate(row.rate.middle_Bps) if row.rate.is_certain else "–"
        add_literal(table, *where, predicted, between, published)
    print_table(table, console)
    for line in prediction.reasons:
        console.print(f"• {line}", markup=False, style="dim", soft_wrap=True)


def show_drain(rows: Sequence[Row]) -> None:
    """Print a row for each queue, size and depth; * marks what is extrapolated."""
    names = ("queue/order", "ranks", "size", "depth", "a message", "interval (95 %)", "all of them")
    cells = [
        [
            row["algorithm"],
            str(row["ranks"]),
            format_size(row["bytes"]),
            f"{row['depth']}{' *' if row['extrapolated'] else ''}",
            format_time(row["time_s"]),
            _between(row["interval_s"]),
            format_time(row["total_s"]),
        ]
        for row in rows
    ]
    show_table(list(names), cells)


def _between(interval_s: tuple[float, float] | None) -> str:
    return MISSING if interval_s is None else span(interval_s[0], interval_s[1], format_time)

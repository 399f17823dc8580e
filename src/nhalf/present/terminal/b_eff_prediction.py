"""A predicted effective bandwidth in the terminal: figures, their intervals and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from nhalf.base.units import format_rate
from nhalf.decide.b_eff import PredictedEffectiveBandwidth
from nhalf.machines.draws import FACTOR_MAX
from nhalf.present.terminal.tables import print_table

WORDS = {
    "b_eff": "b_eff",
    "at-longest": "at L_max",
    "rings-at-longest": "rings at L_max",
    "pingpong": "ping-pong of 1 MiB",
}


def show(console: Console, predictions: Sequence[PredictedEffectiveBandwidth]) -> None:
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

"""Predictions in the terminal: the fastest in each cell, rates, replays, and how many held."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from nhalf.base.errors import FailedError
from nhalf.base.numbers import MISSING, format_number, percent, span, times
from nhalf.base.operations import NATIVE
from nhalf.base.rows import Row, members
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.ledger.coverage import CELLS_MIN, KindCoverage
from nhalf.decide.ledger.lines import Ledger, Scored
from nhalf.machines.draws import FACTOR_MAX
from nhalf.present.terminal import tables
from nhalf.present.terminal.output import FORM, emit_json, print_lines, stdout_console
from nhalf.present.wording import Cell, count, known

if TYPE_CHECKING:
    from nhalf.decide.b_eff import PredictedEffectiveBandwidth
    from nhalf.decide.predict import Prediction
    from nhalf.decide.traffic import PredictedTraffic
    from nhalf.experiment.replay import PingPongReplay


BEST = {"completion": "fastest", "root": "root free first", "processors": "processors least busy"}
"""What stands in the cells, by what algorithms are compared."""
CROSSOVERS_SHOWN = 12
SIZES_WITH_RUNNER_UP = 6
"""Columns that leave room for a third line in each cell; CSV and JSON have all times."""


def show_prediction(prediction: Prediction) -> None:
    """Print what is fastest where, then times; CSV and Markdown have every time."""
    console = stdout_console()
    print_lines(console, _words(prediction))
    if FORM.get() == "table":
        console.print(_table(prediction))
    else:
        rows = prediction.as_json()["rows"]
        names = [name for name in rows[0] if name != "interval_s"]
        tables.show_table(names, [[tables.row_text(row[name]) for name in names] for row in rows])
    shown = prediction.crossovers[:CROSSOVERS_SHOWN]
    for crossover in shown:
        print_lines(
            console,
            f"{crossover.ranks} ranks: {crossover.after} instead of {crossover.before} from "
            f"{crossover.size_bytes} B",
            style="dim",
        )
    unlisted = len(prediction.crossovers) - len(shown)
    if unlisted > 0:
        console.print(f"{unlisted} further crossovers (all with --json)", style="dim")
    print_lines(console, *prediction.notes, style="dim")


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
    table = tables.headed_table("", "ranks", *map(format_size, prediction.size_bytes))
    best, best_parts = prediction.best(), prediction.best_parts()
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
        tables.add_literal(table, str(p), *cells)
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
LEDGER: dict[str, Cell] = {
    **{"kind": "kind", "predictions": "predictions", "measured": "matched"},
    "inside": lambda row: f"{row.inside} of {row.with_interval}" if row.with_interval else MISSING,
    "coverage": lambda row: known(row.coverage, percent),
    "bias": lambda row: known(row.bias_ratio, lambda ratio: percent(ratio - 1, 1, signed=True)),
    "typical error": lambda row: known(row.typical_ratio, lambda ratio: percent(ratio - 1, 1)),
    "95 % within": lambda row: known(row.within_ratio, times),
    "widens by": lambda row: known(row.stretch_ratio, times),
}


def show_ledger(console: Console, ledger: Ledger, rows: Sequence[KindCoverage]) -> None:
    """Print a row per kind of predictions, and the measured cells furthest from theirs."""
    tables.show_rows(rows, LEDGER)
    if FORM.get() != "table":
        return
    print_lines(console, *_remarks(ledger, rows))


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


WORDS = {
    "b_eff": "b_eff",
    "at-longest": "at L_max",
    "rings-at-longest": "rings at L_max",
    "pingpong": "ping-pong of 1 MiB",
}


def show_b_eff(console: Console, predictions: Sequence[PredictedEffectiveBandwidth]) -> None:
    """Print a row for each figure of each number of ranks, then what widens the intervals."""
    titles = ("ranks", "nodes", "of", "predicted", "interval (95 %)", "published")
    table = tables.headed_table("", *titles, words=("of",))
    for prediction in predictions:
        where = (str(prediction.ranks), str(prediction.nodes))
        for name, figure in prediction.figures.items():
            between = f"{format_rate(figure.low)} – {format_rate(figure.high)}"
            published_Bps = prediction.published_Bps.get(name)
            published = "" if published_Bps is None else format_rate(published_Bps)
            predicted = format_rate(figure.middle_Bps) if figure.is_certain else "–"
            table.add_row(*where, WORDS[name], predicted, between, published)
            where = ("", "")
    tables.print_table(table, console)
    if held := predictions[0].coverage:
        words = f"{held.inside} of {held.count} published values are inside"
        console.print(f"{words}, each predicted with all other machines but its own")
    rates = [rate for prediction in predictions for rate in prediction.figures.values()]
    if not all(rate.is_certain for rate in rates):
        console.print(f"–: the interval reaches further than a factor of {FACTOR_MAX:g}")
    print_lines(console, *(f"• {line}" for line in _reasons(predictions)), style="dim")


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
    print_lines(console, title)
    titles = ("to", "of", "senders", "predicted", "interval (95 %)", "published")
    table = tables.headed_table("", *titles, words=("to", "of"))
    for row in prediction.rows:
        ends = [format_rate(rate_Bps) for rate_Bps in (row.rate.low, row.rate.high)]
        between = " – ".join(ends) if row.rate.is_wide else ""
        published = "" if row.published_Bps is None else format_rate(row.published_Bps)
        where = (row.to, PLACES[row.place], str(row.senders))
        predicted = format_rate(row.rate.middle_Bps) if row.rate.is_certain else "–"
        tables.add_literal(table, *where, predicted, between, published)
    tables.print_table(table, console)
    print_lines(console, *(f"• {line}" for line in prediction.reasons), style="dim")


DRAIN: dict[str, Cell] = {
    **{"queue/order": "algorithm", "ranks": "ranks", "size": "bytes"},
    "depth": lambda row: f"{row['depth']}{' *' if row['extrapolated'] else ''}",
    "a message": "time_s",
    "interval (95 %)": lambda row: known(
        row["interval_s"], lambda ends: span(ends[0], ends[1], format_time)
    ),
    "all of them": "total_s",
}


def show_drain(rows: Sequence[Row]) -> None:
    """Print a row for each queue, size and depth; * marks what is extrapolated."""
    tables.show_rows(rows, DRAIN)


MEDIAN_MAX = 0.05
WORST_MAX = 0.15
"""Relative errors that a valid simulation stays below."""


def show_replays(replays: Sequence[PingPongReplay], *, as_json: bool) -> None:
    """Print every ping-pong; raises FailedError if a simulation is too far from its run."""
    if as_json:
        emit_json({"replays": [_as_json(replay) for replay in replays]})
    else:
        screen = stdout_console()
        for replay in replays:
            screen.print(_replay_table(replay))
    for replay in replays:
        worst = percent(replay.worst.error, 1, signed=True)
        if replay.median_error > MEDIAN_MAX or abs(replay.worst.error) > WORST_MAX:
            raise FailedError(
                f"the simulation of {replay.mpi} is {percent(replay.median_error, 1)} off, "
                f"{worst} at {format_size(replay.worst.size_bytes)}",
                "measure longer, so that the sizes of a curve agree with each other",
            )


def _as_json(replay: PingPongReplay) -> dict[str, Any]:
    return {
        **members(replay, "mpi", "placement", "median_error"),
        "worst_error": abs(replay.worst.error),
        "sizes": [{**asdict(size), "error": size.error} for size in replay.sizes],
    }


def _replay_table(replay: PingPongReplay) -> Table:
    worst = replay.worst
    caption = (
        f"error: median {percent(replay.median_error, 1)}, worst {percent(abs(worst.error), 1)} at "
        f"{format_size(worst.size_bytes)}; 'model' is what the fitted segments alone say"
    )
    title = f"{replay.mpi}, ping-pong, {replay.placement}"
    names = ("size", "measured", "model", "simulated", "error")
    table = tables.headed_table(title, *names, words=("size",), caption=caption)
    for size in replay.sizes:
        table.add_row(
            format_size(size.size_bytes),
            *map(format_time, (size.measured_s, size.model_s, size.simulated_s)),
            percent(size.error, 1, signed=True),
        )
    return table

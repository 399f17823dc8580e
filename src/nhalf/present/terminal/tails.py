"""The table of quantiles of samples on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.listing import ranks_text
from nhalf.base.numbers import MISSING, times
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.precision import with_repetitions
from nhalf.facts.tails import quantile_rows
from nhalf.present.terminal.output import print_lines, stdout_console
from nhalf.present.terminal.tables import show_frame, show_table
from nhalf.present.wording import count, quantile_name, quantile_span
from nhalf.statistics.tails import samples_needed
from nhalf.store.keys import RUN_POINT

TABLE = ("mpi", "transport", "pattern", "algorithm", "axes", "ranks", "placement")


def show_quantiles(facts: Facts, shares: Sequence[float], form: str) -> None:
    """Print quantiles of samples, a table per curve, and the length of the batches."""
    rows = quantile_rows(facts, tuple(shares))
    if form == "csv":
        show_frame(rows)
        return
    points = with_repetitions(facts).select(*RUN_POINT, "median_s", "batch")
    joined = rows.join(points, on=RUN_POINT, how="left", maintain_order="left")
    console = stdout_console()
    for _, curve in joined.group_by(TABLE, maintain_order=True):
        first = curve.row(0, named=True)
        library = str(carrier(first["mpi"], first["transport"]))
        words = [first["pattern"], first["algorithm"], first["axes"], ranks_text(first["ranks"])]
        words += [first["placement"], facts.titles.get(library, library)]
        print_lines(console, "\n" + "  ".join(filter(None, words)))
        columns = ("size", "quantile", "time", "95 % interval", "of the median", "samples")
        finite = curve.filter(pl.col("time_s").is_not_nan())
        if not finite.is_empty():
            show_table(columns, [_cells(row) for row in finite.to_dicts()])
        print_lines(console, *(*_not_known(curve), _batches(curve)))


def _cells(row: Mapping[str, Any]) -> list[str]:
    of_median = times(row["time_s"] / row["median_s"]) if row["median_s"] > 0 else MISSING
    return [
        *(format_size(row["bytes"]), quantile_name(row["q"]), format_time(row["time_s"])),
        *(quantile_span(row["low_s"], row["high_s"]), of_median, str(row["samples"])),
    ]


def _not_known(curve: pl.DataFrame) -> Iterator[str]:
    """A line for each quantile with too few samples beyond it."""
    unknown = curve.filter(pl.col("time_s").is_nan())
    for (q,), rows in unknown.group_by("q", maintain_order=True):
        share = float(str(q))
        yield (
            f"{quantile_name(share)}: not known at {count(rows.height, 'size')}, needs "
            f"{samples_needed(share)} samples each (--budget, --launches)"
        )


def _batches(curve: pl.DataFrame) -> str:
    """What a sample is: one operation, or the mean of many."""
    batch = int(curve["batch"].max() or 1)  # type: ignore[arg-type]
    if batch <= 1:
        return "A sample is one operation."
    return f"A sample is the mean of up to {batch} rounds: single operations may be slower."

"""The tables that `run` and `show` put on a terminal."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.table import Table

from nhalf.base.carrier import carrier
from nhalf.base.listing import few, ranks_text
from nhalf.base.numbers import MISSING, fixed, half_width_text, percent, span, times
from nhalf.base.operations import NATIVE
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.guidelines import Verdict, guidelines, worst_by_guideline
from nhalf.facts.nccl import choices
from nhalf.facts.overview import LibraryOverview, PatternOverview, overview, patterns_overview
from nhalf.facts.precision import with_repetitions
from nhalf.facts.tails import quantile_rows
from nhalf.measure.loop.ending import RunOutcome
from nhalf.present.terminal.output import print_lines, show_place, stdout_console
from nhalf.present.terminal.tables import (
    add_literal,
    house_table,
    print_table,
    show_frame,
    show_rows,
    show_table,
)
from nhalf.present.wording import (
    Cell,
    count,
    n_half_ends,
    n_half_text,
    quantile_name,
    quantile_span,
)
from nhalf.results import kinds
from nhalf.statistics.summary import VIRTUAL
from nhalf.statistics.tails import samples_needed
from nhalf.store.keys import RUN_POINT

FINDINGS_SHOWN = 8
"""The others stand in the report."""
ONE_NUMBER_OF_RANKS = 3
"""Columns of the table of collectives that were measured on one number of ranks."""
OPERATIONS_SHOWN = 12
"""A longer table of collectives stands in the report alone."""
BROKEN = ("slow-node", "slow-link")
"""Kinds of findings that come before any result: something has to be repaired."""
EQUAL_LAUNCHES = "every launch takes this time"
POINTS_ALIKE = {"algorithm": NATIVE, "axes": ""}
"""Columns that a table of points has only if a value differs."""


def show_outcome(outcome: RunOutcome, facts: Facts, report: Path | None) -> None:
    """Print the end of a run: a line per library, findings, failures and paths.

    `facts` are about the run.
    """
    from nhalf.facts.precision import unresolved
    from nhalf.present.findings import headlines

    console = stdout_console()
    if overview(facts):
        print_table(overview_table(overview(facts)))
    else:
        print_table(patterns_table(patterns_overview(facts)))
    _show_collectives(facts)
    # Wrong data were said first.
    new = [finding for finding in headlines(facts) if finding.kind != "wrong-data"]
    shown = new[:FINDINGS_SHOWN]
    broken = [finding for finding in shown if finding.kind in BROKEN]
    for finding in broken:
        console.print(f"• {finding.text}", markup=False)
    for line in result_lines(facts.results, facts.titles):
        console.print(f"• {line}", markup=False)
    for finding in shown:
        if finding not in broken:
            console.print(f"• {finding.text}", markup=False)
    for name, reason in outcome.failed.items():
        console.print(f"not measured: {name}: {reason}", markup=False, style="yellow")
    for text in outcome.notes:
        console.print(text, markup=False, style="yellow")
    for row in unresolved(facts, outcome.unmeasured):
        if row["unmeasured"]:
            text = f"not measured: {row['pattern']}: {row['unmeasured']} of {row['points']} points"
            console.print(text, markup=False, style="yellow")
    show_place(outcome.run, report)


def _show_collectives(facts: Facts) -> None:
    """Print which library is fastest in which operation, where ranks make a difference."""
    from nhalf.present.fastest_by_ranks import fastest_by_ranks

    columns, rows = fastest_by_ranks(facts)
    if len(columns) > ONE_NUMBER_OF_RANKS and 0 < len(rows) <= OPERATIONS_SHOWN:
        show_table(columns, rows)


def overview_table(lines: Sequence[LibraryOverview]) -> Table:
    """One row per library: latency, n½, peak rate, switches."""
    table = house_table("library", "latency", "95 %", "n½", "95 %", "peak rate", "steps at")
    for line in lines:
        # No width is no certainty.
        is_known = line.launches > 1 and not math.isnan(line.latency_half_width)
        half_width = half_width_text(line.latency_half_width) if is_known else "–"
        latency = (format_time(line.latency_s), half_width)
        half = (n_half_text(line.n_half_bytes), n_half_ends(line) or "–")
        steps = few([format_size(high) for _, high in line.switches], 4)
        add_literal(table, line.series, *latency, *half, format_rate(line.peak_Bps), steps)
    return table


def patterns_table(lines: Sequence[PatternOverview]) -> Table:
    """One row per library and pattern: points, time of the smallest message, peak rate."""
    table = house_table("library", "pattern", "points", "smallest", "its time", "peak rate")
    for line in lines:
        times = " to ".join(map(format_time, dict.fromkeys((line.quickest_s, line.slowest_s))))
        numbers = (str(line.points), format_size(line.smallest_bytes), times)
        add_literal(table, line.series, line.pattern, *numbers, format_rate(line.peak_Bps))
    return table


def show_points(facts: Facts) -> None:
    """Print every point, a table per library and pattern, and the states of the machine."""
    from nhalf.facts.extent import extent
    from nhalf.facts.machine_states import machine_states
    from nhalf.present.wording import states_text

    columns = ("size", "time", "95 % interval", "rate", "launches", "samples", "warnings")
    console, summary = stdout_console(), facts.summary
    states = machine_states(facts)
    if extent(facts).is_virtual:
        console.print(f"{', '.join(extent(facts).hosts)}; {EQUAL_LAUNCHES}", markup=False)
    placements = summary["placement"].n_unique() > 1
    for (mpi, transport, pattern, ranks, placement), points in summary.group_by(
        ["mpi", "transport", "pattern", "ranks", "placement"], maintain_order=True
    ):
        title = facts.titles.get(str(mpi) or str(transport), str(mpi) or str(transport))
        place = f"  {placement}" if placements else ""
        print_lines(console, f"\n{pattern}  {ranks_text(ranks)}{place}  {title}")
        ordered = points.sort(
            pl.col("algorithm") != NATIVE, "algorithm", "axes", "bytes", maintain_order=True
        )
        rows = [_point_row(row) for row in ordered.iter_rows(named=True)]
        further = [name for name, usual in POINTS_ALIKE.items() if (ordered[name] != usual).any()]
        cells = [[text or "–" for text in ordered[name].fill_null("")] for name in further]
        nccl_cells = [_nccl_cell(row) for row in ordered.iter_rows(named=True)]
        if any(nccl_cells):
            further = [*further, "NCCL takes"]
            cells.append([text or "not known" for text in nccl_cells])
        if states:
            further = [*further, "state"]
            cells.append([_state(row) for row in ordered.iter_rows(named=True)])
        show_table((*further, *columns), [[*p, *row] for *p, row in zip(*cells, rows, strict=True)])
    for machine in states:
        console.print(states_text(machine), markup=False)


def _nccl_cell(row: Mapping[str, Any]) -> str:
    """What NCCL took for a point, 'RING/LL128, 24 channels'; '' where it did not say."""
    return " or ".join(
        f"{choice.title}, {count(choice.channels, 'channel')}" for choice in choices(row)
    )


def _state(row: Mapping[str, Any]) -> str:
    """The flag between two cores in a point's state, and the share of its launches."""
    if row["state_s"] is None:
        return "–"
    return f"flag {format_time(row['state_s'])} in {percent(row['state_share'])} of launches"


def _point_row(row: dict[str, Any]) -> list[str]:
    rate = row["bytes_per_time"] / row["median_s"] if row["median_s"] > 0 else float("nan")
    return [
        format_size(row["bytes"]),
        format_time(row["median_s"]),
        "exact"
        if VIRTUAL in row["advice"]
        else span(row["ci_low_s"], row["ci_high_s"], format_time),
        format_rate(rate) if row["bytes"] and row["bytes_per_time"] else "",
        str(row["launches"]),
        str(row["samples"]),
        ", ".join(row["advice"]),
    ]


def show_results(results: Mapping[str, list[Row]], titles: Mapping[str, str]) -> None:
    """Print a table per result; missing values and warnings stand below it."""
    kinds_by_name = kinds()
    for name, rows in results.items():
        kind = kinds_by_name[name]
        stdout_console().print(f"\n{kind.title}", markup=False)
        columns = [c for c in kind.columns if any(row.get(c.name) is not None for row in rows)]
        cells = [[*_subject(row, titles), *(c.cell(row) for c in columns)] for row in rows]
        show_table(["library", "ranks", *(column.title for column in columns)], cells)
        for row in rows:
            further = kind.further(row)
            if further is not None:
                show_table(*further)
            remarks = [*kind.sentences(row), row.get("missing"), *row.get("doubts", [])]
            for remark in filter(None, remarks):
                text = f"{', '.join(_subject(row, titles))} ranks: {remark}"
                stdout_console().print(text, markup=False)


def result_lines(results: Mapping[str, list[Row]], titles: Mapping[str, str]) -> Iterator[str]:
    """A line for each row of each result, for the end of a run."""
    kinds_by_name = kinds()
    for name, rows in results.items():
        for row in rows:
            library, ranks = _subject(row, titles)
            yield f"{library}, {ranks_text(ranks)}: {kinds_by_name[name].line(row)}"


def _subject(row: Row, titles: Mapping[str, str]) -> tuple[str, str]:
    """Name the library and the number of ranks of a row."""
    key = str(carrier(row["mpi"], row["transport"]))
    return titles.get(key, key), str(row["ranks"])


def show_guidelines(facts: Facts) -> None:
    """Print the violated guidelines; nothing if there is none."""
    worst = worst_by_guideline(facts)
    if not worst:
        return
    stdout_console().print(
        f"\nperformance guidelines: {sum(number for _, number in worst)} of "
        f"{len(guidelines(facts))} tests are violated, most at",
        markup=False,
    )
    columns: dict[str, Cell] = {
        "library": lambda row: _subject(vars(row[0]), facts.titles)[0],
        "operation": lambda row: row[0].mock_up.operation,
        "ranks": lambda row: str(row[0].ranks),
        "size": lambda row: format_size(row[0].size_bytes) if row[0].size_bytes else "",
        "is slower than": lambda row: _mock_up(row[0]),
        "ratio": lambda row: fixed(row[0].factor.median, 2),
        "95 %": lambda row: span(row[0].factor.low, row[0].factor.high, times),
        "points": lambda row: str(row[1]),
    }
    show_rows(worst, columns)


def _mock_up(verdict: Verdict) -> str:
    parts = zip(verdict.mock_up.parts, verdict.sizes_bytes, strict=True)
    return " + ".join(
        f"{f'{part.calls} x ' if part.calls > 1 else ''}{part.pattern} {format_size(size)}"
        for part, size in parts
    )


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

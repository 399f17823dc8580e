"""A traced program on a terminal: findings first, then tables."""

from collections.abc import Sequence

import polars as pl

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import percent, whole
from nhalf.base.units import format_size, format_time
from nhalf.decide.program.basis import shown_run
from nhalf.facts.program import calls as call_facts
from nhalf.facts.program.messages import histogram, message_sizes, sends_by_rank, spread
from nhalf.facts.program.program import Program
from nhalf.present.findings import findings
from nhalf.present.program.answer import answer_lines
from nhalf.present.terminal.output import print_lines, stdout_console
from nhalf.present.terminal.tables import show_table
from nhalf.present.wording import count_text

ROWS_MAX = 12
ANSWERED = ("others", "shared-processors")
"""Findings that the answer above them has."""


def show_program(program: Program) -> None:
    """Print what fits on a screen or two; --json and the report have the rest."""
    program = shown_run(program)
    console = stdout_console()
    print_lines(console, _headline(program))
    print_lines(console, *answer_lines(program), style="bold")
    for finding in findings(program):
        if finding.kind in ANSWERED:
            continue
        console.print(f"• {finding.text}", markup=False)
        if finding.remedy:
            console.print(f"  {finding.remedy}", markup=False, style="dim")
    for title, columns, rows in (_sends(program), _sizes(program), _collectives(program)):
        if rows:
            console.print(f"\n{title}", markup=False)
            show_table(columns, rows)
    console.print("\nTime in MPI" if program.is_timed else "\nCalls of MPI", markup=False)
    show_table(*_calls(program))


def _headline(program: Program) -> str:
    command = program.command
    hosts = len(set(program.hosts))
    place = f" on {hosts} hosts" if hosts > 1 else ""
    if program.trace.virtual is not None:
        place = f" in virtual time on {program.trace.virtual.machine}"
    library = f", {program.library_title}" if program.library else ""
    time = f", {format_time(program.elapsed_s)}" if program.is_timed else ""
    if program.as_traced is not None:
        time += f" ({format_time(program.as_traced.elapsed_s)} as traced)"
    return f"{command}\n{ranks_text(program.ranks)}{place}{library}{time}"


Table = tuple[str, tuple[str, ...], list[list[str]]]


def _sends(program: Program) -> Table:
    """Tabulate minimum, mean and maximum over processes."""
    columns = ("per process", "min", "mean", "max")
    titles = ("messages sent", "bytes sent", "mean message", "destinations")
    return "Messages", columns, [] if program.messages.is_empty() else sends_rows(program, titles)


def sends_rows(program: Program, titles: Sequence[str]) -> list[list[str]]:
    """Messages, bytes, mean size and destinations, so titled: least, mean and most over ranks."""
    rows = []
    names = ("messages", "bytes", "mean_bytes", "destinations")
    for name, title in zip(names, titles, strict=True):
        distribution = spread(sends_by_rank(program)[name].drop_nulls())
        form = format_size if name.endswith("bytes") else count_text
        rows.append([title, *map(form, distribution.values())])
    return rows


def _sizes(program: Program) -> Table:
    total = max(1, message_sizes(program)["messages"].sum())
    all_bytes = max(1, message_sizes(program)["bytes"].sum())
    rows = []
    reached = 0.0
    for row in histogram(message_sizes(program)).iter_rows(named=True):
        reached += row["messages"] / total
        rows.append(
            [
                _class_name(row["from_bytes"], row["to_bytes"]),
                whole(row["messages"]),
                percent(row["messages"] / total),
                percent(reached),
                percent(row["bytes"] / all_bytes),
            ]
        )
    return "Sizes", ("size", "messages", "share", "cumulative", "of all bytes"), rows


def _class_name(low: int, high: int) -> str:
    return format_size(low) if high - low == 1 else f"{format_size(low)} to < {format_size(high)}"


def _collectives(program: Program) -> Table:
    columns = ("collective", "size", "ranks", "operations", "each", "per rank", "waiting")
    rows = [
        [
            row["call"],
            format_size(row["size_bytes"]),
            str(row["ranks"]),
            whole(row["operations"]),
            format_time(row["time_s"] / max(1, row["operations"])),
            format_time(row["time_s"]),
            percent(row["waiting_s"] / row["time_s"]) if row["time_s"] else "–",
        ]
        for row in call_facts.collective_calls(program).head(ROWS_MAX).iter_rows(named=True)
    ]
    if not program.is_timed:
        return "Collective operations", columns[:4], [row[:4] for row in rows]
    return "Collective operations", columns, rows


def _calls(program: Program) -> tuple[tuple[str, ...], list[list[str]]]:
    sums = pl.col("count", "bytes", "time_s", "waiting_s").sum()
    calls = call_facts.time_by_call(program).group_by("call").agg(sums)
    calls = calls.with_columns(share=call_facts.share_of_threads_time(program, pl.col("time_s")))
    calls = calls.sort("time_s", "call", descending=[True, False]).head(ROWS_MAX)
    unit, threads = "rank", program.ranks
    if call_facts.has_threads(program):
        unit, threads = "thread", int(call_facts.threads_by_rank(program)["threads"].sum())
    rows = [
        [
            row["call"],
            whole(row["count"]),
            format_size(row["bytes"]),
            format_time(row["time_s"] / threads),
            "–" if row["share"] is None else percent(row["share"]),
            format_time(row["waiting_s"] / threads),
        ]
        for row in calls.iter_rows(named=True)
    ]
    columns = ("call", "calls", "bytes", f"time per {unit}", "of the run", f"waiting per {unit}")
    return (columns, rows) if program.is_timed else (columns[:3], [row[:3] for row in rows])

"""A node on a terminal: its caches beside what the system reports."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nhalf.base.numbers import fixed
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.machines.processor import Processor
from nhalf.node.bandwidth import KERNELS
from nhalf.present.terminal.bounds import show_doubts
from nhalf.present.terminal.output import show_place, stdout_console
from nhalf.present.terminal.tables import show_rows, show_table
from nhalf.present.wording import Cell
from nhalf.results import Result
from nhalf.results.caches import size_words
from nhalf.results.gpu import Gpu
from nhalf.results.stream import Stream
from nhalf.results.sweeps import Sweeps
from nhalf.results.translation import Translation
from nhalf.store.run import Run

UNITS: dict[str, Cell] = {
    "operation": lambda unit: unit.name.replace("_", " "),
    "width": "width",
    "a cycle": lambda unit: f"{fixed(unit.per_cycle, 2)}{' *' if unit.doubt else ''}",
    "latency, cycles": lambda unit: fixed(unit.latency_cycles, 1) if unit.latency_cycles else "–",
}
LATENCIES = ("load-to-use latency", "cycles", "a miss adds")


def show_node(run: Run, facts: Facts, described: Processor | None, report: Path | None) -> None:
    """Print tables of what was measured, what could not be resolved, and the paths."""
    console = stdout_console()
    rows = facts.results.get("caches", [])
    announced = {level["level"]: level for level in run.environment.get("announced", [])}
    levels = [row for row in rows if "level" in row]
    titles = ("cache", "size", "line", "ways", *LATENCIES, "system says")
    show_table(titles, [_cells(row, announced.get(row["level"], {})) for row in levels])
    for row in rows:
        for doubt in row.get("doubts", []):
            console.print(doubt, markup=False, style="yellow")
    _show_result(Translation(), facts.results.get("translation", []))
    _show_result(Sweeps(), facts.results.get("sweeps", []))
    if described is not None:
        _show_units(described)
    _show_stream(facts.results.get("stream", []))
    show_place(run, report)


def show_gpu(run: Run, facts: Facts, report: Path | None) -> None:
    """Print what a message of GPU memory pays, and the paths."""
    console = stdout_console()
    environment = run.environment
    console.print(
        f"{environment['gpu']} at {environment['gpu_pci']}, {environment['gpu_driver']}",
        markup=False,
    )
    _show_result(Gpu(), facts.results.get("gpu", []))
    show_place(run, report)


def _show_result(kind: Result, rows: Sequence[Row]) -> None:
    """Print the rows that have the first column, below the title, and what is said of all."""
    shown = [row for row in rows if row.get(kind.columns[0].name) is not None]
    if shown:
        stdout_console().print(f"\n{kind.title}", style="bold", markup=False)
    titles = [column.title for column in kind.columns]
    show_table(titles, [[column.cell(row) for column in kind.columns] for row in shown])
    for row in rows:
        for sentence in (*kind.sentences(row), *row.get("doubts", [])):
            stdout_console().print(sentence, markup=False)


def _show_units(described: Processor) -> None:
    """Print throughput and latency of the core's operations, by width."""
    show_rows(described.operations, UNITS)
    show_doubts(stdout_console(), described)
    forward = described.store_forward_cycles
    forwarding = (
        f", a stored value is loaded again after {fixed(forward, 1)} cycles" if forward else ""
    )
    stdout_console().print(
        f"{fixed(described.clock_hz / 1e9, 2)} GHz, {fixed(described.issue_per_cycle, 1)} "
        f"instructions a cycle{forwarding}",
        markup=False,
    )


def _show_stream(rows: Sequence[Row]) -> None:
    """Print the rate of all cores together in each level, and why a marked one is doubtful."""
    level, *kernels = Stream().columns
    cells = [
        [
            level.cell(row),
            str(row["ranks"]),
            *(
                f"{column.cell(row)}{' *' if kernel in row['marks'] else ''}"
                for kernel, column in zip(KERNELS, kernels, strict=True)
            ),
        ]
        for row in rows
    ]
    show_table(("level", "cores", *KERNELS), cells)
    for row in rows:
        for doubt in row["doubts"]:
            stdout_console().print(doubt, markup=False, style="yellow")


def _cells(row: Row, announced: Mapping[str, Any]) -> list[str]:
    words = [
        format_size(announced["size_bytes"]) if announced.get("size_bytes") else "",
        f"{announced['line_bytes']} B" if announced.get("line_bytes") else "",
        f"{announced['ways']} ways" if announced.get("ways") else "",
    ]
    return [
        f"L{row['level']}",
        size_words(row["size_bytes"], row["size_ci"]),
        f"{row['line_bytes']} B" if row["line_bytes"] else "–",
        str(row["ways"] or "–"),
        format_time(row["hit_s"]),
        fixed(row["hit_cycles"], 1),
        format_time(row["miss_s"]) if row["miss_s"] else "–",
        ", ".join(filter(None, words)) or "nothing",
    ]

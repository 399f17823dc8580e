"""The Livermore kernels as a table: cycles per iteration, and the share of the bounding rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nhalf.base.numbers import fixed, percent
from nhalf.loops.livermore.table import Row, used
from nhalf.loops.livermore.titles import EXPLANATIONS
from nhalf.loops.livermore.tuned import TUNED
from nhalf.machines.processor import Processor
from nhalf.present.terminal.bounds import UNITS, show_doubts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def show_livermore(console: Console, processor: Processor | None, table: Sequence[Row]) -> None:
    """Print the times, then the ladder of each kernel's fastest build with the cause of gaps."""
    from rich.markup import escape
    from rich.table import Table

    bounded = f"; bounds of {processor.title or processor.name}" if processor else ""
    title = f"Livermore kernels, cycles per iteration{bounded}"
    shown = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    shown.add_column("kernel")
    plain = [build for build in used(table) if not build.is_tuned]
    for name in ("bound", *(build.title.replace("-march=native", "") for build in plain)):
        shown.add_column(name, justify="right")
    shown.add_column("limit")
    for row in table:
        shown.add_row(*_cells(row))
    console.print(shown)
    if processor is None:
        console.print("No bounds: the processor here was not measured. Run `nhalf node` first.")
        return
    console.print()
    console.print(_ladders(table))
    for row in table:
        if explanation := EXPLANATIONS.get(row.bound.number):
            console.print(f"{row.bound.number}: {explanation}", markup=False, soft_wrap=True)
    console.print()
    console.print(_tuned(table))
    show_doubts(console, processor)


def _ladders(table: Sequence[Row]) -> Table:
    """The rungs of each kernel in its fastest build, and what to try next."""
    from rich.table import Table

    title = "From the bound to the time, in the fastest build (all builds: --json, --report)"
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False)
    shown.add_column("kernel")
    for name in ("MA", "MAC", "MACS", "measured"):
        shown.add_column(name, justify="right")
    shown.add_column("build", no_wrap=True)
    shown.add_column("largest gap, and what helps")
    for row in table:
        climb = row.climb(row.fastest)
        rungs = (climb.essential_cycles, climb.emitted_cycles, climb.scheduled_cycles)
        cells = [
            "–" if cycles is None else fixed(cycles, 2)
            for cycles in (*rungs, climb.measured_cycles)
        ]
        build = row.fastest.build.title.replace(" -march=native", "")
        shown.add_row(str(row.bound.number), *cells, build, row.advice)
    return shown


def _tuned(table: Sequence[Row]) -> Table:
    """Kernels before and after they were transformed."""
    from rich.table import Table

    title = "Transformed kernels, cycles per iteration and share of the bounding rate"
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False)
    shown.add_column("kernel")
    for name in ("bound", "plain", "tuned"):
        shown.add_column(name, justify="right")
    shown.add_column("build", no_wrap=True)
    shown.add_column("transformations")
    for row in table:
        if row.tuned is not None:
            cells = [
                _time(timing.cycles_per_iteration, row.share(timing))
                for timing in (row.fastest, row.tuned)
            ]
            cycles = row.bound.cycles
            bound = "–" if cycles is None else fixed(cycles, 2)
            build = row.tuned.build.title.replace(" -march=native", "")
            words = ", ".join(TUNED[row.bound.number])
            shown.add_row(str(row.bound.number), bound, *cells, build, words)
    return shown


def _cells(row: Row) -> list[str]:
    cycles = row.bound.cycles
    limits = [UNITS[name] for name in row.bound.limits[:1]]
    times = [_time(timing.cycles_per_iteration, row.share(timing)) for timing in row.plain]
    bound = "–" if cycles is None else fixed(cycles, 2)
    return [f"{row.bound.number} {row.bound.title}", bound, *times, *(limits or ["–"])]


def _time(cycles: float, share: float | None) -> str:
    return fixed(cycles, 2) + ("" if share is None else f" ({percent(share)})")

"""From the bound of a loop to its time, as a table and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nhalf.base.numbers import fixed
from nhalf.loops.source.ma_bounds import Bound
from nhalf.present.terminal.tables import add_literal

if TYPE_CHECKING:
    from rich.console import Console

    from nhalf.loops.file_ladders import Ladders, LoopLadder


def ladder_json(bound: Bound, ladders: Ladders | None) -> dict[str, Any]:
    """List the rungs of a loop by build: cycles per iteration, null if unknown."""
    if ladders is None:
        return {}
    rows = [
        {
            "build": ladder.build.title,
            "mac_cycles": ladder.climb.emitted_cycles,
            "macs_cycles": ladder.climb.scheduled_cycles,
            "measured_cycles": ladder.climb.measured_cycles,
            "gaps": [str(gap) for gap in ladder.climb.gaps()],
        }
        for ladder in ladders.of(bound)
    ]
    return {"ladder": rows}


def show_ladders(console: Console, ladders: Ladders | None) -> None:
    """Print a line for each loop and build, and what is missing."""
    if ladders is None:
        return
    from rich.table import Table

    title = "From the bound to the time, cycles per iteration"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("loop")
    table.add_column("build", no_wrap=True)
    for name in ("MA", "MAC", "MACS", "measured"):
        table.add_column(name, justify="right")
    table.add_column("largest gap, and what helps")
    for ladder in ladders.ladders:
        add_literal(table, *_cells(ladder))
    if ladders.ladders:
        console.print()
        console.print(table)
    for reason in ladders.reasons:
        console.print(reason, markup=False, style="yellow")


def _cells(ladder: LoopLadder) -> list[str]:
    climb, counts = ladder.climb, ladder.bound.counts
    rungs = (
        *(climb.essential_cycles, climb.emitted_cycles),
        *(climb.scheduled_cycles, climb.measured_cycles),
    )
    gap = max(climb.gaps(), key=lambda gap: gap.ratio, default=None)
    return [
        f"{counts.function}:{counts.line}",
        ladder.build.title.replace(" -march=native", ""),
        *("–" if cycles is None else fixed(cycles, 2) for cycles in rungs),
        str(gap) if gap else "",
    ]

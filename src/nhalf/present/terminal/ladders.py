# SPDX-License-Identifier: Apache-2.0
"""From the bound of a loop to its time, as a table and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nhalf.node.bound.bounds import Bound

if TYPE_CHECKING:
    from rich.console import Console

    from nhalf.node.ladder.of_file import Ladder, Ladders


def ladder_json(bound: Bound, ladders: Ladders | None) -> dict[str, Any]:
    """The rungs of a loop by build: cycles per iteration, null for what is unknown."""
    if ladders is None:
        return {}
    rows = [
        {
            "build": one.build.title,
            "mac_cycles": one.climb.emitted_cycles,
            "macs_cycles": one.climb.scheduled_cycles,
            "measured_cycles": one.climb.measured_cycles,
            "gaps": [str(gap) for gap in one.climb.gaps()],
        }
        for one in ladders.of(bound)
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
    for one in ladders.found:
        table.add_row(*_cells(one))
    if ladders.found:
        console.print()
        console.print(table)
    for reason in ladders.reasons:
        console.print(reason, markup=False, style="yellow")


def _cells(one: Ladder) -> list[str]:
    found, counts = one.climb, one.bound.counts
    rungs = (
        *(found.essential_cycles, found.emitted_cycles),
        *(found.scheduled_cycles, found.measured_cycles),
    )
    gap = max(found.gaps(), key=lambda gap: gap.ratio, default=None)
    return [
        f"{counts.function}:{counts.line}",
        one.build.title.replace(" -march=native", ""),
        *("–" if cycles is None else f"{cycles:.2f}" for cycles in rungs),
        str(gap) if gap else "",
    ]

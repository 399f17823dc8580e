"""What `nhalf predict --engine simgrid --replay` shows: a run and its simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nhalf.base.errors import FailedError
from nhalf.base.numbers import percent
from nhalf.base.rows import members
from nhalf.base.units import format_size, format_time

if TYPE_CHECKING:
    from rich.table import Table

    from nhalf.experiment.replay import PingPongReplay

MEDIAN_MAX = 0.05
WORST_MAX = 0.15
"""Relative errors that a valid simulation stays below."""


def show(replays: Sequence[PingPongReplay], *, as_json: bool) -> None:
    """Print every ping-pong; raises FailedError if a simulation is too far from its run."""
    from nhalf.present.terminal.output import emit_json, stdout_console

    if as_json:
        emit_json({"replays": [_as_json(replay) for replay in replays]})
    else:
        screen = stdout_console()
        for replay in replays:
            screen.print(_table(replay))
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


def _table(replay: PingPongReplay) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    worst = replay.worst
    table = Table(
        title=Text(f"{replay.mpi}, ping-pong, {replay.placement}", style="bold"),
        title_justify="left",
        caption=Text(
            f"error: median {percent(replay.median_error, 1)}, worst "
            f"{percent(abs(worst.error), 1)} at {format_size(worst.size_bytes)}; "
            "'model' is what the fitted segments alone say",
            style="dim",
        ),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for name in ("size", "measured", "model", "simulated", "error"):
        table.add_column(name, justify="left" if name == "size" else "right")
    for size in replay.sizes:
        table.add_row(
            format_size(size.size_bytes),
            *map(format_time, (size.measured_s, size.model_s, size.simulated_s)),
            percent(size.error, 1, signed=True),
        )
    return table

# SPDX-License-Identifier: Apache-2.0
"""The progress bar of a run; nothing is shown without a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nhalf.base.units import format_size, format_time

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from nhalf.measure.plan.plan import Point


class Progress:
    """A bar with the current point, its running estimate and the time left."""

    def __init__(self, quiet: bool) -> None:
        """Create the bar; `quiet` shows nothing, even on a terminal."""
        self._bars: Bars | None = None
        if not quiet:
            self._bars = _bars()
        self._task = self._bars.add_task("preparing", total=None, limit="") if self._bars else None

    def limit(self, words: str) -> None:
        """Show the time limit of the run."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, limit=words)

    def total(self, points: int) -> None:
        """Set how many points the run still has to measure."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, total=points, completed=0)

    def reached(self, points: int, total: int) -> None:
        """Show the progress of a run that another process measures."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, total=total, completed=points)

    def say(self, text: str) -> None:
        """Show what is currently happening."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, description=text)

    def point(self, title: str, point: Point, samples_s: Sequence[float]) -> None:
        """Advance by one measured point, with its samples in seconds."""
        if self._bars is not None and self._task is not None:
            point_text = f"{point.pattern} {format_size(point.size_bytes)} {point.axes}".rstrip()
            time = f" {format_time(median(samples_s))}" if samples_s else ""
            self._bars.update(self._task, advance=1, description=f"{title}  {point_text}{time}")

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()


def _bars() -> Bars | None:
    """Return the bars; None where standard error is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    terminal = Console(stderr=True, highlight=False)
    if not terminal.is_terminal:
        return None
    return RichProgress(
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[limit]}", markup=False),
        TextColumn("{task.description}", markup=False),
        console=terminal,
        transient=True,
        refresh_per_second=4,
    )

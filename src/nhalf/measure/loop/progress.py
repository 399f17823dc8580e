"""The progress bar of a run; nothing is shown without a terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any, Self

from nhalf.base.printable import PrintableSegments, say
from nhalf.base.units import format_size, format_time
from nhalf.measure.plan.budget import LONG_S, elapsed_in_words

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from nhalf.measure.plan.plan import Point

INTERVAL_S = 60.0
"""Without a terminal, a line says this often how much of the expected time is over."""


class Progress:
    """A bar with the current point, its running estimate and the time left."""

    def __init__(self, quiet: bool, announces: bool = False) -> None:
        """Create the bar; `quiet` shows nothing, even on a terminal.

        One that `announces` says how long what takes long will take, wherever it is shown.
        """
        self._bars: Bars | None = None
        self._announces = announces
        if not quiet:
            self._bars = _bars()
        fields: dict[str, Any] = {"limit": "", "began_s": 0.0, "expected_s": 0.0}
        self._task = self._bars.add_task("preparing", total=None, **fields) if self._bars else None

    def limit(self, words: str) -> None:
        """Show the time limit of the run."""
        self._update(limit=words)

    def total(self, points: int) -> None:
        """Set how many points the run still has to measure."""
        self._update(total=points, completed=0)

    def reached(self, points: int, total: int) -> None:
        """Show the progress of a run that another process measures."""
        self._update(total=total, completed=points)

    def say(self, text: str) -> None:
        """Show what is currently happening."""
        self._update(description=text)

    def tell(self, text: str) -> None:
        """Print a line about the time that something takes; '' prints none."""
        if not (self._announces and text):
            return
        if self._bars is not None:
            self._bars.console.print(f"nhalf: {text}", markup=False, soft_wrap=True)
        else:
            say(text)

    @contextmanager
    def waiting(self, text: str, expected_s: float) -> Iterator[None]:
        """Announce what takes long, then how much of the time is over, until the block ends."""
        if expected_s < LONG_S or not self._announces:
            yield
            return
        self.tell(text)
        began_s = time.monotonic()
        over = threading.Event()

        def report() -> None:
            while not over.wait(INTERVAL_S):
                self.tell(elapsed_in_words(time.monotonic() - began_s, expected_s))

        reporter = threading.Thread(target=report, daemon=True)
        self._update(began_s=began_s, expected_s=expected_s)
        if self._bars is None:
            reporter.start()
        try:
            yield
        finally:
            over.set()
            self._update(expected_s=0.0)

    def point(self, title: str, point: Point, samples_s: Sequence[float]) -> None:
        """Advance by one measured point, with its samples in seconds."""
        point_text = f"{point.pattern} {format_size(point.size_bytes)} {point.axes}".rstrip()
        time = f" {format_time(median(samples_s))}" if samples_s else ""
        self._update(advance=1, description=f"{title}  {point_text}{time}")

    def _update(self, **fields: Any) -> None:
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, **fields)

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()


def _bars() -> Bars | None:
    """Return the bars; None where standard error is not a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Elapsed(ProgressColumn):
        """How much of the expected time of a long launch is over."""

        def render(self, task: Task) -> Text:
            """Return '3 min of about 9 min', or nothing."""
            expected_s = task.fields["expected_s"]
            elapsed_s = time.monotonic() - task.fields["began_s"]
            return Text(elapsed_in_words(elapsed_s, expected_s) if expected_s else "")

    class Terminal(PrintableSegments, Console):
        """A console for names of any content."""

    terminal = Terminal(stderr=True, highlight=False)
    if not terminal.is_terminal:
        return None
    return RichProgress(
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[limit]}", markup=False),
        Elapsed(),
        TextColumn("{task.description}", markup=False),
        console=terminal,
        transient=True,
        refresh_per_second=4,
    )

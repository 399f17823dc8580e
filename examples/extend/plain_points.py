# SPDX-License-Identifier: Apache-2.0
"""Pattern, bytes and seconds, as a plotting program reads them."""

from __future__ import annotations

from typing import ClassVar

from nhalf.exchange.exporters import Exporter, the_run
from nhalf.machines.machine import Machine
from nhalf.statistics.summary import summarise
from nhalf.store.run import Run


class PlainPoints(Exporter):
    """A line per point."""

    what: ClassVar[str] = "pattern, bytes and seconds of every point, for plotting"

    def text(self, subject: Run | Machine | None) -> str:
        """The points of a run, in the order of the store."""
        run = the_run(subject, "plain-points")
        points = summarise(run.measurements()).select("pattern", "bytes", "median_s")
        return "".join(f"{name} {size} {time_s:g}\n" for name, size, time_s in points.iter_rows())

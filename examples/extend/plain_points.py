# SPDX-License-Identifier: Apache-2.0
"""Pattern, bytes and seconds, as a plotting program reads them."""

from __future__ import annotations

from typing import ClassVar

from nhalf.exchange.exporters import Exporter, Subject, the_facts


class PlainPoints(Exporter):
    """A line per point."""

    description: ClassVar[str] = "pattern, bytes and seconds of every point, for plotting"

    def text(self, subject: Subject) -> str:
        """The points of a run, in the order of the store."""
        facts = the_facts(subject, "plain-points")
        points = facts.summary.select("pattern", "bytes", "median_s")
        return "".join(f"{name} {size} {time_s:g}\n" for name, size, time_s in points.iter_rows())

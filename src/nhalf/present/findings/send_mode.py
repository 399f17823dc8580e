# SPDX-License-Identifier: Apache-2.0
"""One finding per send mode that costs or saves, the worst library first."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.facts.contests import CLASSES, beyond
from nhalf.facts.facts import Facts
from nhalf.facts.modes import mode_name, mode_ratios
from nhalf.facts.series import with_series
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import COSTLY, between, times, weight
from nhalf.statistics.intervals import Interval


class SendMode(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        ratios = with_series(mode_ratios(data), data)
        for (pattern,), frame in ratios.group_by("pattern", maintain_order=True):
            costs: list[tuple[str, str, str, Interval]] = []
            for (series, mpi), of_series in frame.group_by("series", "mpi", maintain_order=True):
                worst = _worst_class(of_series)
                if worst is not None:
                    costs.append((str(series), str(mpi), *worst))
            costs.sort(key=lambda item: -item[3].median)
            if costs:
                yield _mode(str(pattern), costs)


def _worst_class(frame: pl.DataFrame) -> tuple[str, Interval] | None:
    """The size class in which a mode costs most, where that is beyond doubt."""
    found: list[tuple[str, Interval]] = []
    for name, low, high in CLASSES:
        middles = (
            frame.filter(pl.col("bytes").is_between(low, high))
            .group_by("launch")
            .agg(pl.col("ratio").median())
        )
        interval = beyond(middles["ratio"].to_list(), COSTLY)
        if interval is not None:
            found.append((name, interval))
    return max(found, key=lambda item: item[1].median) if found else None


def _mode(pattern: str, costs: list[tuple[str, str, str, Interval]]) -> Finding:
    series, mpi, size_class, interval = costs[0]
    also = ", ".join(f"{name} ({times(cost.median)}, {kind})" for name, _, kind, cost in costs[1:])
    mode = mode_name(pattern)
    if pattern.endswith("-diffbuf"):
        what, remedy = "Changing the buffer costs", "Reuse one buffer: that is the standard case."
    else:
        what = f"A {mode} send costs" if "(" in mode else f"{mode} costs"
        remedy = "Use the standard send where the program allows it."
    return Finding(
        f"{what} {times(interval.median)} the standard send for {size_class} messages on {series} "
        f"({between(interval)})" + (f"; also {also}." if also else "."),
        importance=weight(interval.median, 40, 60),
        kind="send-mode",
        label="Send mode",
        remedy=remedy,
        value=interval.median,
        low=interval.low,
        high=interval.high,
        mpi=mpi,
        pattern=pattern,
    )

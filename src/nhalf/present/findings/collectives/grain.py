# SPDX-License-Identifier: Apache-2.0
"""The grain of work below which a barrier matters."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.grain import MATTERS, PATTERN, WorkGrain, crossings
from nhalf.present.findings import Finder, Finding
from nhalf.statistics.intervals import Interval


class Grain(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, crossings(facts))


def _finding(crossing: WorkGrain) -> Finding:
    alternative = ""
    if crossing.faster_s:
        alternative = f" With {crossing.algorithm} that is {_time(crossing.faster_s)}."
    return Finding(
        f"{crossing.series}: barriers take more than {percent(MATTERS)} of the time of "
        f"{crossing.ranks} ranks where there is less than {_time(crossing.grain_s)} of work "
        f"between them; beyond, a faster barrier gains less than that.{alternative}",
        importance=46,
        kind="grain",
        label="Work between barriers",
        figure=format_time(crossing.grain_s.median),
        interval=crossing.grain_s,
        mpi=crossing.mpi,
        pattern=PATTERN,
    )


def _time(interval: Interval) -> str:
    ends = f"{format_time(interval.low)} to {format_time(interval.high)}"
    return f"{format_time(interval.median)} (interval {ends})"

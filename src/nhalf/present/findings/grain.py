# SPDX-License-Identifier: Apache-2.0
"""The grain of work below which a barrier matters."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.grain import MATTERS, PATTERN, Crossing, crossings
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import percent
from nhalf.statistics.intervals import Interval


class Grain(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, crossings(facts))


def _finding(one: Crossing) -> Finding:
    other = ""
    if one.faster_s:
        other = f" With {one.algorithm} that is {_time(one.faster_s)}."
    return Finding(
        f"{one.series}: barriers take more than {percent(MATTERS)} of the time of {one.ranks} "
        f"ranks where there is less than {_time(one.grain_s)} of work between them; beyond, "
        f"a faster barrier gains less than that.{other}",
        importance=46,
        kind="grain",
        label="Work between barriers",
        figure=format_time(one.grain_s.median),
        value=one.grain_s.median,
        low=one.grain_s.low,
        high=one.grain_s.high,
        mpi=one.mpi,
        pattern=PATTERN,
    )


def _time(interval: Interval) -> str:
    ends = f"{format_time(interval.low)} to {format_time(interval.high)}"
    return f"{format_time(interval.median)} (interval {ends})"

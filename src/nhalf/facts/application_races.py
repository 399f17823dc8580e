# SPDX-License-Identifier: Apache-2.0
"""Applications compared launch by launch: libraries, programs, shapes and replaced parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from nhalf.facts.applications import application_launches
from nhalf.facts.difference import FASTER
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.measure.plan.setting import JOINT
from nhalf.statistics.intervals import Interval, ratio_interval

OWN = "as it is"
"""The name of a run without a replaced part."""


@dataclass(frozen=True)
class Race:
    """Two contestants with the same kernels in the same launches: first's time over second's.

    `place` holds what they have in common besides the kernels, value by column.
    """

    first: str
    second: str
    place: dict[str, object]
    ratios: dict[str, Interval]

    @property
    def reversed(self) -> Race:
        """The race with first and second exchanged."""
        inverse = {
            kernel: Interval(1 / ratio.median, 1 / ratio.high, 1 / ratio.low)
            for kernel, ratio in self.ratios.items()
        }
        return Race(self.second, self.first, self.place, inverse)

    def wins(self) -> dict[str, Interval]:
        """The kernels in which the second is significantly faster, the largest ratio first."""
        faster_kernels = {name: ratio for name, ratio in self.ratios.items() if ratio.low > FASTER}
        return dict(sorted(faster_kernels.items(), key=lambda item: -item[1].median))


@fact
def series_races(facts: Facts) -> Iterator[Race]:
    """Libraries and programming models with equal numbers of ranks or threads in the same place."""
    launches = application_launches(facts).filter(setting="")
    yield from _races(launches, "series", ("run", "workers", "placement"))


@fact
def shape_races(facts: Facts) -> Iterator[Race]:
    """Placements of one library with equal numbers of ranks."""
    yield from _races(application_launches(facts), "placement", ("run", "series", "workers"))


@fact
def part_races(facts: Facts) -> Iterator[Race]:
    """A library unchanged and with a replaced part: the second is the part."""
    launches = application_launches(facts).with_columns(
        library=pl.col("mpi").str.split(JOINT).list.first(),
        setting=pl.when(setting="").then(pl.lit(OWN)).otherwise("setting"),
    )
    for race in _races(launches, "setting", ("run", "library", "workers", "placement")):
        if OWN in (race.first, race.second):
            yield race if race.first == OWN else race.reversed


@fact
def growth(facts: Facts) -> Iterator[Race]:
    """Speed-ups: the time on the fewest ranks or threads over that on the most, by kernel.

    They are not scaled: for 4 ranks against 2, the ideal is 2.
    """
    launches = application_launches(facts).filter(setting="")
    for (run, series), frame in launches.group_by("run", "series", maintain_order=True):
        ratio_by_case = {}
        for (kernel,), rows in frame.group_by("kernel", maintain_order=True):
            few, many = rows["workers"].min(), rows["workers"].max()
            if few != many:
                ratio_by_case[few, many, str(kernel)] = _ratio(rows, "workers", few, many)
        for few, many in sorted({key[:2] for key in ratio_by_case}):
            ratios = {
                kernel: ratio
                for (*ends, kernel), ratio in ratio_by_case.items()
                if ends == [few, many] and ratio
            }
            if ratios:
                yield Race(str(few), str(many), {"run": run, "series": series}, ratios)


def _races(launches: pl.DataFrame, entrant: str, place: Sequence[str]) -> Iterator[Race]:
    """Every two values of a column that ran something in the same place."""
    for values, frame in launches.group_by(place, maintain_order=True):
        where = dict(zip(place, values, strict=True))
        for first, second in combinations(sorted(frame[entrant].unique().to_list()), 2):
            ratios = {}
            for (kernel,), rows in frame.group_by("kernel", maintain_order=True):
                ratio = _ratio(rows, entrant, first, second)
                if ratio:
                    ratios[str(kernel)] = ratio
            if ratios:
                yield Race(str(first), str(second), where, ratios)


def _ratio(rows: pl.DataFrame, column: str, first: object, second: object) -> Interval | None:
    """The time with the first value over that with the second; None for less than two launches."""
    times = [
        rows.filter(pl.col(column) == value).group_by("launch").agg(pl.col("median_s").median())
        for value in (first, second)
    ]
    paired = times[0].join(times[1], on="launch", suffix="_other").sort("launch")
    if paired.height < 2:
        return None
    return ratio_interval((paired["median_s"] / paired["median_s_other"]).to_list())

"""Application runs: rate, speed-up, efficiency and verification, and races launch by launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.rows import Row
from nhalf.facts.contests import with_cores
from nhalf.facts.difference import FASTER
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.measure.apps.sdes import ACCESSES, KEYS_USUAL, SDES
from nhalf.measure.plan.plan import JOINT, split_name
from nhalf.mpi.transport_files import HYBRID
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.store.keys import parse_axes

CLASS = "class"
ACCESS = "access"
KEYS = "keys"
"""Axes of S-DES: how it reads its arrays, which others call a kernel, and its size."""
THREADS, BARRIERS = "threads", "barriers"
"""Axes of programs whose ranks have threads, and of kernels that may have barriers."""
WITH = "+"
"""Joins a kernel and what it does besides: mg+barriers."""
KEPT = ("run", "mpi", "placement", "ci_low_s", "ci_high_s", "launches", "verified")
NUMBERS = ("mops", "communication_share", "deviation", "computed", "official")
CURVE = ("run", "app", "kernel", CLASS, "program", "mpi")
"""Rows that differ only in ranks and placement."""
NAMED = ("program", "kernel", "series", "setting")
"""The columns of application launches besides those of points."""


@fact
def applications(facts: Facts) -> list[Row]:
    """A row for every kernel, class, program, library, number of ranks and placement.

    Times are seconds, with the ends of the 95 % interval. `speedup` is against the smallest number
    of ranks or threads, assumed to scale perfectly up to there; `efficiency` is the speed-up per
    rank; `speedup_base` is that smallest number. All three are None if only one number, other than
    1, was measured. `computed` and `official` are the verification value that deviates most.
    `series` is the library, or the programming model if no library carries messages.
    """
    programs = _programs(facts)
    rows = [
        _row(point, programs[point["transport"]], facts.titles)
        for point in facts.summary.iter_rows(named=True)
        if point["transport"] in programs
    ]
    rows.sort(key=lambda row: (*(str(row[name]) for name in CURVE), row["ranks"] * row["threads"]))
    for _, group in groupby(rows, key=itemgetter(*CURVE)):
        curve = list(group)
        for row in curve:
            _add_speedup(row, curve[0], _workers(curve[-1]))
    return rows


@fact
def application_launches(facts: Facts) -> pl.DataFrame:
    """One row for every application point and launch in which ranks had their own cores.

    Columns run, program, kernel (cg.A), series, mpi, setting ('' without one), workers (ranks or
    threads), placement, launch and `median_s`.
    """
    programs = _programs(facts)
    own = pl.col("transport").is_in(list(programs)) & (pl.col("median_s") > 0)
    points = with_cores(facts.launches.filter(own), facts)
    descriptions = [
        {
            "program": programs[row["transport"]]["model"].lower(),
            "kernel": kernel_of(row),
            "series": series_of(row, programs[row["transport"]], facts.titles),
            "setting": split_name(row["mpi"] or "")[1],
            "workers": row["ranks"] * _team(row),
        }
        for row in points.iter_rows(named=True)
    ]
    schema = {**dict.fromkeys(NAMED, pl.String), "workers": pl.Int64}
    names = pl.DataFrame(descriptions, schema=schema)
    named_points = pl.concat([points, names], how="horizontal")
    return named_points.select("run", *NAMED, "mpi", "workers", "placement", "launch", "median_s")


def kernel_of(point: Mapping[str, Any]) -> str:
    """A kernel with its class, in the usual notation: cg.A."""
    return ".".join(_kernel_and_class(point))


def pattern_of(kernel: str) -> str:
    """The pattern of a kernel in the usual notation: npb-cg of cg.A."""
    name = kernel.partition(".")[0].partition(WITH)[0]
    return SDES if name in ACCESSES else f"npb-{name}"


def _kernel_and_class(point: Mapping[str, Any]) -> tuple[str, str]:
    """What a point computes, and its size: a class, or a number of keys."""
    axes = parse_axes(point["axes"])
    if CLASS in axes:
        kernel = point["pattern"].partition("-")[2]
        return (f"{kernel}{WITH}barriers" if BARRIERS in axes else kernel), axes[CLASS]
    return axes.get(ACCESS, point["pattern"]), axes.get(KEYS, KEYS_USUAL)


def series_of(
    point: Mapping[str, Any], program: Mapping[str, Any], titles: Mapping[str, str]
) -> str:
    """The library that carries messages, or the programming model if none does.

    Where each rank has threads these are named as well.
    """
    if not point["mpi"]:
        return str(program["model"])
    key = carrier(point["mpi"], point["transport"])
    title = titles.get(key) or titles.get(point["mpi"], point["mpi"])
    return f"{title}, ranks of {_team(point)}" if program["model"] == HYBRID else title


@fact
def _programs(facts: Facts) -> dict[str, Mapping[str, Any]]:
    """The description of each program, by its transport, as stored in the runs."""
    programs: dict[str, Mapping[str, Any]] = {}
    for environment in facts.environments.values():
        programs.update(environment.get("programs", {}))
    return programs


def _row(point: Mapping[str, Any], program: Mapping[str, Any], titles: Mapping[str, str]) -> Row:
    values = {item["name"]: item["value"] for item in point["values"] or []}
    threads = point["ranks"] if program["threads"] else _team(point)
    ranks = 1 if program["threads"] else point["ranks"]
    kernel, problem_class = _kernel_and_class(point)
    return {
        "app": program["app"],
        "kernel": kernel,
        CLASS: problem_class,
        "program": program["model"].lower(),
        "series": series_of(point, program, titles),
        "ranks": ranks,
        "threads": threads,
        "time_s": point["median_s"],
        **{name: point[name] for name in KEPT},
        **{name: values.get(name) for name in NUMBERS},
    }


def _team(point: Mapping[str, Any]) -> int:
    return int(parse_axes(point["axes"]).get(THREADS, 1))


def _workers(row: Row) -> int:
    """Count the ranks or threads that compute."""
    return int(row["ranks"] * row["threads"])


def _add_speedup(row: Row, first: Row, most: int) -> None:
    """Relative to the smallest number of workers of the same curve, whose largest is `most`."""
    first_workers = _workers(first)
    is_timed = row["time_s"] and first["time_s"]
    has_speedup = is_timed and (first_workers == 1 or most > first_workers)
    row["speedup"] = first["time_s"] / row["time_s"] * first_workers if has_speedup else None
    row["efficiency"] = row["speedup"] / _workers(row) if has_speedup else None
    row["speedup_base"] = first_workers if has_speedup else None


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

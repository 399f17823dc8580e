"""One point of a core as derivations use it: its pattern, size and axes, and its cycles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.store.keys import parse_axes

TRANSPORT = "node"
CHASE, LOAD, STORE, UNIT = "node-chase", "node-load", "node-store", "node-unit"
CONFLICTS = "node-conflicts"
SWEEP_STRIDES = (8, 64, 256)
"""Bytes between accesses of a sweep: several per line, one per line, and one per four lines."""
PATTERNS = (CHASE, LOAD, STORE, UNIT, CONFLICTS)
FORMER_ALONE_SHARE = 8 / 240
"""Share of undisturbed samples below which all count, where the probe does not say it."""


@dataclass(frozen=True)
class Reading:
    """One point in one launch.

    `low_s` is the lower quartile of its samples in seconds: a neighbour only adds to a sample, and
    seldom disturbs all of them. `cycle_s` is the duration of a core cycle during the point.
    """

    pattern: str
    size_bytes: int
    axes: tuple[tuple[str, str], ...]
    launch: int
    low_s: float
    cycle_s: float
    values: tuple[tuple[str, Any], ...] = ()

    @property
    def cycles(self) -> float:
        """Cycles of one operation: the lower quartile over samples."""
        cycles_p25 = self.value("cycles_p25")
        return self.low_s / self.cycle_s if cycles_p25 is None else cycles_p25

    @property
    def least_cycles(self) -> float:
        """Cycles of one operation in the least disturbed tenth of the samples."""
        cycles_p10 = self.value("cycles_p10")
        return self.cycles if cycles_p10 is None else cycles_p10

    def value(self, name: str) -> float | None:
        """A named value of the point; None if it has none."""
        return next((float(value) for key, value in self.values if key == name), None)

    def axis(self, name: str, usual: int = 0) -> int:
        """The value of an axis, which is left out if it is the usual one."""
        return int(next((text for key, text in self.axes if key == name), usual))

    @property
    def stride_bytes(self) -> int:
        """The distance between neighbouring nodes of a chase or accesses of a sweep."""
        return self.axis("stride", 64)

    @property
    def was_alone(self) -> bool:
        """Whether enough samples were taken while nobody else had the core."""
        was_alone = self.value("was_alone")
        if was_alone is not None:
            return was_alone > 0
        share = self.value("alone_share")
        return share is None or share >= FORMER_ALONE_SHARE

    @property
    def is_huge(self) -> bool:
        """Whether the point requested huge pages."""
        return ("huge", "no") not in self.axes

    @property
    def is_plain(self) -> bool:
        """Whether nodes lie at equal distances, without shift or skew."""
        return not self.axis("shift") and not self.axis("skew")


def subject_of(run: str) -> Row:
    """The columns with which every row about a core of a run begins."""
    return {"run": run, "transport": TRANSPORT, "mpi": "", "ranks": 1, "placement": "cores"}


def readings(measurements: pl.LazyFrame) -> dict[str, list[Reading]]:
    """The points of cores in measurements (store/keys.py), by run, in the order of measuring."""
    columns = ["run", "pattern", "bytes", "axes", "launch", "samples_s", "values"]
    frame = measurements.filter(
        pl.col("transport") == TRANSPORT, pl.col("pattern").is_in(PATTERNS), pl.col("verified")
    ).select(columns)
    readings_by_run: dict[str, list[Reading]] = {}
    for row in frame.collect().iter_rows(named=True):
        values = {value["name"]: value["value"] for value in row["values"]}
        axes = parse_axes(row["axes"])
        point = reading(row["pattern"], row["bytes"], axes, row["launch"], row["samples_s"], values)
        readings_by_run.setdefault(row["run"], []).append(point)
    return readings_by_run


def reading(
    pattern: str,
    size_bytes: int,
    axes: Mapping[str, str],
    launch: int,
    samples_s: list[float],
    values: Mapping[str, float | None],
) -> Reading:
    """A point from its samples in seconds and the values that the probe reported with it."""
    ordered = sorted(samples_s)
    low_s = ordered[round(0.25 * (len(ordered) - 1))]
    known_values = tuple(
        (name, value) for name, value in sorted(values.items()) if value is not None
    )
    cycle_s = dict(known_values).get("cycle_s", 1e-9)
    return Reading(
        pattern, size_bytes, tuple(sorted(axes.items())), launch, low_s, cycle_s, known_values
    )


BUSY_SHARE = 0.1
"""From this share of all points on there is a warning."""
REMEDY = "measure again on a node where nothing else runs"


def preempted_share(readings: Sequence[Reading]) -> float:
    """The share of points during which another program had the core; 0 without points."""
    preempted = sum((reading.value("preempted") or 0) > 0 for reading in readings)
    return preempted / max(1, len(readings))


def warnings(readings: Sequence[Reading]) -> list[str]:
    """Warnings about disturbed points, in sentences."""
    share = preempted_share(readings)
    if share < BUSY_SHARE:
        return []
    return [f"other programs had the core during {percent(share)} of all points; {REMEDY}"]

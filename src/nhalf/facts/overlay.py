"""Curves drawn behind a run's: those of another run, or of a machine."""

import math

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.operations import NATIVE
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts, Overlay
from nhalf.facts.series import with_series
from nhalf.machines.machine import Machine
from nhalf.machines.timings import PatternTiming, timings

ALIKE = ("pattern", "algorithm", "ranks", "axes")
"""What a curve and its overlay have in common."""
COLUMNS = ("series", "pattern", "bytes", "median_s", "rate_Bps")


def of_run(facts: Facts, overlaid: Facts, name: str) -> Overlay:
    """The curves of another run with the same patterns and numbers of ranks.

    Raises InputError if there is none.
    """
    points = with_series(overlaid.sound, overlaid).join(facts.sound, on=ALIKE, how="semi")
    return _checked(name, points)


def of_machine(facts: Facts, machine: Machine, mpi: str = "") -> Overlay:
    """A machine's predictions for the patterns, sizes and numbers of ranks of a run.

    Raises InputError if there are none, or if it has several libraries and none is named.
    """
    requested = facts.sound.unique([*ALIKE, "bytes"], maintain_order=True)
    rows = [
        _row(machine, timing, point)
        for timing in timings(machine, mpi)
        for point in requested.filter(*_as(timing)).iter_rows(named=True)
        if math.isfinite(timing.time_s(point["bytes"], point["ranks"]))
    ]
    schema = {name: kind for name, kind in facts.sound.schema.items() if name in COLUMNS}
    return _checked(machine.name, pl.DataFrame(rows, {"series": pl.String, **schema}))


def _as(timing: PatternTiming) -> list[pl.Expr]:
    """The conditions under which a timing applies to a point."""
    algorithm = pl.col("algorithm").fill_null("").replace("", NATIVE)
    return [
        pl.col("pattern") == timing.pattern,
        algorithm == timing.algorithm,
        pl.col("axes") == timing.axes,
    ]


def _row(machine: Machine, timing: PatternTiming, point: Row) -> Row:
    time_s = timing.time_s(point["bytes"], point["ranks"])
    moved = point["bytes_per_time"]
    return {
        "series": ", ".join(filter(None, (machine.name, timing.where))),
        "pattern": timing.pattern,
        "bytes": point["bytes"],
        "median_s": time_s,
        "rate_Bps": moved / time_s if moved else None,
    }


def _checked(name: str, points: pl.DataFrame) -> Overlay:
    if points.is_empty():
        message = f"{name} has no curve of a pattern and number of ranks of this run"
        raise InputError(message, "see what both have: nhalf show")
    return Overlay(name, points.select(COLUMNS).sort("series", "pattern", "bytes"))

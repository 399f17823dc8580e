# SPDX-License-Identifier: Apache-2.0
"""The curves of the data, their names, and the points that can be shown.

A series is a library under its title, with whatever else distinguishes the curves of the data.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.operations import COLLECTIVES, NATIVE, OVERLAPPING
from nhalf.base.rows import Row
from nhalf.facts.basis import Basis
from nhalf.machines.machine import FittedModel
from nhalf.store.keys import RUN_CURVE, RUN_SUBJECT

MAIN_PATTERN = "pingpong"


def library_label(basis: Basis, transport: str, mpi: str) -> str:
    """The name of a library in the report, with the transport unless it is messages.

    Transports without MPI have their own name.
    """
    key = carrier(mpi, transport)
    if not mpi or key in basis.titles:
        return basis.titles.get(key, key)
    title = basis.titles.get(mpi, mpi)
    return title if key == mpi else f"{title}, {transport}"


def with_series(frame: pl.DataFrame, basis: Basis, on_axis: Collection[str] = ()) -> pl.DataFrame:
    """Adds `series`: the library's title and whatever else distinguishes the curves of this data.

    Columns in `on_axis`, which vary along a curve, are excluded, as are the further axes of a
    pattern: if they vary, its panel shows them.
    """
    varying = [
        name
        for name in ("algorithm", "ranks", "placement", "run")
        if name not in on_axis and basis.summary[name].n_unique() > 1
    ]

    def label(row: Row) -> str:
        extras = [_extra(name, row[name]) for name in varying]
        return ", ".join(
            [library_label(basis, row["transport"], row["mpi"]), *filter(None, extras)]
        )

    columns = ["transport", "mpi", *varying]
    labels = [label(row) for row in frame.select(columns).iter_rows(named=True)]
    return frame.with_columns(pl.Series("series", labels, dtype=pl.String))


def _extra(name: str, value: object) -> str:
    if name == "algorithm" and value == NATIVE:
        return ""
    if name == "ranks":
        return "1 rank" if value == 1 else f"{value} ranks"
    return str(value)


def series_names(basis: Basis) -> list[str]:
    """Every series of the data, sorted: the order that fixes each library's colour.

    Those of algorithms other than the library's own come last, as few panels have them.
    """
    labelled = with_series(basis.summary, basis)
    chosen = ~pl.col("algorithm").fill_null("").is_in([NATIVE, ""])
    return (
        labelled.group_by("series")
        .agg(chosen.all())
        .sort("algorithm", "series")["series"]
        .to_list()
    )


def with_names(rows: Sequence[Row], basis: Basis) -> list[Row]:
    """The rows of a derived result, each with `series`."""
    if not rows:
        return []
    subjects = pl.DataFrame([{name: row[name] for name in RUN_SUBJECT} for row in rows])
    subjects = subjects.with_columns(algorithm=pl.lit(""), axes=pl.lit(""))
    labels = with_series(subjects, basis)["series"].to_list()
    return [{**row, "series": label} for row, label in zip(rows, labels, strict=True)]


def full_name(row: Row) -> str:
    """A point's pattern with its further axes: 'distance, first=0, second=3'."""
    return ", ".join([row["pattern"], *filter(None, row["axes"].split(","))])


def plain(frame: pl.DataFrame, basis: Basis) -> pl.DataFrame:
    """The rows that form curves over the size: messages between two ranks, without further axes.

    Points of many ranks at once, of collective operations, or of parts of derived results are
    excluded: they have their own panels. Points with times from more than one rank are not between
    two ranks, for which only rank 0 reports times.
    """
    points = basis.whole.filter(~pl.col("pattern").is_in([*COLLECTIVES, *OVERLAPPING]))
    timed_by_one = pl.col("rank_s").list.len().fill_null(0).max() == 0
    plain_patterns = points.group_by("pattern").agg(timed_by_one.alias("plain")).filter("plain")
    return frame.filter(
        pl.col("pattern").is_in(plain_patterns["pattern"].to_list()) & (pl.col("axes") == "")
    )


def describes(model: FittedModel, point: Row) -> bool:
    """Whether a fitted model belongs to the curve of a point."""
    return all(getattr(model, name) == point[name] for name in RUN_CURVE)

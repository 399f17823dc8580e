"""The curves of the data, their names, and the points that can be shown.

A series is a library under its title, with whatever else distinguishes the curves of the data.
"""

from collections.abc import Collection, Sequence

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.listing import ranks_text
from nhalf.base.operations import COLLECTIVES, NATIVE, OVERLAPPING
from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.machines.machine import FittedModel
from nhalf.store.keys import RUN_CURVE, RUN_SUBJECT

MAIN_PATTERN = "pingpong"


@fact
def library_label(facts: Facts, transport: str, mpi: str) -> str:
    """The name of a library in the report, with the transport unless it is messages.

    Transports without MPI have their own name.
    """
    key = carrier(mpi, transport)
    if not mpi or key in facts.titles:
        return facts.titles.get(key, key)
    title = facts.titles.get(mpi, mpi)
    return title if key == mpi else f"{title}, {transport}"


def with_series(frame: pl.DataFrame, facts: Facts, on_axis: Collection[str] = ()) -> pl.DataFrame:
    """Adds `series`: the library's title and whatever else distinguishes the curves of this data.

    Columns in `on_axis`, which vary along a curve, are excluded, as are the further axes of a
    pattern: if they vary, its panel shows them.
    """
    varying = [name for name in varying_columns(facts) if name not in on_axis]

    def label(row: Row) -> str:
        extras = [_extra(name, row[name]) for name in varying]
        return ", ".join(
            [library_label(facts, row["transport"], row["mpi"]), *filter(None, extras)]
        )

    columns = ["transport", "mpi", *varying]
    labels = [label(row) for row in frame.select(columns).iter_rows(named=True)]
    return frame.with_columns(pl.Series("series", labels, dtype=pl.String))


@fact
def varying_columns(facts: Facts) -> list[str]:
    """The columns that distinguish curves of the data besides library and axes."""
    columns = ("algorithm", "ranks", "placement", "run")
    return [name for name in columns if facts.summary[name].n_unique() > 1]


@fact
def labelled_points(facts: Facts) -> pl.DataFrame:
    """The rows of `Facts.sound`, each with `series`."""
    return with_series(facts.sound, facts)


def _extra(name: str, value: object) -> str:
    if name == "algorithm" and value == NATIVE:
        return ""
    return ranks_text(value) if name == "ranks" else str(value)


@fact
def series_names(facts: Facts) -> list[str]:
    """Every series of the data, sorted: the order that fixes each library's colour.

    Those of algorithms other than the library's own come last, as few panels have them.
    """
    labelled = with_series(facts.summary, facts)
    chosen = ~pl.col("algorithm").fill_null("").is_in([NATIVE, ""])
    return (
        labelled.group_by("series")
        .agg(chosen.all())
        .sort("algorithm", "series")["series"]
        .to_list()
    )


def with_names(rows: Sequence[Row], facts: Facts) -> list[Row]:
    """The rows of a derived result, each with `series`."""
    if not rows:
        return []
    subjects = pl.DataFrame([{name: row[name] for name in RUN_SUBJECT} for row in rows])
    subjects = subjects.with_columns(algorithm=pl.lit(""), axes=pl.lit(""))
    labels = with_series(subjects, facts)["series"].to_list()
    return [{**row, "series": label} for row, label in zip(rows, labels, strict=True)]


def full_name(row: Row) -> str:
    """A point's pattern with its further axes: 'distance, first=0, second=3'."""
    return ", ".join([row["pattern"], *filter(None, row["axes"].split(","))])


def plain(frame: pl.DataFrame, facts: Facts) -> pl.DataFrame:
    """The rows that form curves over the size: messages between two ranks, without further axes.

    Points of many ranks at once, of collective operations, or of parts of derived results are
    excluded: they have their own panels. Points with times from more than one rank are not between
    two ranks, for which only rank 0 reports times.
    """
    return frame.filter(pl.col("pattern").is_in(plain_patterns(facts)) & (pl.col("axes") == ""))


@fact
def plain_patterns(facts: Facts) -> list[str]:
    """The patterns of messages between two ranks whose times only rank 0 reports."""
    points = facts.whole.filter(~pl.col("pattern").is_in([*COLLECTIVES, *OVERLAPPING]))
    timed_by_one = pl.col("rank_s").list.len().fill_null(0).max() == 0
    patterns = points.group_by("pattern", maintain_order=True).agg(plain=timed_by_one)
    return patterns.filter("plain")["pattern"].to_list()


@fact
def plain_points(facts: Facts) -> pl.DataFrame:
    """The rows of `labelled_points` that form curves over the size (`plain`)."""
    return plain(labelled_points(facts), facts)


def describes(model: FittedModel, point: Row) -> bool:
    """Whether a fitted model belongs to the curve of a point."""
    return all(getattr(model, name) == point[name] for name in RUN_CURVE)


@fact
def logp_rows(facts: Facts) -> list[Row]:
    """The rows of the result `logp`, each with `series`."""
    return with_names(facts.results.get("logp", []), facts)

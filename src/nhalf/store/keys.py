"""The keys of the tables: the columns that group points, with one name per meaning.

Keys that begin with RUN_ identify the same things across several runs.
"""

import re
from collections.abc import Iterable, Mapping

import polars as pl

from nhalf.base.errors import InputError
from nhalf.store.record import VALUES, PointIdentity, Record, columns

VERSION = 2
"""Version of the run directory: raised when an older reader would misread a newer file."""

READ_VERSIONS = (1, 2)
"""Version 1 has no further axes: columns that it lacks are filled in (record.py, ADDED)."""

POINT_COLUMNS = columns(PointIdentity)
"""The columns that identify a point within a run."""

MEASUREMENT_COLUMNS: dict[str, pl.DataType] = {"run": pl.String(), **columns(Record)}
"""One row per visit of a launch to a point: a `Record` and the name of its run."""

LAUNCH_COLUMNS: dict[str, pl.DataType] = {
    "run": pl.String(),
    **POINT_COLUMNS,
    "launch": MEASUREMENT_COLUMNS["launch"],
    "median_s": pl.Float64(),
    "lowest_s": pl.Float64(),
    "samples": pl.Int64(),
}
"""One row per point and launch (statistics/summary.py): the median of its samples, the fastest of
them, and their number."""

FLAGGED_COLUMNS: dict[str, pl.DataType] = {
    **LAUNCH_COLUMNS,
    "flag_s": pl.Float64(),
    "gpu_clock_hz": pl.Float64(),
}
"""A launch with the time of a flag between two cores and the clock of the GPU: null if missed or
without a GPU, NaN if it changed."""


def conformed(frame: pl.DataFrame, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The frame with these columns, in their order and of their types.

    Frames are conformed where they are made, so that they can be stacked. A column that is missing
    is a defect of the program: polars raises ColumnNotFoundError.
    """
    return frame.select(pl.col(name).cast(kind) for name, kind in columns.items())


SUMMARY_COLUMNS: dict[str, pl.DataType] = {
    "run": pl.String(),
    **POINT_COLUMNS,
    "median_s": pl.Float64(),
    "ci_low_s": pl.Float64(),
    "ci_high_s": pl.Float64(),
    "state_s": pl.Float64(),
    "state_share": pl.Float64(),
    "lowest_s": pl.Float64(),
    "launches": pl.Int32(),
    "samples": pl.Int64(),
    "bytes_per_time": pl.Int64(),
    "verified": pl.Boolean(),
    "advice": pl.List(pl.String()),
    "rank_s": pl.List(pl.Float64()),
    "values": VALUES,
}
"""One row per point of one run, as reported. `median_s` is the pseudomedian of the launch
medians (statistics/intervals.py); the interval is for the next run. Both cover the launches in
one state of the machine, a share `state_share` of all; `state_s` is the time of a flag between
two cores in that state, null if not measured (statistics/advice.py). `rank_s` holds each rank's
median over launches, `values` the median for each name. Derived from the measurements, never
stored."""


NAME = re.compile(r"[A-Za-z]\w*")
VALUE = re.compile(r"[\w.-]+")


def axis(name: str) -> pl.Expr:
    """The value of one axis as text, from the column `axes`; null for points without it."""
    return pl.col("axes").str.extract(rf"(?:^|,){re.escape(name)}=([^,]*)", 1).alias(name)


def parse_axes(text: str) -> dict[str, str]:
    """Values of axes by name; raises InputError if the text does not have the column's format."""
    if not text:
        return {}
    pairs = [part.partition("=") for part in text.split(",")]
    values = {name: value for name, _, value in pairs}
    if len(values) < len(pairs) or axes_text(values) != text:
        raise InputError(f"{text!r} are no axes", "they are name=value,name=value by name")
    return values


def axes_text(values: Mapping[str, str]) -> str:
    """The text for the column; raises InputError for a name or value that it cannot hold."""
    for name, value in values.items():
        if not (NAME.fullmatch(name) and VALUE.fullmatch(value)):
            message = f"axis {name}={value} cannot be written"
            raise InputError(message, "a name is letters, digits and _, a value those and . and -")
    return ",".join(f"{name}={values[name]}" for name in sorted(values))


def value(name: str) -> pl.Expr:
    """The scalar of a point with this name, in the column `values`; null for points without it."""
    item = pl.element()
    matching = pl.col("values").list.eval(
        item.filter(item.struct.field("name") == name).struct.field("value")
    )
    return matching.list.first().alias(name)


Key = tuple[str, ...]


def without(key: Iterable[str], *names: str) -> Key:
    """A key without `names`: rows that differ only in them share it."""
    return tuple(name for name in key if name not in names)


POINT: Key = tuple(POINT_COLUMNS)
"""One point of a run."""
CURVE = without(POINT, "bytes")
"""Points that differ only in size."""
PATTERN = without(CURVE, "ranks", "placement")
"""Points that differ only in size, number of ranks and placement."""
SUBJECT: Key = ("transport", "mpi", "ranks", "placement")
"""The subject of a derived result: the library, the number of ranks and the placement."""

RUN_POINT: Key = ("run", *POINT)
RUN_CURVE: Key = ("run", *CURVE)
RUN_SUBJECT: Key = ("run", *SUBJECT)

COMPARED_POINT = without(POINT, "mpi")
"""Points that are compared with each other: their libraries may differ."""
COMPARED_CURVE = without(CURVE, "mpi")

VARIED_POINT = without(RUN_POINT, "axes")
"""Points that differ only in the further axes of their pattern."""

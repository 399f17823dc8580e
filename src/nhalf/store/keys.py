"""The keys of the tables: the columns that group points, with one name per meaning.

Keys that begin with RUN_ identify the same things across several runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import polars as pl

from nhalf.base.errors import InputError
from nhalf.store.schema import POINT_COLUMNS

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
            raise InputError(
                f"axis {name}={value} cannot be written",
                "a name is letters, digits and _, a value those and . and -",
            )
    return ",".join(f"{name}={values[name]}" for name in sorted(values))


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

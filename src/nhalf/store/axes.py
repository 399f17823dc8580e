"""Further axes of a point in the tables: one string, 'name=value,name=value' sorted by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from nhalf.base.errors import InputError

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

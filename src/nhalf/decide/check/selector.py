"""The points to which an expectation applies, and selections that were not measured."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.listing import ranks_text
from nhalf.base.units import format_size, parse_size
from nhalf.store.keys import axis

Words = str | list[str]
Numbers = int | str | list[int | str]

WILDCARDS = frozenset("*?[")


@dataclass(frozen=True)
class ColumnSelector:
    """Values of one column, or of one axis: exact ones, and others by wildcard or range."""

    column: str
    exact: tuple[str | int, ...] = ()
    wildcards: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    is_axis: bool = False

    def allows(self, value: str | int | None) -> bool:
        """Whether a value of the column is selected."""
        if value is None:
            return False
        if value in self.exact:
            return True
        if isinstance(value, int):
            return any(low <= value <= high for low, high in self.ranges)
        return any(fnmatch.fnmatchcase(value, pattern) for pattern in self.wildcards)

    def values(self, frame: pl.DataFrame) -> list[Any]:
        """The values that the column, or the axis, has in a frame, each once."""
        return frame.select(self._expression().unique()).to_series().to_list()

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a frame with a selected value."""
        allowed = [value for value in self.values(frame) if self.allows(value)]
        return frame.filter(self._expression().is_in(allowed))

    def missing(self, frame: pl.DataFrame) -> list[str | int]:
        """The exact values that no row of a frame has."""
        frame_values = set(self.values(frame))
        return [value for value in self.exact if value not in frame_values]

    def text(self) -> str:
        """The selection in words: '0 B to 8 KiB', '2 ranks', 'mpich'."""
        parts = [self._written(value) for value in self.exact]
        parts += self.wildcards
        parts += [f"{self._written(low)} to {self._written(high)}" for low, high in self.ranges]
        listed = ", ".join(parts)
        if self.is_axis:
            return f"{self.column}={listed}"
        return ranks_text(listed) if self.column == "ranks" else listed

    def _written(self, value: str | int) -> str:
        return format_size(int(value)) if self.column == "bytes" else str(value)

    def _expression(self) -> pl.Expr:
        return axis(self.column) if self.is_axis else pl.col(self.column)


def select(frame: pl.DataFrame, selectors: Sequence[ColumnSelector]) -> pl.DataFrame:
    """The rows that all selectors allow."""
    for selector in selectors:
        frame = selector.of(frame)
    return frame


def words(column: str, written: Words, *, is_axis: bool = False) -> ColumnSelector:
    """A selector of texts: one or several, each exact or with the wildcards * ? [a-z]."""
    texts = [written] if isinstance(written, str) else list(written)
    plain = tuple(text for text in texts if not WILDCARDS.intersection(text))
    wild = tuple(text for text in texts if WILDCARDS.intersection(text))
    return ColumnSelector(column, plain, wild, is_axis=is_axis)


def numbers(column: str, written: Numbers) -> ColumnSelector:
    """A selector of ranks or bytes: 8, "8K", "0,8,4K", "0:8K" or a list of these.

    A range includes both ends. Raises InputError for anything but numbers.
    """
    items = written if isinstance(written, list) else [written]
    texts = [part for item in items for part in str(item).split(",")]
    read: Callable[[str], int] = parse_size if column == "bytes" else _count
    exact, ranges = [], []
    for text in texts:
        low, colon, high = text.partition(":")
        if not colon:
            exact.append(read(low))
        elif read(low) <= read(high):
            ranges.append((read(low), read(high)))
        else:
            raise InputError(f"the range {text!r} ends before it begins", f"write {high}:{low}")
    return ColumnSelector(column, tuple(exact), ranges=tuple(ranges))


def axes(written: Mapping[str, Numbers]) -> list[ColumnSelector]:
    """A selector for every axis: a value, or a list of values."""
    return [
        words(name, [str(v) for v in (value if isinstance(value, list) else [value])], is_axis=True)
        for name, value in written.items()
    ]


def _count(text: str) -> int:
    if not (text.strip().isdecimal() and len(text) < 10):
        raise InputError(f"{text!r} is not a number of ranks", 'write 2, [2, 4] or "2:8"')
    return int(text)

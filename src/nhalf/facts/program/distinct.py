"""Rows of whole numbers by the number of each among the distinct ones, without sorting them."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Whole = NDArray[np.integer[Any]]
_SHORT = 1 << 16
_SPAN_MAX = 1 << 31


def distinct_rows(*columns: Whole) -> Whole:
    """The number of each row among the distinct ones, in ascending order of their columns."""
    keys: Whole = np.zeros(0, np.int64)
    most = 1
    for column in columns if len(columns[0]) else ():
        low, high = column.min(), column.max()
        span = int(high) - int(low) + 1
        if span > _SPAN_MAX:
            column = _ranked(column, span)
            low, span = column.min(), _SPAN_MAX
        if most * span > _SPAN_MAX**2:
            keys = _ranked(keys, most)
            most = int(keys.max()) + 1
        most *= span
        kind = np.uint16 if most <= _SHORT else np.int32 if most <= _SPAN_MAX else np.int64
        # Whole numbers that are too large for a short type differ by as much there.
        offset = np.subtract(column, low, dtype=kind, casting="unsafe")
        if len(keys):
            offset += np.multiply(keys, np.int64(span), dtype=kind, casting="unsafe")
        keys = offset
    return _ranked(keys, most)


def _ranked(values: Whole, span: int) -> Whole:
    """The number of each value among the distinct ones; they begin at 0, or have a large span."""
    if span <= max(_SHORT, len(values)):
        is_there = np.zeros(span, bool)
        is_there[values] = True
        rank = np.cumsum(is_there, dtype=np.uint32) - np.uint32(1)
        short: Whole = rank.astype(np.uint16 if span <= _SHORT else np.uint32)
        return short[values]
    distinct = pl.Series(values).unique().sort()
    places: Whole = distinct.search_sorted(pl.Series(values)).to_numpy()
    return places


def place_of_each(number: Whole) -> Whole:
    """A place of each number."""
    places = np.zeros(int(number.max()) + 1 if len(number) else 0, np.int32)
    places[number] = np.arange(len(number), dtype=np.int32)
    return places

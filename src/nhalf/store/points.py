"""The points of a journal as a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import polars as pl

from nhalf.base.errors import InputError
from nhalf.store.journal import events_named
from nhalf.store.record import Record, columns

COLUMNS = columns(Record)
CHUNK_BYTES = 1 << 24
"""Numbers read from a journal at once, as text: all of them might not fit into memory."""
LINE_BYTES = 1024
"""Approximate size of the other members of a line."""


class _Line(Record, kw_only=True, gc=False):
    """A record whose numbers are not parsed yet.

    Ten million of them would take a second as Python objects, so polars parses the text.
    """

    samples_s: msgspec.Raw  # type: ignore[assignment]
    rank_s: msgspec.Raw = msgspec.Raw(b"[]")  # type: ignore[assignment]
    values: msgspec.Raw = msgspec.Raw(b"[]")  # type: ignore[assignment]


def points(journal: Path) -> pl.DataFrame:
    """One row per visit of a launch to a point, with the columns of a record.

    Raises InputError if a line is damaged or has another form.
    """
    chunks = [pl.DataFrame(schema=COLUMNS)]
    try:
        chunks += [_frame(lines) for lines in _chunks(journal)]
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{journal} is of another form: {error}") from error
    return pl.concat(chunks)


def _chunks(journal: Path) -> Iterator[list[_Line]]:
    """The points of the journal, in batches."""
    chunk: list[_Line] = []
    size_bytes = 0
    for line in events_named("point", journal, _Line):
        chunk.append(line)
        lists = (line.samples_s, line.rank_s, line.values)
        size_bytes += LINE_BYTES + sum(len(memoryview(raw)) for raw in lists)
        if size_bytes >= CHUNK_BYTES:
            yield chunk
            chunk, size_bytes = [], 0
    if chunk:
        yield chunk


def _frame(lines: list[_Line]) -> pl.DataFrame:
    """Points as rows. Raises ValueError or PolarsError if samples are not lists of numbers."""
    plain = {name: kind for name, kind in COLUMNS.items() if not isinstance(kind, pl.List)}
    lists = {name: kind for name, kind in COLUMNS.items() if name not in plain}
    encode = msgspec.json.Encoder().encode
    text = b"".join(encode({name: getattr(line, name) for name in lists}) + b"\n" for line in lines)
    frame = pl.read_ndjson(text, schema=lists)
    numbers = frame["samples_s"].list.explode(keep_nulls=False, empty_as_null=False)
    if frame.height != len(lines) or frame["samples_s"].null_count() or numbers.null_count():
        raise ValueError("a sample is not a number")
    if frame["rank_s"].null_count() or frame["values"].null_count():
        raise ValueError("times of ranks and named values are lists")
    rows = {name: [getattr(line, name) for line in lines] for name in plain}
    return pl.DataFrame(rows, schema=plain).with_columns(frame).select(*COLUMNS)

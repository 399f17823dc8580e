"""The record of a point in one launch, from which journal, tables, importers and readers derive.

A column is added only here, with a default for older runs that lack it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, get_type_hints

import msgspec
import polars as pl

from nhalf.base.errors import InputError
from nhalf.store.journal import events_named

Text = Annotated[str, pl.String()]
Small = Annotated[int, pl.Int32()]
Large = Annotated[int, pl.Int64()]
Number = Annotated[float, pl.Float64()]
Numbers = Annotated[list[float], pl.List(pl.Float64())]


class NamedNumber(msgspec.Struct):
    """A named number; the name ends in the unit. None if there is no value."""

    name: str
    value: float | None


VALUES = pl.List(pl.Struct({"name": pl.String(), "value": pl.Float64()}))
"""Named numbers (`NamedNumber`), sorted by name."""


class PointIdentity(msgspec.Struct, kw_only=True):
    """The identity of a point within a run.

    `mpi` is '' for transports without MPI; `axes` are the further axes of its pattern,
    'name=value,name=value' sorted by name, '' for none (store/keys.py).
    """

    transport: Text
    mpi: Text
    pattern: Text
    algorithm: Text
    ranks: Small
    placement: Text
    axes: Text = ""
    bytes: Large


class Record(PointIdentity, kw_only=True):
    """A point in one launch, with its raw samples.

    `launch` counts the launches of one library from 0 (launch k of every library ran in the same
    round, so equal numbers are pairs); `position` is the order within the launch; `started_s`
    seconds since 1970; `batch` rounds per sample; `stop` why sampling ended: precision, time or
    samples; `bytes_per_time` the bytes that one sample's time moved (rate = bytes_per_time /
    time); a sample is the time of one operation as the pattern defines it (half a round trip for
    ping-pong), seconds; `rank_s` the median of each rank's own times, seconds, empty if only one
    rank has times; `values` the pattern's further results, sorted by name.
    """

    launch: Small
    position: Small
    started_s: Number
    batch: Large
    messages_per_round: Small
    bytes_per_time: Large
    stop: Text
    verified: Annotated[bool, pl.Boolean()]
    advice: Annotated[list[str], pl.List(pl.String())]
    samples_s: Numbers
    rank_s: Numbers = []
    values: Annotated[list[NamedNumber], VALUES] = []


def columns(record: type[PointIdentity]) -> dict[str, pl.DataType]:
    """The columns of a table of such records, by name."""
    hints = get_type_hints(record, include_extras=True)
    return {name: hints[name].__metadata__[0] for name in record.__struct_fields__}


def named_values(values: Mapping[str, float | None]) -> list[NamedNumber]:
    """Numbers by name as a record holds them."""
    return [NamedNumber(name, values[name]) for name in sorted(values)]


def event(kind: str, subject: str, record: PointIdentity) -> dict[str, object]:
    """A record, or what identifies it, as an event of the journal."""
    return {"event": kind, "subject": subject, **msgspec.structs.asdict(record)}


ADDED = tuple(field.name for field in msgspec.structs.fields(Record) if not field.required)
"""Columns that version 1 lacks: they are empty when such a run is read."""


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

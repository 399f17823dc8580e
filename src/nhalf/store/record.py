"""The record of a point in one launch, from which journal, tables, importers and readers derive.

A column is added only here, with a default for older runs that lack it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, get_type_hints

import msgspec
import polars as pl

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
    'name=value,name=value' sorted by name, '' for none (store/axes.py).
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

# SPDX-License-Identifier: Apache-2.0
"""A run directory: run.json, journal.jsonl while it runs, measurements.parquet at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError, MissingError
from nhalf.base.files import replacing
from nhalf.store.journal import Journal, events, events_named
from nhalf.store.schema import ADDED_COLUMNS, MEASUREMENT_COLUMNS, READ_VERSIONS, VERSION

DESCRIPTION = "run.json"
JOURNAL = "journal.jsonl"
MEASUREMENTS = "measurements.parquet"

_VERSION_KEY = "nhalf.schema"
_JOURNAL_KEY = "nhalf.journal_bytes"
_CHUNK_BYTES = 1 << 24
"""Samples read from a journal at a time, as text: all of them may not fit into memory."""


class _Description(msgspec.Struct):
    """What run.json holds beside its version."""

    environment: dict[str, Any] = {}
    plan: dict[str, Any] = {}
    titles: dict[str, str] = {}
    simulation: dict[str, Any] = {}


class _Event(msgspec.Struct):
    """Any event, of which only the number matters."""


class _Point(msgspec.Struct, gc=False):
    """What a line of the journal must hold for a point: the columns of store/schema.py."""

    transport: str
    mpi: str
    pattern: str
    algorithm: str
    ranks: int
    placement: str
    bytes: int
    launch: int
    position: int
    started_s: float
    batch: int
    messages_per_round: int
    bytes_per_time: int
    stop: str
    verified: bool
    advice: list[str]
    samples_s: msgspec.Raw
    axes: str = ""
    rank_s: msgspec.Raw = msgspec.Raw(b"[]")
    values: msgspec.Raw = msgspec.Raw(b"[]")


@dataclass(frozen=True)
class Run:
    """One run on the disk. All but `path` comes from run.json.

    `simulation` says how a simulated machine is simulated; empty for what was measured.
    """

    path: Path
    environment: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    simulation: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The folder's name, which is the value of the column `run`."""
        return self.path.name

    @classmethod
    def create(cls, path: Path, description: dict[str, Any]) -> Run:
        """Make a run directory; raises InputError when there is a run already.

        `description` holds environment, plan and titles; a folder that cannot be made or written
        is a MissingError.
        """
        if (path / DESCRIPTION).exists():
            raise InputError(
                f"{path} holds a run already", "choose another --out, or go on with --resume"
            )
        is_new = not path.exists()
        try:
            path.mkdir(parents=True, exist_ok=True)
            with replacing(path / DESCRIPTION) as part:
                part.write_bytes(msgspec.json.format(_encode(description), indent=2))
        except OSError as error:
            if is_new:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise MissingError(
                f"the run cannot be kept in {path}: {error.strerror}",
                "choose another folder with --out",
            ) from error
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Run:
        """A run from its directory, or from any file in it.

        Raises InputError when there is none or it is of another version.
        """
        folder = path.parent if path.is_file() else path
        file = folder / DESCRIPTION
        if not file.is_file():
            raise InputError(f"{path} is not a run directory", "it has no run.json")
        try:
            content = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
            _check_version(file, content.get("schema"))
            description = msgspec.convert(content, _Description)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{file} is damaged: {error}", "measure again") from error
        return cls(
            folder.resolve(),
            description.environment,
            description.plan,
            description.titles,
            description.simulation,
        )

    def journal(self) -> Journal:
        """The journal, open for appending."""
        return Journal(self.path / JOURNAL)

    def events(self) -> list[dict[str, Any]]:
        """Everything in the journal but the samples of points."""
        return [
            {key: value for key, value in event.items() if key != "samples_s"}
            for event in events(self.path / JOURNAL)
        ]

    def ends(self) -> int:
        """How often the run has come to its end: more than once where it was resumed after."""
        return sum(1 for _ in events_named("end", self.path / JOURNAL, _Event))

    def measurements(self) -> pl.LazyFrame:
        """One row per point and launch, columns of store/schema.py.

        Raises InputError when no point was finished or a file is damaged or of another version.
        """
        parquet = self.path / MEASUREMENTS
        if parquet.exists() and self._is_current(parquet):
            named = pl.lit(self.name).alias("run")
            lacking = set(ADDED_COLUMNS) - set(pl.read_parquet_schema(parquet))
            stored = pl.scan_parquet(parquet).with_columns(map(_empty, lacking))
            return stored.select(named, *_JOURNAL_COLUMNS)
        frame = self._from_journal()
        if frame.height == 0:
            raise InputError(f"{self.path} holds no finished point", "go on with --resume")
        return frame.lazy()

    def finish(self) -> None:
        """Write the measurements of the journal as Parquet, whole or not at all.

        Raises MissingError when there is no room or no permission.
        """
        frame = self._from_journal()
        size_bytes = (self.path / JOURNAL).stat().st_size
        metadata = {_VERSION_KEY: str(VERSION), _JOURNAL_KEY: str(size_bytes)}
        try:
            with replacing(self.path / MEASUREMENTS) as part:
                frame.drop("run").write_parquet(part, metadata=metadata, compression="zstd")
        except (OSError, pl.exceptions.PolarsError) as error:
            cause = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise MissingError(
                f"{self.path / MEASUREMENTS} cannot be written: {cause}",
                f"all points are kept, go on with: nhalf run --resume {self.path}",
            ) from error

    def _is_current(self, parquet: Path) -> bool:
        """Whether the Parquet file holds all that the journal holds, which may have lost its end.

        Raises InputError when the file is damaged or of another version.
        """
        try:
            metadata = pl.read_parquet_metadata(parquet)
            columns = pl.read_parquet_schema(parquet)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(
                f"{parquet} is damaged", "remove it: the journal holds the same"
            ) from error
        version = _check_version(parquet, metadata.get(_VERSION_KEY))
        for name, kind in _JOURNAL_COLUMNS.items():
            if version == 1 and name in ADDED_COLUMNS:
                continue
            if columns.get(name) != kind:
                raise InputError(f"{parquet} has no column {name} of type {kind}", "measure again")
        journal = self.path / JOURNAL
        if not journal.exists():
            return True
        known = metadata.get(_JOURNAL_KEY, "")
        return known.isdecimal() and journal.stat().st_size <= int(known)

    def _from_journal(self) -> pl.DataFrame:
        """The points of the journal as a frame; damaged lines are told by `events_named`."""
        chunks = [pl.DataFrame(schema=_JOURNAL_COLUMNS)]
        try:
            chunks += [_frame(points) for points in self._chunks()]
        except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{self.path / JOURNAL} is of another form: {error}") from error
        frame = pl.concat(chunks)
        return frame.select(pl.lit(self.name).alias("run"), *_JOURNAL_COLUMNS)

    def _chunks(self) -> Iterator[list[_Point]]:
        """The points of the journal, some at a time."""
        chunk: list[_Point] = []
        size_bytes = 0
        for point in events_named("point", self.path / JOURNAL, _Point):
            chunk.append(point)
            size_bytes += len(memoryview(point.samples_s))
            if size_bytes >= _CHUNK_BYTES:
                yield chunk
                chunk, size_bytes = [], 0
        if chunk:
            yield chunk


_JOURNAL_COLUMNS = {name: kind for name, kind in MEASUREMENT_COLUMNS.items() if name != "run"}


def _frame(points: list[_Point]) -> pl.DataFrame:
    """Points as rows. Raises ValueError or PolarsError where samples are not lists of numbers."""
    lists = {name: _JOURNAL_COLUMNS[name] for name in ("advice", "samples_s", "rank_s", "values")}
    plain = {name: kind for name, kind in _JOURNAL_COLUMNS.items() if name not in lists}
    columns = {name: [getattr(point, name) for point in points] for name in plain}
    # Ten million numbers take a second as Python objects: polars reads their text itself.
    encode = msgspec.json.Encoder().encode
    text = b"".join(
        b'{"advice":%b,"samples_s":%b,"rank_s":%b,"values":%b}\n'
        % (encode(point.advice), point.samples_s, point.rank_s, point.values)
        for point in points
    )
    frame = pl.read_ndjson(text, schema=lists)
    samples = frame["samples_s"]
    numbers = samples.list.explode(keep_nulls=False, empty_as_null=False)
    if len(samples) != len(points) or samples.null_count() or numbers.null_count():
        raise ValueError("a sample is not a number")
    if frame["rank_s"].null_count() or frame["values"].null_count():
        raise ValueError("times of ranks and named values are lists")
    return pl.DataFrame(columns, schema=plain).with_columns(frame)


def _empty(name: str) -> pl.Expr:
    """A column that an older run lacks: no text, or lists without items."""
    kind = _JOURNAL_COLUMNS[name]
    return pl.lit("" if kind == pl.String() else [], dtype=kind).alias(name)


def _encode(description: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"schema": VERSION, **description})


def _check_version(file: Path, version: object) -> int:
    """The version that a file says it has; raises InputError when it cannot be read."""
    for known in READ_VERSIONS:
        if str(version) == str(known):
            return known
    found = "no version" if version is None else f"version {version}"
    raise InputError(
        f"{file} has {found}; this nhalf reads versions {' and '.join(map(str, READ_VERSIONS))}",
        "use the nhalf that wrote it",
    )

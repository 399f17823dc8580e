"""The record of a point: what is written is read; older runs lack only what was added."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from nhalf.store.journal import Journal
from nhalf.store.keys import (
    CURVE,
    MEASUREMENT_COLUMNS,
    POINT,
    RUN_POINT,
    SUBJECT,
    SUMMARY_COLUMNS,
    without,
)
from nhalf.store.record import (
    ADDED,
    NamedNumber,
    PointIdentity,
    Record,
    columns,
    event,
    named_values,
    points,
)

RECORD = Record(
    transport="mpi",
    mpi="a",
    pattern="pingpong",
    algorithm="native",
    ranks=2,
    placement="cores",
    axes="pairs=1",
    bytes=8,
    launch=1,
    position=3,
    started_s=1.5,
    batch=4,
    messages_per_round=2,
    bytes_per_time=8,
    stop="precision",
    verified=True,
    advice=["moved"],
    samples_s=[1e-6, 2e-6],
    rank_s=[1e-6],
    values=[NamedNumber("flag_after_s", 1e-9)],
)


def test_a_record_comes_back_from_the_journal_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(event("point", "a", RECORD))
        journal.append(event("failed", "a", RECORD) | {"reason": "another event"})
    frame = points(path)
    assert frame.schema == pl.Schema(columns(Record))
    assert msgspec.convert(frame.to_dicts(), list[Record]) == [RECORD]


def test_many_points_come_in_chunks(
    tmp_path: Path, point_event: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nhalf.store.record.CHUNK_BYTES", 40)
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for size in range(1, 10):
            journal.append(point_event(bytes=size, samples_s=[size] * size))
    frame = points(path)
    assert frame["bytes"].to_list() == list(range(1, 10))
    assert frame["samples_s"].list.len().to_list() == list(range(1, 10))


def test_every_field_is_a_column_and_the_identity_comes_first() -> None:
    assert tuple(MEASUREMENT_COLUMNS) == ("run", *Record.__struct_fields__)
    assert tuple(columns(Record))[: len(POINT)] == POINT == tuple(columns(PointIdentity))
    assert set(RUN_POINT) < set(SUMMARY_COLUMNS)


def test_what_was_added_after_the_first_version_is_empty_where_it_lacks() -> None:
    assert ADDED == ("axes", "rank_s", "values")
    older = {n: v for n, v in msgspec.structs.asdict(RECORD).items() if n not in ADDED}
    read = msgspec.convert(older, Record)
    assert (read.axes, read.rank_s, read.values) == ("", [], [])


def test_values_are_kept_by_name() -> None:
    assert [value.name for value in named_values({"b_s": 2.0, "a_s": 1.0})] == ["a_s", "b_s"]


def test_keys_leave_out_what_may_differ() -> None:
    assert without(POINT, "bytes") == CURVE
    assert set(SUBJECT) < set(CURVE)
    assert without(POINT, *POINT) == ()

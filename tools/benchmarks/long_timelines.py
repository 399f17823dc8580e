"""Timelines of any length that no program had to run for: a stencil, and a pipeline.

Times are those of messages of 2 µs between ranks that compute at random, so that ranks wait for
each other as they do in a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.measure.traced.tables import DESCRIPTION, TABLES, Rank, Trace

SIDE = 4
"""The stencil has a grid of that many ranks each way, with its ends joined."""
WAY_S, SEND_S, POST_S, OPERATION_S = 2e-6, 5e-7, 2e-7, 5e-6
SIZE_BYTES = 1024
_Columns = Mapping[str, object]


def stencil(events: int, folder: Path) -> Path:
    """A trace of ranks that exchange with four neighbours and then reduce, in rounds."""
    ranks = SIDE * SIDE
    rounds = max(1, events // (10 * ranks))
    draws = np.random.default_rng(1)
    row, column = np.divmod(np.arange(ranks), SIDE)
    moves = ((0, 1), (0, -1), (1, 0), (-1, 0))
    partners = [(row + y) % SIDE * SIDE + (column + x) % SIDE for y, x in moves]
    calls: list[_Columns] = []
    now_s = np.zeros(ranks)
    for _ in range(rounds):
        now_s = now_s + draws.exponential(1e-4, ranks)
        begins_s, sends_s = [], []
        for _ in partners:
            begins_s.append(now_s)
            now_s = now_s + POST_S
        for tag, partner in enumerate(partners):
            sends_s.append(now_s)
            calls.append(_rows("MPI_Isend", "sent", partner, now_s, now_s + SEND_S, tag))
            now_s = now_s + SEND_S
        arrived_s = [sends_s[tag][partners[tag ^ 1]] + WAY_S for tag in range(4)]
        end_s = np.maximum.reduce([now_s, *arrived_s])
        for tag in range(4):
            source = partners[tag ^ 1]
            calls.append(_rows("MPI_Irecv", "received", source, begins_s[tag], end_s, tag))
        calls.append(_rows("MPI_Waitall", "waiting", -2, now_s, end_s, 0, 0))
        now_s = end_s + draws.exponential(2e-5, ranks)
        end_s = np.full(ranks, now_s.max() + OPERATION_S)
        calls.append(_rows("MPI_Allreduce", "collective", -2, now_s, end_s, 0, 8))
        now_s = end_s
    return _stored(calls, ranks, folder)


def pipeline(events: int, folder: Path) -> Path:
    """A trace of ranks in a line: each computes what it receives, and sends it on."""
    ranks = SIDE * SIDE
    rounds = max(1, events // (2 * ranks))
    draws = np.random.default_rng(1)
    calls: list[_Columns] = []
    free_s, passed_s = np.zeros(ranks), np.zeros(rounds)
    columns: dict[str, list[Floats]] = {"begin": [], "received": [], "sent": []}
    for rank in range(ranks):
        begins_s, received_s, sent_s = (np.zeros(rounds) for _ in range(3))
        computes_s = draws.exponential(1e-4, rounds)
        for at in range(rounds):
            begins_s[at] = free_s[rank]
            received_s[at] = max(free_s[rank], passed_s[at] + WAY_S) if rank else free_s[rank]
            sent_s[at] = received_s[at] + computes_s[at]
            free_s[rank] = sent_s[at] + SEND_S
        passed_s = sent_s
        for name, moments_s in zip(columns, (begins_s, received_s, sent_s), strict=True):
            columns[name].append(moments_s)
    begin, received, sent = (np.array(columns[name]) for name in columns)
    number = np.arange(ranks)
    for at in range(rounds):
        from_s, to_s, sends_s = begin[:, at], received[:, at], sent[:, at]
        inner, last = slice(1, None), slice(None, -1)
        calls.append(_rows("MPI_Recv", "received", number - 1, from_s, to_s, 0, of=inner))
        calls.append(_rows("MPI_Send", "sent", number + 1, sends_s, sends_s + SEND_S, 0, of=last))
    return _stored(calls, ranks, folder)


def _rows(
    call: str,
    kind: str,
    partner: object,
    start_s: Floats,
    end_s: Floats,
    tag: int,
    size_bytes: int = SIZE_BYTES,
    of: slice = slice(None),
) -> _Columns:
    """A call of each rank, or of some, as columns."""
    ranks = np.arange(len(start_s))
    columns = {
        "rank": ranks,
        "partner": np.broadcast_to(np.asarray(partner), ranks.shape),
        "start_s": start_s,
        "end_s": end_s,
        "waiting_s": end_s - start_s,
    }
    some = {name: values[of] for name, values in columns.items()}
    return {**some, "call": call, "kind": kind, "tag": tag, "size_bytes": size_bytes}


def _stored(calls: list[_Columns], ranks: int, folder: Path) -> Path:
    """The calls as a trace in a folder."""
    timeline = _frame(calls).sort("rank", "start_s", maintain_order=True)
    keys = ["rank", "thread", "call", "kind", "communicator", "partner", "size_bytes"]
    took_s = pl.col("end_s") - pl.col("start_s")
    counted = timeline.group_by(keys, maintain_order=True).agg(
        pl.len().cast(pl.Int64()).alias("count"),
        pl.col("size_bytes").sum().alias("bytes"),
        took_s.sum().alias("time_s"),
        pl.col("waiting_s").sum(),
        took_s.min().alias("min_s"),
        took_s.max().alias("max_s"),
    )
    ends_s = dict(timeline.group_by("rank").agg(pl.col("end_s").max()).iter_rows())
    each = [Rank(rank, "node0", 1000 + rank, 0.0, ends_s[rank], True) for rank in range(ranks)]
    run_s = max(ends_s.values())
    trace = Trace(["./program"], "mpich", each, 0.0, run_s, "timeline", True, 0)
    members = {"communicator": 0, "name": "world", "rank": range(ranks), "world_rank": range(ranks)}
    tables = {"calls": counted, "timeline": timeline, "communicators": pl.DataFrame(members)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DESCRIPTION).write_bytes(msgspec.json.encode(trace))
    for name, schema in TABLES.items():
        frame = tables.get(name, pl.DataFrame(schema=schema))
        frame.select(pl.col(of).cast(kind) for of, kind in schema.items()).write_parquet(
            folder / f"{name}.parquet"
        )
    return folder


def _frame(calls: list[_Columns]) -> pl.DataFrame:
    """The columns of all calls, with those that are the same for each."""
    lengths = [len(np.asarray(columns["rank"])) for columns in calls]
    whole = {
        name: np.concatenate([np.asarray(columns[name]) for columns in calls])
        for name in ("rank", "partner", "start_s", "end_s", "waiting_s")
    }
    for name in ("call", "kind", "tag", "size_bytes"):
        whole[name] = np.repeat([columns[name] for columns in calls], lengths)
    same = {"thread": 0, "communicator": 0, "site": -1}
    return pl.DataFrame(whole).with_columns(
        pl.lit(value, pl.Int32()).alias(name) for name, value in same.items()
    )


TIMELINES: dict[str, Callable[[int, Path], Path]] = {"stencil": stencil, "pipeline": pipeline}

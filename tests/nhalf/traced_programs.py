"""Traces of programs whose messages are known in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import DESCRIPTION, TABLES, Rank, Trace

Sends = Mapping[tuple[int, int], int]
"""How many messages go from a rank to another."""


def frame(table: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a table of a trace; what they leave out is 0."""
    schema = TABLES[table]
    empty = {name: "" if kind == pl.String() else 0 for name, kind in schema.items()}
    return pl.DataFrame([{**empty, **row} for row in rows], schema=schema)


def sent(sends: Sends, size_bytes: int = 1024, **more: Any) -> list[dict[str, Any]]:
    """Rows of MPI_Send, with those of MPI_Recv at the other end."""
    rows = []
    for (source, target), count in sends.items():
        both = {"size_bytes": size_bytes, "count": count, "bytes": count * size_bytes, **more}
        rows.append({"call": "MPI_Send", "kind": "sent", "rank": source, "partner": target} | both)
        rows.append(
            {"call": "MPI_Recv", "kind": "received", "rank": target, "partner": source} | both
        )
    return rows


def trace(ranks: int, hosts: int = 1, elapsed_s: float = 1.0, detail: str = "counts") -> Trace:
    """A description of ranks that are placed on hosts by turns."""
    each = [
        Rank(rank, f"node{rank % hosts}", 1000 + rank, 0.0, elapsed_s, True)
        for rank in range(ranks)
    ]
    return Trace(
        ["mpiexec", "-n", str(ranks), "./program"], "mpich-5.0.2", each, 0.0, elapsed_s, detail,
        True, 0,
    )  # fmt: skip


def program(
    ranks: int,
    calls: Iterable[Mapping[str, Any]] = (),
    *,
    bins: Iterable[Mapping[str, Any]] = (),
    timeline: Iterable[Mapping[str, Any]] = (),
    **description: Any,
) -> Program:
    """A program of those rows."""
    members = [{"rank": rank, "world_rank": rank, "name": "world"} for rank in range(ranks)]
    return Program(
        Path("traced"),
        trace(ranks, **description),
        frame("calls", calls),
        frame("bins", bins),
        frame("timeline", timeline),
        frame("communicators", members),
    )


def call(
    rank: int, name: str, kind: str, partner: int, from_s: float, to_s: float, **more: Any
) -> dict[str, Any]:
    """A call of a timeline, which waits as long as it lasts."""
    times_s = {"start_s": from_s, "end_s": to_s, "waiting_s": to_s - from_s}
    subject = {"rank": rank, "call": name, "kind": kind, "partner": partner, "size_bytes": 8}
    return {**subject, **times_s, **more}


def timed(ranks: int, *calls: dict[str, Any], ends_s: tuple[float, ...] = ()) -> Program:
    """A program with a timeline, and its calls one by one as the table of calls; its ranks end
    after 10 s where nothing else is said."""
    counted = [
        {
            **{name: row[name] for name in ("rank", "call", "kind", "partner", "size_bytes")},
            **{"count": 1, "bytes": row["size_bytes"], "waiting_s": row["waiting_s"]},
            "thread": row.get("thread", 0),
            "time_s": row["end_s"] - row["start_s"],
        }
        for row in calls
    ]
    made = program(ranks, counted, timeline=calls, detail="timeline", elapsed_s=10.0)
    for record, end_s in zip(made.trace.ranks, ends_s, strict=False):
        record.end_s = end_s
    return made


def stored(made: Program, folder: Path) -> Path:
    """The same as a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DESCRIPTION).write_bytes(msgspec.json.encode(made.trace))
    for name in TABLES:
        getattr(made, name).write_parquet(folder / f"{name}.parquet")
    return folder


def off(rank: int, from_s: float, to_s: float, queued_s: float, **more: Any) -> dict[str, Any]:
    """A span in which others had the processor for some time, and nobody slept."""
    times_s = {"start_s": from_s, "end_s": to_s, "off_s": queued_s, "queued_s": queued_s}
    return {"rank": rank, "in_call": False, **times_s, **more}


def disturbed(made: Program, *spans: dict[str, Any]) -> Program:
    """The program with what others took, of which each rank knows the sums."""
    for record in made.trace.ranks:
        own = [span for span in spans if span["rank"] == record.rank]
        for prefix, in_call in (("", False), ("in_calls_", True)):
            for name in ("off_s", "queued_s"):
                seconds = sum(span[name] for span in own if span["in_call"] == in_call)
                setattr(record, f"{prefix}{name}", float(seconds))
    return replace(made, off_processor=frame("off_processor", spans))


def sends_of(ranks: int, targets: Callable[[int], Iterable[int]], count: int = 10) -> Sends:
    """Every rank sends this many messages to each of its targets but itself."""
    found: dict[tuple[int, int], int] = {}
    for rank in range(ranks):
        for target in targets(rank):
            if target != rank:
                found[rank, target] = found.get((rank, target), 0) + count
    return found

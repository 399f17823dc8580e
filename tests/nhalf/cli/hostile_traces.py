"""Traces that no sane program gives, as files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.measure.traced.tables import DESCRIPTION, TABLES
from tests.nhalf.cli.hostile_subjects import NAMES, SIZES
from tests.nhalf.present.hostile import LIBRARIES


def write_trace(seed: int, folder: Path) -> Path:
    """A trace with times and counts of every size; its ranks may be one, or have no calls."""
    draw = random.Random(f"trace {seed}")
    ranks = draw.choice((1, 2, 4))
    end_s = draw.choice((0.0, 1e-9, 1.0, 1.0, 1e9))
    detail = draw.choice(("counts", "timeline"))
    tables = _tables(draw, ranks, end_s, detail)
    folder.mkdir(parents=True)
    for name, schema in TABLES.items():
        rows = [{**_empty(schema), **row} for row in tables[name]]
        pl.DataFrame(rows, schema=schema).write_parquet(folder / f"{name}.parquet")
    description = {
        "command": ["mpiexec", "-n", str(ranks), draw.choice(NAMES)],
        "library": draw.choice((*LIBRARIES, "")),
        "ranks": [
            {"rank": rank, "host": draw.choice(("n1", "n2", NAMES[3])), "pid": 1000 + rank,
             "start_s": 0.0, "end_s": end_s, "finished": draw.random() < 0.9}
            for rank in range(ranks)
        ],
        "start_s": draw.choice((0.0, 1.7e9)),
        "end_s": draw.choice((0.0, 1.7e9)) + end_s,
        "detail": detail,
        "complete": draw.random() < 0.8,
        "exit_code": draw.choice((None, 0, 1)),
        "version": 1,
    }  # fmt: skip
    (folder / DESCRIPTION).write_bytes(msgspec.json.encode(description))
    return folder


def _empty(schema: Any) -> dict[str, Any]:
    return {name: "" if kind == pl.String() else 0 for name, kind in schema.items()}


def _tables(draw: random.Random, ranks: int, end_s: float, detail: str) -> dict[str, Any]:
    """The rows of each table of a trace."""
    calls = [
        row
        for source in range(ranks)
        for target in range(ranks)
        if draw.random() < 0.8
        for row in _sent(draw, source, target)
    ]
    calls += [
        {"rank": rank, "call": "MPI_Allreduce", "kind": "collective", "partner": -2,
         "size_bytes": 8, "count": 3, "bytes": 24, **_waited(draw)}
        for rank in range(ranks) if draw.random() < 0.7
    ]  # fmt: skip
    width_s = draw.choice((1e-9, 0.1, 1e9))
    bins = [
        {"rank": rank, "start_s": width_s * place, "width_s": width_s, "kind": kind,
         "count": draw.choice((0, 1, 10**12)), "bytes": draw.choice(SIZES), "time_s": width_s / 2}
        for rank in range(ranks) for place in range(3)
        for kind in ("sent", "received", "waiting") if draw.random() < 0.7
    ]  # fmt: skip
    timeline = [
        {"rank": rank, "call": call, "kind": kind, "partner": (rank + 1) % ranks,
         "size_bytes": draw.choice(SIZES), "start_s": end_s * place / 4,
         "end_s": end_s * (place + 1) / 4, "waiting_s": end_s * draw.choice((0, 0.1))}
        for rank in range(ranks)
        for place, (call, kind) in enumerate((("MPI_Send", "sent"), ("MPI_Recv", "received")))
    ]  # fmt: skip
    return {
        "calls": calls,
        "bins": bins,
        "timeline": timeline if detail == "timeline" else [],
        "communicators": [{"rank": n, "world_rank": n, "name": "world"} for n in range(ranks)],
        **_places(draw, ranks, end_s),
    }


def _places(draw: random.Random, ranks: int, end_s: float) -> dict[str, Any]:
    """Where the program calls MPI, some calls at places that no table has, and lost processors."""
    sites = [
        {"site": site, "module": draw.choice(NAMES), "offset": draw.choice((0, 1, 2**62)),
         "function": draw.choice(("", NAMES[3])), "file": draw.choice(("", NAMES[3])),
         "line": draw.choice((0, 7))}
        for site in range(2) if draw.random() < 0.8
    ]  # fmt: skip
    call_sites = [
        {"rank": rank, "site": draw.choice((-1, 0, 1, 99)), "call": "MPI_Send", "count": 10,
         "size_bytes": draw.choice(SIZES[:5]), "bytes": draw.choice(SIZES), "time_s": end_s,
         "waiting_s": end_s / 2}
        for rank in range(ranks) if draw.random() < 0.8
    ]  # fmt: skip
    off_processor = [
        {"rank": rank, "start_s": end_s / 4, "end_s": end_s / 2, "in_call": draw.random() < 0.5,
         "off_s": draw.choice((0.0, end_s, 1e9)), "queued_s": draw.choice((0.0, end_s))}
        for rank in range(ranks) if draw.random() < 0.5
    ]  # fmt: skip
    return {"sites": sites, "call_sites": call_sites, "off_processor": off_processor}


def _sent(draw: random.Random, source: int, target: int) -> list[dict[str, Any]]:
    size, count = draw.choice(SIZES[:5]), draw.choice((1, 10, 10**6))
    both = {"size_bytes": size, "count": count, "bytes": size * count}
    return [
        {"call": "MPI_Send", "kind": "sent", "rank": source, "partner": target, **_waited(draw)}
        | both,
        {"call": "MPI_Recv", "kind": "received", "rank": target, "partner": source}
        | _waited(draw) | both,
    ]  # fmt: skip


def _waited(draw: random.Random) -> dict[str, float]:
    time_s = draw.choice((0.0, 1e-12, 1e-3, 1.0, 1e9))
    return {"time_s": time_s, "waiting_s": time_s * draw.choice((0, 0.5, 1)),
            "min_s": 0.0, "max_s": time_s}  # fmt: skip

"""Points of b_eff with the rates that a test wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from nhalf.results.b_eff import b_eff
from nhalf.store.keys import MEASUREMENT_COLUMNS
from tests.nhalf.results.b_eff.script import (
    LENGTHS,
    METHODS,
)


def frame(rows: list[dict[str, Any]]) -> pl.LazyFrame:
    """Rows as measurements, with what they do not say filled in."""
    usual: dict[str, Any] = {
        "run": "run", "transport": "model", "mpi": "", "pattern": "ring", "algorithm": "native",
        "ranks": 4, "placement": "cores", "axes": "", "bytes": 1, "launch": 0, "position": 0,
        "started_s": 0.0, "batch": 1, "messages_per_round": 1, "bytes_per_time": 1,
        "stop": "precision", "verified": True, "advice": [], "samples_s": [], "rank_s": [],
        "values": [],
    }  # fmt: skip
    return pl.DataFrame([usual | row for row in rows], schema=MEASUREMENT_COLUMNS).lazy()


def made_up(
    rate_Bps: Callable[[int, str, int, int], float], launches: int = 1, ranks: int = 4
) -> list[dict[str, Any]]:
    """Points whose messages move 1000 bytes; `rate_Bps` of pattern, method, length, launch."""
    return [
        {
            "ranks": ranks,
            "axes": f"method={method},ring={ring}",
            "bytes": size,
            "bytes_per_time": 1000,
            "launch": launch,
            "samples_s": [1000 / rate_Bps(ring, method, size, launch)] * 3,
        }
        for launch in range(launches)
        for ring in range(1, 37)
        for method in METHODS
        for size in LENGTHS
    ]


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = b_eff(frame(rows))
    return row

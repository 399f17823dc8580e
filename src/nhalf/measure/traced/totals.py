"""Calls of a program, summed by name: each counts once, also those that send and receive."""

from __future__ import annotations

from typing import Any

import polars as pl

SENT_AND_RECEIVED = "sent and received"
"""The kind of a call that does both (MPI_Sendrecv), which the tables keep in two rows."""
_SUMS = ("count", "bytes", "time_s", "waiting_s")


def totals(calls: pl.LazyFrame) -> list[dict[str, Any]]:
    """Sum count, bytes, time and waiting of each call and kind, the longest first."""
    frame = summed_by_call(calls).collect()
    return frame.sort("time_s", "call", descending=[True, False]).to_dicts()


def summed_by_call(calls: pl.LazyFrame, *keys: str) -> pl.LazyFrame:
    """Rows of the table of calls by keys, call and kind: the sums of `count`, `bytes`, `time_s` and
    `waiting_s`. A call that sends and receives is one row, with the bytes of both.
    """
    sends, receives = (pl.col("kind") == kind for kind in ("sent", "received"))
    does_both = (sends | receives) & sends.any().over("rank", "call")
    does_both &= receives.any().over("rank", "call")
    return (
        calls.with_columns(
            pl.when(does_both).then(pl.lit(SENT_AND_RECEIVED)).otherwise("kind").alias("kind"),
            pl.when(does_both & sends).then(0).otherwise("count").alias("count"),
        )
        .group_by(*keys, "call", "kind")
        .agg(pl.col(*_SUMS).sum())
    )

"""Message sizes of a program: each size, its share, and size classes."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program


@fact
def message_sizes(program: Program) -> pl.DataFrame:
    """One row per size of messages, the smallest first.

    Columns `size_bytes`, `messages`, `bytes` and the cumulative shares `messages_share` and
    `bytes_share` of messages of this size or smaller (0 to 1).
    """
    by_size = (
        program.messages.group_by("size_bytes")
        .agg(messages=pl.col("count").sum(), bytes=pl.col("bytes").sum())
        .sort("size_bytes")
    )
    return by_size.with_columns(
        messages_share=pl.col("messages").cum_sum() / pl.col("messages").sum(),
        bytes_share=pl.when(pl.col("bytes").sum() > 0)
        .then(pl.col("bytes").cum_sum() / pl.col("bytes").sum())
        .otherwise(1.0),
    )


def histogram(by_size: pl.DataFrame) -> pl.DataFrame:
    """The sizes in classes that double: columns `from_bytes`, `to_bytes`, `messages`, `bytes`.

    A class holds the sizes from `from_bytes` up to, not including, `to_bytes`; zero bytes form
    their own class, and classes without messages are left out.
    """
    lows = [1 << size.bit_length() >> 1 for size in by_size["size_bytes"]]
    classes = (
        by_size.with_columns(pl.Series("from_bytes", lows, dtype=pl.Int64))
        .group_by("from_bytes")
        .agg(pl.col("messages", "bytes").sum())
    )
    high = pl.when(pl.col("from_bytes") == 0).then(1).otherwise(pl.col("from_bytes") * 2)
    return classes.with_columns(to_bytes=high.cast(pl.Int64)).sort("from_bytes")


def median_bytes(by_size: pl.DataFrame) -> int:
    """The median message size; 0 without messages."""
    reached = by_size.filter(pl.col("messages_share") >= 0.5)
    return 0 if reached.is_empty() else int(reached["size_bytes"][0])


def share_below(by_size: pl.DataFrame, size_bytes: int) -> float:
    """The share of messages smaller than a size, 0 to 1."""
    total = int(by_size["messages"].sum())
    smaller = int(by_size.filter(pl.col("size_bytes") < size_bytes)["messages"].sum())
    return smaller / total if total else 0.0

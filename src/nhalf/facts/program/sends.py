"""Messages, bytes and number of destinations of each process."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program


@fact
def sends_by_rank(program: Program) -> pl.DataFrame:
    """One row per rank, including those that send nothing.

    Columns `rank`, `messages`, `bytes`, `mean_bytes` (null without messages), `destinations`.
    """
    sums = program.messages.group_by("rank").agg(
        messages=pl.col("count").sum(),
        bytes=pl.col("bytes").sum(),
        destinations=pl.col("partner").filter(pl.col("partner") >= 0).n_unique(),
    )
    all_ranks = pl.DataFrame({"rank": range(program.ranks)}, schema={"rank": pl.Int32})
    full = all_ranks.join(sums, on="rank", how="left").with_columns(
        pl.col("messages", "bytes").fill_null(0),
        pl.col("destinations").cast(pl.Int64).fill_null(0),
    )
    mean = pl.when(pl.col("messages") > 0).then(pl.col("bytes") / pl.col("messages"))
    return full.with_columns(mean_bytes=mean).sort("rank")


def spread(values: pl.Series) -> dict[str, float]:
    """Minimum, mean and maximum over the ranks."""
    if values.is_empty():
        return {"min": 0, "mean": 0.0, "max": 0}
    return {
        "min": values.min(),  # type: ignore[dict-item]
        "mean": float(values.mean() or 0),  # type: ignore[arg-type]
        "max": values.max(),  # type: ignore[dict-item]
    }


def destination_histogram(by_rank: pl.DataFrame) -> pl.DataFrame:
    """The number of ranks for each number of destinations: columns `destinations`, `ranks`."""
    return by_rank.group_by("destinations").agg(ranks=pl.len()).sort("destinations")

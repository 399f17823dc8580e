# SPDX-License-Identifier: Apache-2.0
"""Traffic of many ranks at once: one to all, all to one, and dense, phase by phase."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.store.axes import axis
from nhalf.store.values import value

FANS = ("one-to-many", "many-to-one", "many-to-many")
DENSE = ("dense-alltoall", "dense-pairwise", "dense-cumulative", "dense-random")
PHASE = r"^phase=\d+$"


@fact
def fans(facts: Facts) -> pl.DataFrame:
    """One row per point of FANS: columns of `Facts.sound`, `series`, `per_message_s`, `root_s`.

    `per_message_s` is the time of a round over the messages that one rank sends or receives in it;
    `root_s` is that of rank 0 alone, until its last message is sent or received, null if it was
    not measured (as with older probes).
    """
    points = facts.sound.filter(
        pl.col("pattern").is_in(FANS), pl.col("axes") == "", pl.col("ranks") > 1
    )
    per_message_s = pl.col("median_s") / (pl.col("ranks") - 1)
    return with_series(points.with_columns(value("root_s"), per_message_s=per_message_s), facts)


@fact
def phases(facts: Facts) -> pl.DataFrame:
    """One row per point of DENSE that moves data: `Facts.sound`, `series` and the integer `phase`.

    `active` is the number of ranks that send in it, while others may wait; `each_Bps` is the
    sending rate of each.
    """
    phase = axis("phase").cast(pl.Int64, strict=False).alias("phase")
    points = facts.sound.with_columns(phase).filter(
        pl.col("pattern").is_in(DENSE),
        pl.col("axes").str.contains(PHASE),
        pl.col("bytes") > 0,
        pl.col("bytes_per_time") > 0,
    )
    active = pl.col("bytes_per_time") // pl.col("bytes")
    each_Bps = pl.col("bytes") / pl.col("median_s")
    return with_series(points.with_columns(active=active, each_Bps=each_Bps), facts)

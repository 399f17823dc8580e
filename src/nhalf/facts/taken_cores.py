# SPDX-License-Identifier: Apache-2.0
"""Whether other processes used the cores during the measurement: flags then go unanswered."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.statistics.flags import PLACES

SHARE_LEAST = 0.1


@fact
def taken_share(facts: Facts) -> float:
    """The share of points' launches without an answer to their flag; 0 if it is small.

    Only cores that answered at other times count: others cannot pass flags at all.
    """
    can_pass = pl.col("flag_s").is_not_null().any().over(PLACES)
    flags = facts.flagged.filter(can_pass)["flag_s"]
    share = flags.null_count() / len(flags) if len(flags) else 0.0
    return share if share >= SHARE_LEAST else 0.0

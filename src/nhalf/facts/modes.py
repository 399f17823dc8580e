# SPDX-License-Identifier: Apache-2.0
"""The send modes, relative to the standard send of the same size in the same launch."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, with_series
from nhalf.store.keys import RUN_POINT, without

PAIRED = (*without(RUN_POINT, "pattern"), "launch")
MODE_WORDS = {
    "ssend": "synchronous",
    "bsend": "buffered",
    "rsend": "ready",
    "diffbuf": "changing buffers",
}


def mode_name(pattern: str) -> str:
    """'pingpong-ssend' -> 'synchronous (ssend)'; unknown modes keep their own name."""
    suffix = pattern.removeprefix(f"{MAIN_PATTERN}-")
    return f"{MODE_WORDS[suffix]} ({suffix})" if suffix in MODE_WORDS else suffix


@fact
def mode_ratios(facts: Facts) -> pl.DataFrame:
    """Per launch, each mode's median over the standard send's.

    Columns of a launch, `standard_s`, `ratio` and `series`.
    """
    launches = facts.launches.filter(pl.col("median_s") > 0)
    standard = launches.filter(pl.col("pattern") == MAIN_PATTERN)
    modes = launches.filter(pl.col("pattern").str.starts_with(f"{MAIN_PATTERN}-"))
    ratios = modes.join(
        standard.select(*PAIRED, standard_s="median_s"), on=PAIRED, nulls_equal=True
    ).with_columns(ratio=pl.col("median_s") / pl.col("standard_s"))
    return with_series(ratios, facts)

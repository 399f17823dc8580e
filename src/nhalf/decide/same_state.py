# SPDX-License-Identifier: Apache-2.0
"""Two runs of a machine that changes by itself: only what it did in the same state is compared.

Beside every point, probes measure what two cores need to pass one flag (native/core/flag.hpp), in
which no message library has a part. Virtual machines that move their cores about, and clocks that
change, show in it. Where flags of two runs fall into two groups, times are compared within the
group of which both runs have more; where they have no group in common, nothing can be said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.statistics.values import value
from nhalf.store.schema import POINT_COLUMNS

APART = 1.5
"""From this factor between the fastest and the slowest flag on there are two groups."""
STEADY = 1.25
"""Flags before and after a point that differ by more: the machine changed in between."""
LAUNCHES_MIN = 2
CURVE = [name for name in POINT_COLUMNS if name not in ("mpi", "bytes")]


@dataclass(frozen=True)
class SameState:
    """Launch medians of both runs in one state; `lost` are the curves that have none in common.

    `note` says in a sentence what was left out, '' where nothing was.
    """

    a: pl.DataFrame
    b: pl.DataFrame
    lost: tuple[dict[str, Any], ...] = ()
    note: str = ""


def with_flags(medians: pl.DataFrame, measurements: pl.LazyFrame) -> pl.DataFrame:
    """Launch medians with `flag_s`: null where it was not measured, NaN where it changed."""
    on = [*POINT_COLUMNS, "launch"]
    flags = (
        measurements.select(*on, value("flag_before_s"), value("flag_after_s"))
        .drop_nulls(["flag_before_s", "flag_after_s"])
        .with_columns(pl.col(pl.String).fill_null(""))
        .collect()
    )
    low = pl.min_horizontal("flag_before_s", "flag_after_s").min()
    high = pl.max_horizontal("flag_before_s", "flag_after_s").max()
    steady = flags.group_by(on).agg(
        flag_s=pl.when(high <= STEADY * low).then((low * high).sqrt()).otherwise(math.nan)
    )
    return medians.join(steady, on=on, how="left", nulls_equal=True)


def same_state(a: pl.DataFrame, b: pl.DataFrame) -> SameState:
    """Both frames have the columns of `launch_medians` and `flag_s`, one library of a run each.

    Curves that only one of both has are left out. Launches that remain of those that were divided
    are numbered anew, so that they can be paired.
    """
    a, b = (
        one.join(other.select(CURVE).unique(), on=CURVE, how="semi", nulls_equal=True)
        for one, other in ((a, b), (b, a))
    )
    known = [frame["flag_s"].drop_nulls().drop_nans() for frame in (a, b)]
    if any(flags.is_empty() for flags in known):
        return SameState(a.drop("flag_s"), b.drop("flag_s"))
    pooled = pl.concat(known).to_numpy()
    low, high = float(pooled.min()), float(pooled.max())
    if high < APART * low:
        return SameState(a.drop("flag_s"), b.drop("flag_s"))
    border_s = math.sqrt(low * high)
    left, right = (_grouped(frame, border_s) for frame in (a, b))
    counts = _counted(left, "a").join(_counted(right, "b"), on=[*CURVE, "far"], nulls_equal=True)
    best = (
        counts.with_columns(least=pl.min_horizontal("a", "b"))
        .filter(pl.col("least") >= LAUNCHES_MIN)
        .sort("least", "far", descending=[True, False])
        .unique(CURVE, keep="first", maintain_order=True)
        .select(*CURVE, "far")
    )
    both = a.select(CURVE).unique().join(b.select(CURVE).unique(), on=CURVE, nulls_equal=True)
    lost = both.join(best, on=CURVE, how="anti", nulls_equal=True).to_dicts()
    note = (
        f"the machine changed between two states: a flag between two cores took {low * 1e9:.0f} to "
        f"{high * 1e9:.0f} ns; times are compared within one state"
    )
    return SameState(_kept(left, best), _kept(right, best), tuple(lost), note)


def _grouped(frame: pl.DataFrame, border_s: float) -> pl.DataFrame:
    """With `far`: whether the flag was slow; without points during which the machine changed."""
    steady = frame.filter(pl.col("flag_s").is_not_null() & pl.col("flag_s").is_not_nan())
    return steady.with_columns(far=pl.col("flag_s") >= border_s)


def _counted(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The launches of every curve and state that have half of its sizes or more."""
    sizes = pl.col("bytes").n_unique()
    own = frame.with_columns(all_sizes=sizes.over(CURVE))
    launches = own.group_by([*CURVE, "far", "launch"]).agg(
        whole=2 * sizes >= pl.col("all_sizes").first()
    )
    return launches.group_by([*CURVE, "far"]).agg(pl.col("whole").sum().alias(name))


def _kept(frame: pl.DataFrame, best: pl.DataFrame) -> pl.DataFrame:
    """The rows of the chosen states, with launches numbered anew within each curve."""
    kept = frame.join(best, on=[*CURVE, "far"], nulls_equal=True)
    number = pl.col("launch").rank("dense").over(CURVE).cast(frame.schema["launch"]) - 1
    return kept.with_columns(launch=number).drop("flag_s", "far")

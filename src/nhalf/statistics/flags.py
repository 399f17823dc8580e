# SPDX-License-Identifier: Apache-2.0
"""States of the machine, as flags between two cores tell them.

Beside every point, probes measure what two cores need to pass one flag (native/timing/flag.hpp), in
which no message library has a part. Virtual machines that move their cores about, and clocks that
change, show in it: flags fall into groups with gaps between them, and each group is a state. States
last longer than launches and often longer than runs, so a value is of use only with its state.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.store.keys import RUN_POINT
from nhalf.store.values import value

APART = 1.5
"""From this factor between one flag and the next slower one on, a new group begins."""
STEADY = 1.25
"""Flags before and after a point that differ by more: the machine changed in between."""
SHARE_LEAST = 0.02
MANY = 10
"""Fewer flags than this share are no state, nor is one of so many: somebody came between."""
MISSED_MOST = 0.5
"""With fewer flags than that, states cannot be told: others kept the ranks from their cores."""
PLACES = ("run", "ranks", "placement")
"""Cores that pass flags are others where these differ."""


def steady_flag_s(before_s: float | None, after_s: float | None) -> float | None:
    """What a flag took, seconds: None where it was not measured, NaN where it changed."""
    if before_s is None or after_s is None:
        return None
    low_s, high_s = min(before_s, after_s), max(before_s, after_s)
    return math.sqrt(low_s * high_s) if high_s <= STEADY * low_s else math.nan


def with_flags(medians: pl.DataFrame, measurements: pl.LazyFrame) -> pl.DataFrame:
    """Launch medians with `flag_s`: null where it was not measured, NaN where it changed."""
    on = [*RUN_POINT, "launch"]
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
    return medians.join(steady, on=on, how="left", nulls_equal=True, maintain_order="left")


def mostly_missed(flags_s: pl.Series) -> bool:
    """Whether too few flags were measured to tell states."""
    return flags_s.null_count() > MISSED_MOST * len(flags_s)


def borders(flags_s: pl.Series) -> list[float]:
    """Between groups of flags: the middle of every gap, seconds; none where there is one group."""
    flags = flags_s.drop_nulls().drop_nans()
    if flags.is_empty():
        return []
    ordered = _grouped(np.sort(flags.to_numpy()))
    return [
        math.sqrt(one * following)
        for one, following in itertools.pairwise(ordered)
        if following >= APART * one
    ]


def with_states(flagged: pl.DataFrame) -> pl.DataFrame:
    """Launch medians with `flag_s`, and in which state each was measured.

    Adds `state_s`, the middle flag of the launch's state: null where there is none, NaN where the
    machine changed between several. `counts` is whether the launch is in the state that is
    reported of its point: the one that most of the run was measured in, and where a point has fewer
    than two launches in it, its own most frequent one.
    """
    parts = flagged.with_row_index("row").partition_by(PLACES, maintain_order=True)
    stated = [_with_state(part) for part in parts]
    if not stated:
        kinds = {"state_s": pl.Float64(), "counts": pl.Boolean()}
        return flagged.with_columns(pl.lit(None, kind).alias(name) for name, kind in kinds.items())
    return pl.concat(stated).sort("row").drop("row")


def _grouped(ordered: Floats) -> Floats:
    """Increasing flags without those that have too few beside them to be a group."""
    few = max(2.0 if len(ordered) >= MANY else 1.0, SHARE_LEAST * len(ordered))
    near = math.sqrt(APART)
    beside = np.searchsorted(ordered, ordered * near) - np.searchsorted(ordered, ordered / near)
    kept: Floats = ordered[beside >= few]
    return kept


def _with_state(part: pl.DataFrame) -> pl.DataFrame:
    """The launches on the same cores, with `state_s` and `counts`."""
    edges_s = borders(part["flag_s"])
    flag = pl.col("flag_s")
    steady = flag.is_not_null() & flag.is_not_nan()
    if not edges_s or mostly_missed(part["flag_s"]):
        return part.with_columns(state_s=flag.filter(steady).median(), counts=pl.lit(True))
    number = pl.sum_horizontal([flag >= edge for edge in edges_s])
    part = part.with_columns(state_number=pl.when(steady).then(number).otherwise(-1).cast(pl.Int64))
    middle = flag.filter(steady).median().over("state_number")
    part = part.with_columns(state_s=pl.when(flag.is_not_null()).then(middle.fill_null(math.nan)))
    known = part.filter(pl.col("state_number") >= 0)
    # The quicker one of equals.
    found = known["state_number"].value_counts()
    main_number = found.sort("count", "state_number", descending=[True, False])["state_number"][0]
    of_point = known.group_by(RUN_POINT).agg(
        own=pl.col("state_number").mode().min(),
        main=(pl.col("state_number") == main_number).sum(),
        of=pl.len(),
    )
    enough = pl.col("main") >= pl.min_horizontal(2, "of")
    chosen_number = pl.when(enough).then(main_number).otherwise("own")
    chosen = of_point.select(*RUN_POINT, chosen_number=chosen_number)
    part = part.join(chosen, on=RUN_POINT, how="left", nulls_equal=True, maintain_order="left")
    counts = pl.col("state_number") == pl.col("chosen_number").fill_null(-1)
    # A launch whose flag was missed is in some state: better than having one launch alone.
    alone = (counts.sum() < 2).over(RUN_POINT) & flag.is_null().any().over(RUN_POINT)
    return part.with_columns(counts=counts | alone).drop("state_number", "chosen_number")

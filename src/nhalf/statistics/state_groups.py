"""Groups of a witness's readings with gaps between them: the states of a machine."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats

APART = 1.5
"""A new group begins where a flag is slower than the next faster one by this factor or more."""
SHARE_LEAST = 0.02
MANY = 10
"""A smaller share of flags is not a state, nor is a single one of several: a disturbance."""


def borders(flags_s: pl.Series, apart: float = APART) -> list[float]:
    """Borders between groups of flags: the geometric mean of every gap's ends, seconds.

    One group has no border; groups are `apart` times as long. Clocks have borders as flags do.
    """
    flags = flags_s.drop_nulls().drop_nans()
    if flags.is_empty():
        return []
    ordered = _grouped(np.sort(flags.to_numpy()), apart)
    return [
        math.sqrt(flag_s * next_flag_s)
        for flag_s, next_flag_s in itertools.pairwise(ordered)
        if next_flag_s >= apart * flag_s
    ]


def shares(flags_s: pl.Series, borders_s: Sequence[float]) -> list[tuple[float, float]]:
    """The median flag of each group between borders and its share, the most frequent first."""
    flags = flags_s.drop_nulls().drop_nans().to_numpy()
    groups = np.searchsorted(np.asarray(borders_s), flags, side="right")
    medians = [
        (float(np.median(flags[groups == group])), float(np.mean(groups == group)))
        for group in np.unique(groups)
    ]
    return sorted(medians, key=lambda state: -state[1])


def _grouped(ordered: Floats, apart: float) -> Floats:
    """Sorted flags that have enough others near them to be a group."""
    group_size_min = max(2.0 if len(ordered) >= MANY else 1.0, SHARE_LEAST * len(ordered))
    near = math.sqrt(apart)
    beside = np.searchsorted(ordered, ordered * near) - np.searchsorted(ordered, ordered / near)
    in_groups: Floats = ordered[beside >= group_size_min]
    return in_groups

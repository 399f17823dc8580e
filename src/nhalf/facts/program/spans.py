"""Spans of time in order, each with an amount of time that is spread evenly over it."""

from __future__ import annotations

import numpy as np

from nhalf.base.arrays import Floats


def amounts_until_s(
    starts_s: Floats, ends_s: Floats, amounts_s: Floats, moments_s: Floats
) -> Floats:
    """The amounts of all spans up to each moment; the spans do not overlap."""
    if not len(starts_s):
        return np.zeros(len(moments_s))
    edges_s = np.column_stack([starts_s, ends_s]).ravel()
    before_s = np.concatenate([[0.0], np.cumsum(amounts_s)])
    sums_s = np.column_stack([before_s[:-1], before_s[1:]]).ravel()
    until_s: Floats = np.interp(moments_s, edges_s, sums_s)
    return until_s

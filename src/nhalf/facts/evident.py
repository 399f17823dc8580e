# SPDX-License-Identifier: Apache-2.0
"""The changes of a model that the launches prove: a fit may follow noise where they do not.

A jump is proven if its interval over launches excludes no jump, a bend if the intervals of the
rates on its two sides do not overlap. One launch proves nothing.
"""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.jumps import jump_ratios
from nhalf.machines.machine import Breakpoint, FittedModel, Segment
from nhalf.store.keys import RUN_CURVE

CONFIDENCE = 0.99
"""Confidence required of a jump, since the fit chose the place where it is largest."""


@fact
def evident_changes(facts: Facts, model: FittedModel) -> list[Breakpoint]:
    """The breaks of a fitted curve without those that may be noise."""
    if not model.breakpoints:
        return []
    launches = launches_of(model, facts.launches)
    sides = zip(model.breakpoints, model.segments, model.segments[1:], strict=False)
    return [
        change
        for change, before, after in sides
        if jumps(launches, before, after) or (change.kind == "bend" and bends(before, after))
    ]


def launches_of(model: FittedModel, launches: pl.DataFrame) -> pl.DataFrame:
    """The launch medians of the curve that a model describes."""
    is_of_model = [pl.col(name) == getattr(model, name) for name in RUN_CURVE]
    return launches.filter(pl.col("median_s") > 0, *is_of_model)


def jumps(launches: pl.DataFrame, before: Segment, after: Segment) -> bool:
    """Whether the time rises more, or less, than the sizes before it can explain."""
    costs, saves = jump_ratios(launches, before, after, CONFIDENCE)
    return (costs is not None and costs.low > 1) or (saves is not None and saves.high < 1)


def bends(before: Segment, after: Segment) -> bool:
    """Whether the rates differ; they do not if one of them has no interval."""
    if before.r_inf_ci is None or after.r_inf_ci is None:
        return False
    return before.r_inf_ci[1] < after.r_inf_ci[0] or after.r_inf_ci[1] < before.r_inf_ci[0]

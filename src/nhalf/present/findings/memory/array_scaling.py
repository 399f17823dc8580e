# SPDX-License-Identifier: Apache-2.0
"""How the rate of shared arrays accessed through casts scales with cores."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.memory import Scaling, cast_scaling
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between

NEAR_LINEAR = 0.9
"""The share of a rate proportional to the ranks that counts as near-linear."""


class ArrayScaling(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, cast_scaling(facts))


def _finding(scaling: Scaling) -> Finding:
    cast, ordinary = scaling.cast, scaling.ordinary
    beside = f", ordinary arrays {times(ordinary.median)}" if ordinary else ""
    linear = "near-linear" if cast.low >= NEAR_LINEAR * scaling.ranks else "less than linear"
    if ordinary and cast.low < NEAR_LINEAR * scaling.ranks and cast.high >= ordinary.low:
        linear += ", as memory itself allows"
    return Finding(
        f"Shared arrays through casts: {scaling.kernel} of {format_size(scaling.size_bytes)} on "
        f"{scaling.ranks} ranks has {times(cast.median)} the rate of one ({between(cast)}){beside} "
        f"on {scaling.series}: {linear}.",
        importance=41,
        kind="array-scaling",
        label="Global arrays over cores",
        interval=cast,
        mpi=scaling.mpi,
        pattern=f"array-{scaling.kernel}",
        size_bytes=scaling.size_bytes,
    )

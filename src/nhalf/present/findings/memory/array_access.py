# SPDX-License-Identifier: Apache-2.0
"""The cost of each way to access shared arrays, compared with casts to ordinary pointers."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.difference import COSTLY
from nhalf.facts.facts import Facts
from nhalf.facts.memory import AccessCost, costly_accesses
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, way_name, weight


class ArrayAccess(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, costly_accesses(facts))


def _finding(cost: AccessCost) -> Finding:
    ratio, cast = cost.ratio, cost.cast
    casts = f"; casts take {times(cast.median)} ({between(cast)})" if cast else ""
    better = cast is not None and cast.high < ratio.low
    near = cast is not None and cast.high < COSTLY
    remedy = "Cast to ordinary pointers where a loop stays with its rank's elements."
    return Finding(
        f"Shared arrays, {way_name(cost.way, cost.block)}: {cost.kernel} of "
        f"{format_size(cost.size_bytes)} takes {times(ratio.median)} the time of ordinary arrays "
        f"on {cost.series} ({between(ratio)}){casts}" + (": as fast." if near else "."),
        importance=weight(ratio.median, 40, 60),
        kind="array-access",
        label="Global arrays",
        remedy=remedy if better else "",
        interval=ratio,
        mpi=cost.mpi,
        pattern=f"array-{cost.kernel}",
        size_bytes=cost.size_bytes,
    )

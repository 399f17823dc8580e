# SPDX-License-Identifier: Apache-2.0
"""Why launches differ, as far as a run can tell: what it is not, and what averages it out."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.facts.certainty.precision import reach
from nhalf.facts.certainty.spread_parts import SpreadParts, spread_parts
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding

BELOW_PRECISION = 24
"""Importance: right after the precision that was reached."""


class SpreadOfLaunches(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        parts = spread_parts(facts)
        if reach(facts) is None or not parts:
            return
        widest = parts[0]
        title = facts.titles.get(widest.mpi, widest.mpi)
        visits = f"{title}: visits" if title else "Visits"
        yield Finding(
            f"{visits} of one launch differ by {percent(widest.visit_share)}, launches by "
            f"another {percent(widest.launch_share)}: {_why(widest)}.",
            importance=BELOW_PRECISION,
            kind="launches-differ",
            label="Spread of launches",
            value=widest.launch_share,
            figure=percent(widest.launch_share),
            mpi=widest.mpi,
        )


def _why(parts: SpreadParts) -> str:
    """What it is not, as far as that is known, and what averages it out."""
    cores = {
        True: "it is not the cores, which were the same in all launches; ",
        False: "launches had different cores; ",
        None: "",
    }[parts.same_cores]
    if parts.launch_share > parts.visit_share and parts.common_share is not None:
        return (
            f"{cores}libraries side by side were slow in the same launches (correlation "
            f"{parts.common_share:.1f}), so the machine changes slowly, and only launches over a "
            "longer time average that out"
        )
    if parts.launch_share > parts.visit_share:
        return (
            f"{cores}times stay for a launch, by what its start draws (as memory pages) or by slow "
            "changes of the machine, and only more launches average that out"
        )
    return f"{cores}times differ as much within a launch, and more visits average that out, too"

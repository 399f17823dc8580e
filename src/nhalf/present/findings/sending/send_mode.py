# SPDX-License-Identifier: Apache-2.0
"""One finding per send mode that costs or saves, the worst library first."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.facts.facts import Facts
from nhalf.facts.sending import ModeCost, costly_modes, mode_name
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight


class SendMode(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for pattern, costs in costly_modes(facts):
            yield _mode(pattern, costs)


def _mode(pattern: str, costs: list[ModeCost]) -> Finding:
    worst, *further = costs
    ratio = worst.ratio
    also = ", ".join(
        f"{cost.series} ({times(cost.ratio.median)}, {cost.size_class})" for cost in further
    )
    mode = mode_name(pattern)
    if pattern.endswith("-diffbuf"):
        subject = "Changing the buffer costs"
        remedy = "Reuse one buffer: that is the standard case."
    else:
        subject = f"A {mode} send costs" if "(" in mode else f"{mode} costs"
        remedy = "Use the standard send where the program allows it."
    return Finding(
        f"{subject} {times(ratio.median)} the standard send for {worst.size_class} messages on "
        f"{worst.series} ({between(ratio)})" + (f"; also {also}." if also else "."),
        importance=weight(ratio.median, 40, 60),
        kind="send-mode",
        label="Send mode",
        remedy=remedy,
        interval=ratio,
        mpi=worst.mpi,
        pattern=pattern,
    )

# SPDX-License-Identifier: Apache-2.0
"""The table of Livermore kernels: bound, measured at each level of optimisation, and advice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.machines.processor import Processor
from nhalf.node.livermore.corpus import KernelBound, kernel_bounds
from nhalf.node.livermore.ladders import Ladder, gaps
from nhalf.node.livermore.timing import Build, Timing, builds, check_sums, timings

ADVICE = {
    "fp": "block for registers or vectorise (-O3 -march=native)",
    "mem": "merge loops and block, so that values are used while they are in registers",
    "issue": "unroll and vectorise, so that fewer instructions do the same",
    "dep": "break the chain: unroll with partial results, or solve several systems at once",
    "fixed": "keep addresses in registers: unroll",
}
"""What helps where a unit is the limit, and the compiler has come close to it."""
CLOSE_RATIO = 0.8


@dataclass(frozen=True)
class Row:
    """A kernel: what bounds it, and what each build takes."""

    bound: KernelBound
    timings: tuple[Timing, ...]
    ladders: tuple[Ladder, ...] = ()

    def ladder(self, timing: Timing) -> Ladder | None:
        """The rungs between the bound and a time; None where they are not known."""
        return next((one for one in self.ladders if one.build == timing.build), None)

    def share(self, timing: Timing) -> float | None:
        """How much of the bounding rate is reached, 1 at the bound; None without a bound."""
        cycles = self.bound.cycles
        return cycles / timing.cycles_per_iteration if cycles else None

    @property
    def advice(self) -> str:
        """What to try next with the fastest build."""
        shares = [share for one in self.timings if (share := self.share(one)) is not None]
        if not shares:
            return self.bound.reason
        if max(shares) >= CLOSE_RATIO:
            return ADVICE[self.bound.limits[0]]
        return "the compiler loses most: see its vectoriser's report, unroll, prefetch"


def measured(processor: Processor | None, progress: Callable[[str], None]) -> list[Row]:
    """Run all kernels in all builds that can be made here, and put them beside their bounds.

    `progress` is told what comes next. Raises FailedError where check sums differ, and
    MissingError where nothing can be compiled.
    """
    bounds = kernel_bounds(processor)
    found: list[Timing] = []
    for build in builds():
        progress(build.title)
        found += timings(build)
    check_sums(found)
    return rows(bounds, found)


def rows(bounds: Sequence[KernelBound], timed: Sequence[Timing]) -> list[Row]:
    """A row for each kernel."""
    return [
        Row(one, tuple(timing for timing in timed if timing.number == one.number)) for one in bounds
    ]


def as_json(table: Sequence[Row]) -> list[dict[str, Any]]:
    """The table as scripts read it: cycles per iteration, shares of the bounding rate."""
    return [
        {
            "kernel": row.bound.number,
            "title": row.bound.title,
            "cycles": row.bound.cycles,
            "limit": next(iter(row.bound.limits), None),
            "reason": row.bound.reason,
            "advice": row.advice,
            "measured": [_timing_json(row, timing) for timing in row.timings],
        }
        for row in table
    ]


def _timing_json(row: Row, timing: Timing) -> dict[str, Any]:
    ladder = row.ladder(timing)
    seconds = timing.cycles_per_iteration / timing.clock_hz
    return {
        "compiler": timing.build.compiler,
        "level": " ".join(timing.build.level),
        "mac_cycles": ladder.emitted_cycles if ladder else None,
        "macs_cycles": ladder.scheduled_cycles if ladder else None,
        "cycles": timing.cycles_per_iteration,
        "gaps": gaps(row.bound, ladder, timing) if ladder else [],
        "mflops": row.bound.flops / seconds / 1e6,
        "share": row.share(timing),
        "sum": timing.value,
        "clock_hz": timing.clock_hz,
    }


def used(table: Sequence[Row]) -> list[Build]:
    """The builds of a table in their order."""
    return list(dict.fromkeys(timing.build for row in table for timing in row.timings))

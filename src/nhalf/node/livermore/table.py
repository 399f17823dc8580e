# SPDX-License-Identifier: Apache-2.0
"""The table of Livermore kernels: bound, measured at each level of optimisation, and advice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.machines.processor import Processor
from nhalf.node.ladder.builds import Build, builds, tuned_builds
from nhalf.node.ladder.climb import Climb
from nhalf.node.ladder.climbing import climb
from nhalf.node.livermore.corpus import KernelBound, kernel_bounds
from nhalf.node.livermore.ladders import Ladder, ladders
from nhalf.node.livermore.timing import Timing, check_sums, timings
from nhalf.node.livermore.tuned import TUNED

ADVICE = {
    "fp": "block for registers or vectorise (-O3 -march=native)",
    "mem": "merge loops and block, so that values are used while they are in registers",
    "issue": "unroll and vectorise, so that fewer instructions do the same",
    "dep": "break the chain: unroll with partial results, substitute one iteration into the next, "
    "or solve several systems at once",
    "fixed": "keep addresses in registers: unroll",
}
"""What helps where a unit is the limit, and the compiler has come close to it."""
CLOSE_RATIO = 0.8
UNKNOWN = "the compiler loses most: see its vectoriser's report"


@dataclass(frozen=True)
class Row:
    """A kernel: what bounds it, and what each build takes."""

    bound: KernelBound
    timings: tuple[Timing, ...]
    ladders: tuple[Ladder, ...] = ()

    def climb(self, timing: Timing) -> Climb:
        """All rungs from the bound to a time."""
        ladder = next((one for one in self.ladders if one.build == timing.build), None)
        loops = ladder.loops if ladder else ()
        followed_cycles = ladder.executed_cycles if ladder else None
        measured_cycles = timing.cycles_per_iteration
        return climb(self.bound.loops, loops, timing.build, measured_cycles, followed_cycles)

    def share(self, timing: Timing) -> float | None:
        """How much of the bounding rate is reached, 1 at the bound; None without a bound."""
        return self.climb(timing).share

    @property
    def plain(self) -> tuple[Timing, ...]:
        """The builds of the source as it was defined."""
        return tuple(one for one in self.timings if not one.build.is_tuned)

    @property
    def fastest(self) -> Timing:
        """The quickest of these."""
        return min(self.plain, key=lambda one: one.cycles_per_iteration)

    @property
    def tuned(self) -> Timing | None:
        """The quickest build of the transformed source; None if there is none."""
        found = [one for one in self.timings if one.build.is_tuned]
        return min(found, key=lambda one: one.cycles_per_iteration, default=None)

    @property
    def advice(self) -> str:
        """What to try next with the fastest build."""
        shares = [share for one in self.plain if (share := self.share(one)) is not None]
        if not shares:
            return self.bound.reason
        if max(shares) >= CLOSE_RATIO:
            return ADVICE[self.bound.limits[0]]
        gaps = self.climb(self.fastest).gaps()
        return str(max(gaps, key=lambda one: one.ratio)) if gaps else UNKNOWN


def measured(processor: Processor | None, progress: Callable[[str], None]) -> list[Row]:
    """Run all kernels in all builds that can be made here, and put them beside their bounds.

    `progress` is called with what comes next. Raises FailedError if check sums differ, and
    MissingError where nothing can be compiled.
    """
    bounds = kernel_bounds(processor)
    found: list[Timing] = []
    emitted: list[Ladder] = []
    for build in (*builds(), *tuned_builds()):
        progress(build.title)
        found += timings(build)
        emitted += ladders(build, processor) if processor else ()
    check_sums(found)
    return rows(bounds, found, emitted)


def rows(
    bounds: Sequence[KernelBound], timed: Sequence[Timing], emitted: Sequence[Ladder] = ()
) -> list[Row]:
    """A row for each kernel."""
    return [
        Row(
            bound,
            tuple(one for one in timed if one.number == bound.number),
            tuple(one for one in emitted if one.number == bound.number),
        )
        for bound in bounds
    ]


def remedies(bound: KernelBound, climbs: Iterable[Climb]) -> list[str]:
    """All that may help: against the unit that limits the loop, and against each gap."""
    against = [ADVICE[unit] for unit in bound.limits]
    return list(dict.fromkeys([*against, *(gap.remedy for one in climbs for gap in one.gaps())]))


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
            "remedies": remedies(row.bound, [row.climb(one) for one in row.plain]),
            "transformations": list(TUNED.get(row.bound.number, ())),
            "measured": [_timing_json(row, timing) for timing in row.timings],
        }
        for row in table
    ]


def _timing_json(row: Row, timing: Timing) -> dict[str, Any]:
    found = row.climb(timing)
    seconds = timing.cycles_per_iteration / timing.clock_hz
    return {
        "compiler": timing.build.compiler,
        "tuned": timing.build.is_tuned,
        "level": " ".join(timing.build.level),
        "mac_cycles": found.emitted_cycles,
        "macs_cycles": found.scheduled_cycles,
        "cycles": timing.cycles_per_iteration,
        "gaps": [str(one) for one in found.gaps()],
        "mflops": row.bound.flops / seconds / 1e6,
        "share": row.share(timing),
        "sum": timing.value,
        "clock_hz": timing.clock_hz,
    }


def used(table: Sequence[Row]) -> list[Build]:
    """The builds of a table in their order."""
    return list(dict.fromkeys(timing.build for row in table for timing in row.timings))

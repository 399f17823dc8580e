# SPDX-License-Identifier: Apache-2.0
"""The ladders of the loops of a user's file, in every build that can be made here."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import FailedError, MissingError
from nhalf.machines.processor import Processor
from nhalf.node.bound.bounds import Bound
from nhalf.node.ladder.builds import Build, builds
from nhalf.node.ladder.climb import Climb
from nhalf.node.ladder.climbing import climb
from nhalf.node.ladder.execution import Execution, cycles_of, followed_cycles
from nhalf.node.ladder.rungs import READABLE, listing, rungs


@dataclass(frozen=True)
class Ladder:
    """One loop in one build."""

    bound: Bound
    build: Build
    climb: Climb


@dataclass(frozen=True)
class Ladders:
    """Loop by loop, build by build; `reasons` say what is missing and why."""

    found: tuple[Ladder, ...] = ()
    reasons: tuple[str, ...] = ()

    def of(self, bound: Bound) -> list[Ladder]:
        """Those of one loop."""
        return [one for one in self.found if one.bound is bound]


def ladders(
    path: Path, bounds: Sequence[Bound], processor: Processor, execution: Execution | None
) -> Ladders:
    """The rungs that can be had: what was emitted on x86-64, and times with an `execution`."""
    found: list[Ladder] = []
    reasons: dict[str, None] = {}
    try:
        every = builds() if platform.machine() in READABLE else []
    except MissingError as error:
        return Ladders(reasons=(error.message,))
    for build in every:
        try:
            text = listing(build.compiler, build.level, path)
        except FailedError as error:
            reasons[error.message] = None
            continue
        times = _times(build, bounds, execution, reasons)
        followed = _followed(build, bounds, processor, execution, reasons) if times else {}
        emitted = rungs(text, [one.counts for one in bounds], processor, build.is_optimised)
        for one, loop in zip(bounds, emitted, strict=True):
            if loop is not None:
                line = one.counts.line
                rung = climb([one], [loop], build, times.get(line), followed.get(line))
                found.append(Ladder(one, build, rung))
    return Ladders(tuple(found), tuple(reasons))


def _times(
    build: Build, bounds: Sequence[Bound], execution: Execution | None, reasons: dict[str, None]
) -> Mapping[int, float]:
    """Cycles of an iteration by the line of its loop, where it can be run."""
    if execution is None:
        return {}
    try:
        return cycles_of(execution, build, [one.counts for one in bounds])
    except FailedError as error:
        reasons[f"not run: {error.message}"] = None
        return {}


def _followed(
    build: Build,
    bounds: Sequence[Bound],
    processor: Processor,
    execution: Execution | None,
    reasons: dict[str, None],
) -> Mapping[int, float]:
    """Cycles of an iteration at least by the line of its loop, where it can be followed."""
    if execution is None:
        return {}
    try:
        return followed_cycles(execution, build, processor, [one.counts for one in bounds])
    except FailedError as error:
        reasons[f"MACS without what is executed: {error.message}"] = None
        return {}

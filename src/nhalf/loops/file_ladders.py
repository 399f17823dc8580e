"""Ladders of the loops of a user's file, in every build that can be made here."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import FailedError, MissingError
from nhalf.loops.builds import Build, builds
from nhalf.loops.climb import Climb
from nhalf.loops.execution import Execution, cycles_of, followed_cycles
from nhalf.loops.rungs import READABLE, climb, listing, rungs
from nhalf.loops.source.ma_bounds import Bound
from nhalf.machines.processor import Processor


@dataclass(frozen=True)
class LoopLadder:
    """The climb of one loop in one build."""

    bound: Bound
    build: Build
    climb: Climb


@dataclass(frozen=True)
class Ladders:
    """Ladders by loop and build; `reasons` say what is missing and why."""

    ladders: tuple[LoopLadder, ...] = ()
    reasons: tuple[str, ...] = ()

    def of(self, bound: Bound) -> list[LoopLadder]:
        """The ladders of one loop."""
        return [ladder for ladder in self.ladders if ladder.bound is bound]


def ladders(
    path: Path, bounds: Sequence[Bound], processor: Processor, execution: Execution | None
) -> Ladders:
    """Ladders with emitted operations on x86-64, and with times if there is an `execution`."""
    found_ladders: list[LoopLadder] = []
    reasons: dict[str, None] = {}
    try:
        possible_builds = builds() if platform.machine() in READABLE else []
    except MissingError as error:
        return Ladders(reasons=(error.message,))
    for build in possible_builds:
        try:
            text = listing(build.compiler, build.level, path)
        except FailedError as error:
            reasons[error.message] = None
            continue
        times = _times(build, bounds, execution, reasons)
        followed = _followed(build, bounds, processor, execution, reasons) if times else {}
        emitted = rungs(text, [bound.counts for bound in bounds], processor, build.is_optimised)
        for bound, loop in zip(bounds, emitted, strict=True):
            if loop is not None:
                line = bound.counts.line
                climbed = climb([bound], [loop], build, times.get(line), followed.get(line))
                found_ladders.append(LoopLadder(bound, build, climbed))
    return Ladders(tuple(found_ladders), tuple(reasons))


def _times(
    build: Build, bounds: Sequence[Bound], execution: Execution | None, reasons: dict[str, None]
) -> Mapping[int, float]:
    """Measured cycles of an iteration by the line of its loop; empty if it cannot be run."""
    if execution is None:
        return {}
    try:
        return cycles_of(execution, build, [bound.counts for bound in bounds])
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
    """Fewest cycles of an iteration by the line of its loop; empty if it cannot be followed."""
    if execution is None:
        return {}
    try:
        return followed_cycles(execution, build, processor, [bound.counts for bound in bounds])
    except FailedError as error:
        reasons[f"MACS without what is executed: {error.message}"] = None
        return {}

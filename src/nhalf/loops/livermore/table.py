"""The Livermore kernels: the ladder of each in each build, to its time, and the table of all."""

import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base import native_files
from nhalf.base.errors import FailedError
from nhalf.base.launch.survivor import Survivor
from nhalf.loops.builds import Build, builds, tuned_builds
from nhalf.loops.climb import Climb
from nhalf.loops.livermore.corpus import FOLDER, KernelBound, kernel_bounds, sources_of
from nhalf.loops.livermore.timing import KernelTiming, check_sums, timings
from nhalf.loops.livermore.titles import EXPLANATIONS, TUNED
from nhalf.loops.rungs import READABLE, Rungs, climb, listing, rungs
from nhalf.loops.schedule.executed import assembled, followed
from nhalf.loops.source.program import read_program
from nhalf.machines.processor import Processor


def executed_cycles(
    build: Build, listings: Mapping[int, str], processor: Processor, numbers: Iterable[int]
) -> Iterator[tuple[int, float]]:
    """Cycles of an iteration of the innermost loops of some kernels, with their numbers.

    `listings` are those of all kernels. Raises FailedError if they cannot be assembled or run.
    """
    driver = native_files.include_folder() / FOLDER / "driver.c"
    with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as name:
        folder = Path(name)
        listings_by_name = {
            f"kernel_{number:02d}": text for number, text in sorted(listings.items())
        }
        program = assembled(build, listings_by_name, folder, ["-DNHALF_TRACE", str(driver)])
        for number in numbers:
            text = listings[number]
            try:
                command = [str(program), str(number), "0", "1", "0"]
                trace = followed(command, text, processor, folder)
            except FailedError as error:
                reason = f"kernel {number} cannot be followed: {error.message}"
                raise FailedError(reason) from None
            yield number, trace.pass_cycles / trace.report["iterations"]


@dataclass(frozen=True)
class KernelCode:
    """The code emitted for a kernel in one build, by its innermost loops.

    `executed_cycles` are those of an iteration from a trace of the kernel's instructions; None if
    it could not be traced.
    """

    number: int
    build: Build
    loops: tuple[Rungs, ...]
    executed_cycles: float | None = None


def ladders(build: Build, processor: Processor) -> Iterator[KernelCode]:
    """The ladders of all kernels that can be read, in one build; none on other processors."""
    if platform.machine() not in READABLE:
        return
    written = sources_of(build)
    numbers = TUNED if build.is_tuned else written
    listings = {
        number: listing(build.compiler, build.level, source) for number, source in written.items()
    }
    followed: dict[int, float] = {}
    with suppress(FailedError):
        followed.update(executed_cycles(build, listings, processor, numbers))
    for number in numbers:
        loops = _loops(written[number], listings[number], build, processor)
        if loops or number in followed:
            yield KernelCode(number, build, loops, followed.get(number))


def _loops(source: Path, text: str, build: Build, processor: Processor) -> tuple[Rungs, ...]:
    """The rungs of all innermost loops; none if one of them cannot be read or found.

    Transformed loops differ from those of the source that the bound is about.
    """
    if build.is_tuned:
        return ()
    program = read_program(source)
    if program.refusals:
        return ()
    loops = rungs(text, program.loops, processor, build.is_optimised)
    readable = tuple(loop_rungs for loop_rungs in loops if loop_rungs is not None)
    return readable if len(readable) == len(program.loops) else ()


ADVICE = {
    "fp": "block for registers or vectorise (-O3 -march=native)",
    "mem": "merge loops and block, so that values are used while they are in registers",
    "issue": "unroll and vectorise, so that fewer instructions do the same",
    "dep": "break the chain: unroll with partial results, substitute one iteration into the next, "
    "or solve several systems at once",
    "fixed": "keep addresses in registers: unroll",
}
"""Remedies by limiting unit, if the compiled code comes close to its limit."""
CLOSE_RATIO = 0.8
UNKNOWN = "the compiler loses most: see its vectoriser's report"


@dataclass(frozen=True)
class Row:
    """A kernel: its bound, and the times of each build."""

    bound: KernelBound
    timings: tuple[KernelTiming, ...]
    ladders: tuple[KernelCode, ...] = ()

    def climb(self, timing: KernelTiming) -> Climb:
        """All rungs from the bound to a time."""
        ladder = next((ladder for ladder in self.ladders if ladder.build == timing.build), None)
        loops = ladder.loops if ladder else ()
        followed_cycles = ladder.executed_cycles if ladder else None
        measured_cycles = timing.cycles_per_iteration
        return climb(self.bound.loops, loops, timing.build, measured_cycles, followed_cycles)

    def share(self, timing: KernelTiming) -> float | None:
        """The share of the bounding rate that is reached, 1 at the bound; None without a bound."""
        return self.climb(timing).share

    @property
    def plain(self) -> tuple[KernelTiming, ...]:
        """The builds of the source as it was defined."""
        return tuple(timing for timing in self.timings if not timing.build.is_tuned)

    @property
    def fastest(self) -> KernelTiming:
        """The fastest build of the source as it was defined."""
        return min(self.plain, key=lambda timing: timing.cycles_per_iteration)

    @property
    def tuned(self) -> KernelTiming | None:
        """The fastest build of the transformed source; None if there is none."""
        tuned = [timing for timing in self.timings if timing.build.is_tuned]
        return min(tuned, key=lambda timing: timing.cycles_per_iteration, default=None)

    @property
    def advice(self) -> str:
        """What to try next with the fastest build."""
        shares = [share for timing in self.plain if (share := self.share(timing)) is not None]
        if not shares:
            return self.bound.reason
        if max(shares) >= CLOSE_RATIO:
            return ADVICE[self.bound.limits[0]]
        gaps = self.climb(self.fastest).gaps()
        return str(max(gaps, key=lambda gap: gap.ratio)) if gaps else UNKNOWN


def measured(processor: Processor | None, progress: Callable[[str], None]) -> list[Row]:
    """Run all kernels in all builds that can be made here, and compare them with their bounds.

    `progress` is called with the title of the next build. Raises FailedError if check sums differ,
    and MissingError if nothing can be compiled.
    """
    bounds = kernel_bounds(processor)
    timed: list[KernelTiming] = []
    emitted: list[KernelCode] = []
    for build in (*builds(), *tuned_builds()):
        progress(build.title)
        timed += timings(build)
        emitted += ladders(build, processor) if processor else ()
    check_sums(timed)
    return rows(bounds, timed, emitted)


def rows(
    bounds: Sequence[KernelBound], timed: Sequence[KernelTiming], emitted: Sequence[KernelCode] = ()
) -> list[Row]:
    """A row for each kernel."""
    return [
        Row(
            bound,
            tuple(timing for timing in timed if timing.number == bound.number),
            tuple(ladder for ladder in emitted if ladder.number == bound.number),
        )
        for bound in bounds
    ]


def remedies(bound: KernelBound, climbs: Iterable[Climb]) -> list[str]:
    """All remedies: against the unit that limits the loop, and against each gap."""
    against = [ADVICE[unit] for unit in bound.limits]
    return list(
        dict.fromkeys([*against, *(gap.remedy for climb in climbs for gap in climb.gaps())])
    )


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
            "remedies": remedies(row.bound, [row.climb(timing) for timing in row.plain]),
            "explanation": EXPLANATIONS.get(row.bound.number, ""),
            "transformations": list(TUNED.get(row.bound.number, ())),
            "measured": [_timing_json(row, timing) for timing in row.timings],
        }
        for row in table
    ]


def _timing_json(row: Row, timing: KernelTiming) -> dict[str, Any]:
    climb = row.climb(timing)
    seconds = timing.cycles_per_iteration / timing.clock_hz
    return {
        "compiler": timing.build.compiler,
        "tuned": timing.build.is_tuned,
        "level": " ".join(timing.build.level),
        "mac_cycles": climb.emitted_cycles,
        "macs_cycles": climb.scheduled_cycles,
        "cycles": timing.cycles_per_iteration,
        "gaps": [str(gap) for gap in climb.gaps()],
        "mflops": row.bound.flops / seconds / 1e6,
        "share": row.share(timing),
        "sum": timing.value,
        "clock_hz": timing.clock_hz,
    }


def used(table: Sequence[Row]) -> list[Build]:
    """The builds of a table in their order."""
    return list(dict.fromkeys(timing.build for row in table for timing in row.timings))

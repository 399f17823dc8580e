"""The ladder of each kernel in each build: from its bound to its time."""

import platform
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import FailedError
from nhalf.base.launch.survivor import Survivor
from nhalf.loops.builds import Build
from nhalf.loops.livermore.corpus import FOLDER, sources_of
from nhalf.loops.livermore.titles import TUNED
from nhalf.loops.rungs import READABLE, Rungs, listing, rungs
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

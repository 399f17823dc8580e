"""Cycles of each kernel as executed: a trace of its instructions on a model of the core."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import FailedError
from nhalf.base.launch.survivor import Survivor
from nhalf.loops.builds import Build
from nhalf.loops.livermore.corpus import FOLDER
from nhalf.loops.schedule.executed import assembled, followed
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

"""Run the functions of a user's file on generated data: count each loop, then time it."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import FailedError
from nhalf.base.launch.survivor import Survivor
from nhalf.base.processes import run
from nhalf.loops.builds import Build
from nhalf.loops.driver_text import counting_text, following_text, functions_of, timing_text
from nhalf.loops.rungs import listing
from nhalf.loops.samples import SAMPLES, SECONDS, loop_time
from nhalf.loops.schedule.executed import assembled, followed
from nhalf.loops.source.counts import LoopCounts
from nhalf.machines.processor import Processor

COMPILE_TIMEOUT_S = 60.0
RUN_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Execution:
    """A file whose functions are run, with `numbers` for what they take.

    `iterations` are count_record once: how often each loop runs in a call, by its line.
    """

    path: Path
    numbers: Mapping[str, int] = field(default_factory=dict)
    iterations: dict[int, int] = field(default_factory=dict)


def cycles_of(execution: Execution, build: Build, loops: Sequence[LoopCounts]) -> dict[int, float]:
    """Cycles of an iteration by the line of its loop.

    Raises FailedError, with the reason, where something cannot be compiled or run, or a function
    has several innermost loops, since its time is that of all.
    """
    cycles_by_line = {}
    for loop in loops:
        _check_alone(loop, loops)
        iterations = _iterations(execution, build, loop)
        printed = json.loads(_output(build, timing_text(execution.path, loop, execution.numbers)))
        cycles_by_line[loop.line] = loop_time(printed, iterations).cycles_per_iteration
    return cycles_by_line


def followed_cycles(
    execution: Execution, build: Build, processor: Processor, loops: Sequence[LoopCounts]
) -> dict[int, float]:
    """Fewest cycles of an iteration by the line of its loop, from its executed instructions.

    Raises FailedError if `cycles_of` would, or if there are too many instructions.
    """
    cycles_by_line = {}
    include = native_files.include_folder()
    functions = functions_of(execution.path)
    for loop in loops:
        _check_alone(loop, loops)
        iterations = _iterations(execution, build, loop)
        with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as name:
            folder = Path(name)
            source = folder / "driver.c"
            source.write_text(following_text(execution.path, loop, execution.numbers), "utf-8")
            flags = [*build.level, "-w", "-std=gnu11", f"-I{include}"]
            text = listing(build.compiler, flags, source)
            program = assembled(build, {"listing": text}, folder, functions=functions)
            cycles = followed([str(program)], text, processor, folder).pass_cycles
            cycles_by_line[loop.line] = cycles / iterations
    return cycles_by_line


def _check_alone(loop: LoopCounts, loops: Sequence[LoopCounts]) -> None:
    """Raise FailedError for a function whose time is that of several loops."""
    if sum(candidate.function == loop.function for candidate in loops) > 1:
        raise FailedError(f"{loop.function} has several loops: give each its own function")


def _iterations(execution: Execution, build: Build, loop: LoopCounts) -> int:
    """How many iterations a loop runs in a call."""
    if loop.line not in execution.iterations:
        text = counting_text(execution.path, loop, execution.numbers)
        count_record = json.loads(_output(Build(build.compiler, ("-O1",)), text))
        execution.iterations[loop.line] = count_record["iterations"]
    if not execution.iterations[loop.line]:
        raise FailedError(f"the loop of {loop.function} never runs: --set its length")
    return execution.iterations[loop.line]


def _output(build: Build, text: str) -> str:
    """The last line that a program prints; raises FailedError if it cannot be compiled or fails."""
    include = native_files.include_folder()
    with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as folder:
        source, program = Path(folder, "driver.c"), Path(folder, "driver")
        source.write_text(text, "utf-8")
        words = [build.compiler, *build.level, "-w", "-std=gnu11", f"-I{include}", str(source)]
        outcome = run([*words, "-lm", "-o", str(program)], COMPILE_TIMEOUT_S)
        if not outcome.succeeded:
            raise FailedError(f"it cannot be linked: {outcome.reason}")
        outcome = run([str(program), str(SAMPLES), str(SECONDS)], RUN_TIMEOUT_S)
        if not outcome.succeeded:
            raise FailedError(f"it fails with data of ours: {outcome.reason}")
        return outcome.stdout.splitlines()[-1]

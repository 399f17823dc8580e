"""The Livermore kernels as a run: a point for each kernel and build, with all of its rungs.

A brief measurement has them beside the units and the nearest cache of a node. Both are in several
launches, so that all times have intervals.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from nhalf.loops.builds import Build, builds
from nhalf.loops.livermore.corpus import KernelBound, kernel_bounds
from nhalf.loops.livermore.table import Row, rows
from nhalf.loops.livermore.timing import KernelTiming, check_sums, timings
from nhalf.loops.livermore.titles import PATTERN
from nhalf.machines.processor_file import write
from nhalf.measure.loop.ending import RunOutcome, keep_end
from nhalf.measure.loop.progress import Progress
from nhalf.node.measured import measured
from nhalf.node.measuring import PLACEMENT, measure
from nhalf.node.reading import TRANSPORT, readings
from nhalf.store.keys import axes_text
from nhalf.store.record import Record, event, named_values
from nhalf.store.run import Run


def keep(run: Run, *launches: Sequence[Row]) -> RunOutcome:
    """Store the points of a table for each launch in a run, and finish it."""
    with run.journal() as journal:
        for launch, table in enumerate(launches):
            pairs = [(row, timing) for row in table for timing in row.timings]
            for position, (row, timing) in enumerate(pairs):
                record = _record(launch, position, row, timing)
                journal.append(event("point", TRANSPORT, record))
    outcome = RunOutcome(run, {})
    keep_end(outcome)
    run.finish()
    return outcome


def _record(launch: int, position: int, row: Row, timing: KernelTiming) -> Record:
    values = {**row.climb(timing).as_values(), "cycle_s": 1 / timing.clock_hz}
    return Record(
        transport=TRANSPORT,
        mpi="",
        pattern=PATTERN,
        algorithm="",
        ranks=1,
        placement=PLACEMENT,
        axes=axes_text(axes(timing.number, timing.build)),
        bytes=0,
        launch=launch,
        position=position,
        started_s=time.time(),
        batch=timing.iterations,
        messages_per_round=1,
        bytes_per_time=0,
        stop="samples",
        verified=True,
        advice=[],
        samples_s=list(timing.samples_s),
        values=named_values(values),
    )


def axes(number: int, build: Build) -> dict[str, str]:
    """The axes that distinguish points: level 'O3-native' is -O3 -march=native."""
    level = "-".join(word.removeprefix("-").removeprefix("march=") for word in build.level)
    tuned = {"tuned": "yes"} if build.is_tuned else {}
    return {"compiler": build.compiler, "kernel": f"{number:02d}", "level": level, **tuned}


LAUNCHES, SAMPLES = 3, 12
PROCESSOR = "processor.toml"


def measure_brief(run: Run, progress: Progress) -> RunOutcome:
    """Measure into a run, with the first compiler; raises FailedError if check sums differ.

    Raises LaunchError or MissingError if nothing can be measured. Without units there is no bound.
    """
    outcome = measure(run, progress, is_brief=True)
    ((name, points),) = readings(run.measurements()).items()
    processor = measured(points, name, run.environment)
    if processor is not None:
        write(processor, run.path / PROCESSOR)
    bounds = kernel_bounds(processor)
    return replace(outcome, run=keep(run, *(_launch(bounds) for _ in range(LAUNCHES))).run)


def _launch(bounds: Sequence[KernelBound]) -> list[Row]:
    """All kernels in every build of the first compiler."""
    own = [build for build in builds() if build.compiler == builds()[0].compiler]
    timed = [timing for build in own for timing in timings(build, SAMPLES)]
    check_sums(timed)
    return rows(bounds, timed)

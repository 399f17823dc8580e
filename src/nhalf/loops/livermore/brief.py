"""A brief measurement of a node: its units and nearest cache, and the kernels against their bounds.

Both are in several launches, so that all times have intervals.
"""

from collections.abc import Sequence
from dataclasses import replace

from nhalf.loops.builds import builds
from nhalf.loops.livermore.corpus import KernelBound, kernel_bounds
from nhalf.loops.livermore.keeping import keep
from nhalf.loops.livermore.table import Row, rows
from nhalf.loops.livermore.timing import check_sums, timings
from nhalf.machines.processor_file import write
from nhalf.measure.loop.ending import RunOutcome
from nhalf.measure.loop.progress import Progress
from nhalf.node.measured import measured
from nhalf.node.measuring import measure
from nhalf.node.reading import readings
from nhalf.store.run import Run

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

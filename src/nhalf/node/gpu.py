"""Measuring a GPU: launches, copies and flags, in several launches of its probe.

The GPU is timed on the host's clock; beside every sample a kernel counts the GPU's own. Methods:
native/node/gpu_loops.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError, MissingError
from nhalf.base.native_files import describe
from nhalf.base.units import format_size
from nhalf.measure.loop.ending import RunOutcome, keep_end
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.records import ProbeAnswer, Records
from nhalf.measure.loop.session import default_folder
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Subject
from nhalf.mpi.gpu import PROBE, gpu_probe
from nhalf.node.measuring import answer_of
from nhalf.sites.environment import environment
from nhalf.store.run import Run

TRANSPORT = "gpu"
LAUNCH, WAIT, COPY = "gpu-launch", "gpu-wait", "gpu-copy"
FLAG, PEER = "gpu-flag", "gpu-ipc"
PATTERNS = (LAUNCH, WAIT, COPY, FLAG, PEER)
PLACEMENT = "cores"
CONDITION = ("has_mps", "is_persistent", "held_back_by", "processes")
"""What is known of a GPU at the start beside its name; all but the first only with NVML."""
LAUNCHES = 5
TIMEOUT_S = 120.0
SIZES = tuple(8 << place for place in range(24))
"""Bytes of copies: 8 B to 64 MiB."""
PEER_STEP = 4
"""Every fourth size is exchanged between two processes, which are started for each size."""
USUAL_MEMORY = "pinned-device"
MEMORIES = (
    *(USUAL_MEMORY, "device-pinned", "host-device", "device-host"),
    *("managed-device", "device"),
)
WAITS = ("spin", "yield", "block")
PAUSES_S = ("0.001", "0.01", "0.1")
SEVERAL = "kernels=16"
CALLS = ("", "call=query", "call=event")
PROCESSES = ("", "processes=4")


def gpu_subject() -> Subject:
    """The probe of a GPU; raises MissingError if it was not built and cannot be compiled."""
    command = [gpu_probe()]
    return Subject(TRANSPORT, tuple(command), describe(command))


def begin_gpu(out: Path | None) -> Run:
    """Create the run directory, with what the driver says of its GPU.

    Raises MissingError without a GPU, a driver or the probe, in one line that says which;
    InputError if the directory holds a run already.
    """
    try:
        with Probe([*gpu_subject().command], {}, TIMEOUT_S) as processes:
            opening = processes.launch
    except LaunchError as error:
        # What the probe says of itself is clearer than how it ended.
        reason = str(error).rpartition(f"{PROBE}: ")[2]
        raise MissingError(reason, "`nhalf node` measures the cores without it") from error
    gpu: dict[str, Any] = opening["gpu"]
    description = {
        "environment": {
            **environment(),
            "gpu": gpu["name"],
            "gpu_driver": opening["library"],
            "gpu_pci": gpu["pci"],
            "gpu_multiprocessors": gpu["multiprocessors"],
            "gpus": gpu["gpus"],
            **{f"gpu_{name}": gpu[name] for name in CONDITION if name in gpu},
        },
        "titles": {TRANSPORT: gpu["name"]},
    }
    return Run.create(out or default_folder(), description)


def measure_gpu(run: Run, progress: Progress, sizes: Sequence[int] = SIZES) -> RunOutcome:
    """Measure all launches into a run; raises FailedError if the probe ends before its answers.

    What the GPU refuses, such as a copy that its memory has no room for, and data that arrived
    wrong, is in `failed`.
    """
    subject, points = gpu_subject(), list(plan(sizes))
    failed: dict[str, str] = {}
    with run.measuring(), run.journal() as journal, progress:
        records = Records(journal, RunState(), progress)
        records.planned(LAUNCHES * len(points))
        for launch in range(LAUNCHES):
            try:
                failed |= _launch(subject, records, launch, points)
            except LaunchError as error:
                raise FailedError(f"the GPU's probe ended: {error}", f"see {run.path}") from error
    outcome = RunOutcome(run, failed)
    keep_end(outcome)
    run.finish()
    return outcome


def _launch(
    subject: Subject, records: Records, launch: int, points: Sequence[Point]
) -> dict[str, str]:
    """Measure every point in one launch; what failed, by point."""
    failed = {}
    with Probe([*subject.command], {}, TIMEOUT_S) as processes:
        records.launch(Start(subject.key, 1, PLACEMENT), launch, processes.launch, [])
        for position, point in enumerate(points):
            answer = answer_of(processes, position, point, TIMEOUT_S)
            records.point(subject, launch, ProbeAnswer(position, point, answer), [])
            name = " ".join(
                filter(None, (point.pattern, point.axes, format_size(point.size_bytes)))
            )
            if answer.get("nhalf") == "error":
                failed[name] = answer["message"]
            elif not answer.get("verified"):
                failed[name] = "wrong data arrived"
    return failed


def plan(sizes: Sequence[int]) -> Iterator[Point]:
    """The points of a launch. Each way to wait makes the GPU's context anew: those come last."""
    for axes in ("", SEVERAL, f"by=graph,{SEVERAL}", *(f"pause_s={text}" for text in PAUSES_S)):
        yield _point(LAUNCH, axes)
    for axes in CALLS:
        yield _point(WAIT, axes)
    yield _point(FLAG)
    for memory in MEMORIES:
        axes = "" if memory == USUAL_MEMORY else f"memory={memory}"
        for size_bytes in sizes:
            yield _point(COPY, axes, size_bytes)
    for axes in PROCESSES:
        for size_bytes in sizes[::PEER_STEP]:
            yield _point(PEER, axes, size_bytes)
    for wait in WAITS[1:]:
        yield _point(LAUNCH, f"wait={wait}")
        yield _point(WAIT, f"wait={wait}")


def _point(pattern: str, axes: str = "", size_bytes: int = 0) -> Point:
    return Point(pattern, 1, size_bytes, PLACEMENT, axes)

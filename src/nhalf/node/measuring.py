"""Measuring a node: launches on one core, each point chosen by the answers so far.

Each answer is in the journal before it is used.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nhalf.base import native_files
from nhalf.base.native_files import describe
from nhalf.measure.loop.ending import RunOutcome, keep_end
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.records import ProbeAnswer, Records
from nhalf.measure.loop.session import default_folder
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import Processes, Subject
from nhalf.node.bandwidth import ask_bandwidth
from nhalf.node.levels import ends, hit_limit_cycles
from nhalf.node.plateaus import LoadTime, Plateau, curve, terraces, undisturbed
from nhalf.node.reading import (
    CHASE,
    CONFLICTS,
    LOAD,
    STORE,
    SWEEP_STRIDES,
    TRANSPORT,
    UNIT,
    Reading,
    reading,
)
from nhalf.node.sets import ask_sets
from nhalf.node.translation import LINE_BYTES
from nhalf.node.unit_doubts import Key
from nhalf.node.units import doubtful
from nhalf.sites.environment import announced, environment
from nhalf.store.keys import axes_text
from nhalf.store.run import Run

LAUNCHES = 3
UNIT_LAUNCHES = 3
"""Further launches that time only units: they are short, and outlast a busy neighbour."""
AGAIN_LAUNCHES = 3
"""More launches at most that time those units again whose rates are doubtful."""
AGAIN_S = 20.0
"""After this time no further of these begins."""
POINTS, POINTS_BRIEF = 460, 340
"""Approximate numbers of points in a launch: they depend on the answers."""
NEAR_BYTES = 8 << 20
SWEEP_BYTES = 16 << 10
PAGES, PAGES_PER_OCTAVE = (16, 8192), 4
"""Small pages of which one line each is chased."""
SMALL_BYTES, SMALL_PER_OCTAVE = (64 << 10, 32 << 20), 2
"""Sizes of dense arrays in small pages."""
FAR_BYTES = 1 << 30
MEMORY_SHARE = 1 / 8
FAR_S = 8.0
ENOUGH_S = 45.0
"""After this time no further launch begins, as on a busy machine."""


def begin(out: Path | None) -> Run:
    """Create the run directory.

    Raises InputError if it holds a run already, MissingError if it cannot be written.
    """
    description = {
        "environment": {**environment(), "announced": announced()},
        "titles": {"node": "this core"},
    }
    return Run.create(out or default_folder(), description)


def measure(run: Run, progress: Progress, *, is_brief: bool = False) -> RunOutcome:
    """Measure all launches into a run; raises LaunchError or MissingError if that fails.

    A brief measurement is of units and the nearest level, in every launch.
    """
    subject = node_subject()
    with run.measuring(), run.journal() as journal, progress:
        records = Records(journal, RunState(), progress)
        records.planned(LAUNCHES * (POINTS_BRIEF if is_brief else POINTS))
        readings: list[Reading] = []
        began_s = time.monotonic()
        for launch in range(LAUNCHES + UNIT_LAUNCHES):
            if launch < LAUNCHES and launch and time.monotonic() - began_s > ENOUGH_S:
                continue
            further = ask_nearest if is_brief else ask
            readings += _launch(subject, records, launch, further if launch < LAUNCHES else None)
        progress.say("doubtful units again")
        readings += _again(subject, records, readings)
        if not is_brief:
            progress.say("bandwidth of each level")
            steps = undisturbed(curve(readings))
            ask_bandwidth(records, steps, terraces(steps))
    outcome = RunOutcome(run, {})
    keep_end(outcome)
    run.finish()
    return outcome


def _launch(
    subject: Subject,
    records: Records,
    launch: int,
    ask_further: Callable[[CoreProbe], None] | None = None,
    keys: Collection[Key] | None = None,
) -> list[Reading]:
    """Time units in one launch, all or those of some keys, and ask what else there is to ask."""
    # Another core each time: a neighbour may have one of them.
    allowed = sorted(os.sched_getaffinity(0))
    tokens = [*subject.command, "--cpus", str(allowed[(launch + 1) % len(allowed)])]
    with Probe(tokens, {}, TIMEOUT_S) as processes:
        records.launch(Start(subject.key, 1, PLACEMENT), launch, processes.launch, [])
        core = CoreProbe(processes, subject, records, launch)
        ask_units(core, keys)
        if ask_further:
            ask_further(core)
        return core.readings


def _again(subject: Subject, records: Records, readings: Sequence[Reading]) -> list[Reading]:
    """Time those units again whose rates are doubtful, while they are, for a limited time."""
    began_s = time.monotonic()
    further: list[Reading] = []
    for launch in range(LAUNCHES + UNIT_LAUNCHES, LAUNCHES + UNIT_LAUNCHES + AGAIN_LAUNCHES):
        keys = doubtful([*readings, *further])
        if not keys or time.monotonic() - began_s > AGAIN_S:
            break
        further += _launch(subject, records, launch, keys=keys)
    return further


def ask(core: CoreProbe) -> None:
    """Measure the memory hierarchy of one core, from the nearest level outwards."""
    _ask_near(core)
    if core.launch == 0:
        ask_sweeps(core)
    if core.launch < 2:
        _far(core)
    steps, flat = _ask_first_sets(core)
    if len(flat) < 2:
        return
    core.ask(CONFLICTS, conflict_bytes(flat[1].last_bytes), miss=_miss_cycles(core, steps, flat))
    ask_pages(core)


def ask_nearest(core: CoreProbe) -> None:
    """Measure the nearest level of the memory hierarchy, and what misses it."""
    _ask_near(core)
    ask_sweeps(core)
    _ask_first_sets(core)


def _ask_near(core: CoreProbe) -> None:
    for size in sizes(4096, NEAR_BYTES, 4):
        core.ask(CHASE, size)


def _ask_first_sets(core: CoreProbe) -> tuple[list[LoadTime], list[Plateau]]:
    """Divide the nearest level into sets, if there is one behind it; the curve so far."""
    steps = undisturbed(curve(core.readings))
    flat = terraces(steps)
    if len(flat) > 1:
        limit_cycles = hit_limit_cycles(flat)
        ask_sets(lambda *where: _hits(core, limit_cycles, *where), flat[0].last_bytes)
    return steps, flat


def ask_units(core: CoreProbe, keys: Collection[Key] | None = None) -> None:
    """Time every operation that the processor has, or those of some keys.

    Narrow ones come first: wide ones need a warm-up.
    """
    kernels = core.subject.description.get("kernels", [])
    for kernel in sorted(kernels, key=lambda kernel: int(kernel["bits"])):
        if keys is None or (kernel["operation"], int(kernel["bits"])) in keys:
            core.ask(UNIT, 0, **kernel)


def ask_sweeps(core: CoreProbe) -> None:
    """Time independent loads and stores, by size and stride."""
    size = SWEEP_BYTES
    while size <= NEAR_BYTES:
        for stride in SWEEP_STRIDES:
            for pattern in (LOAD, STORE):
                core.ask(pattern, size, stride=stride)
        size *= 2


def _far(core: CoreProbe) -> None:
    """Measure arrays that only a shared cache or memory holds, until FAR_S has passed."""
    began_s = time.monotonic()
    for size in sizes(NEAR_BYTES, far_bytes(), 2)[1:]:
        if time.monotonic() - began_s > FAR_S:
            return
        core.ask(CHASE, size)


def ask_pages(core: CoreProbe) -> None:
    """Measure chases over one line per page, in one launch also dense ones, all in small pages."""
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    for pages in evenly(*PAGES, PAGES_PER_OCTAVE):
        axes = {"stride": page_bytes, "skew": LINE_BYTES, "huge": "no"}
        core.ask(CHASE, pages * page_bytes, **axes)
    if core.launch == 0:
        for size_bytes in evenly(*SMALL_BYTES, SMALL_PER_OCTAVE):
            core.ask(CHASE, size_bytes, huge="no")


def evenly(first: int, last: int, per_octave: int) -> list[int]:
    """Sizes in even steps on a logarithmic scale, up to `last`."""
    octaves = (last // first).bit_length()
    steps = [(first << octave, k) for octave in range(octaves) for k in range(per_octave)]
    sizes = [size * (per_octave + k) // per_octave for size, k in steps]
    return [size for size in sizes if size <= last]


def sizes(first_bytes: int, last_bytes: int, per_octave: int) -> list[int]:
    """Sizes in even steps on a logarithmic scale, multiples of 256 bytes."""
    return [size // 256 * 256 for size in evenly(first_bytes, last_bytes, per_octave)]


def far_bytes() -> int:
    """The size of the largest array: at most a share of the free memory."""
    free_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    return int(min(FAR_BYTES, MEMORY_SHARE * free_bytes))


def _miss_cycles(core: CoreProbe, steps: Sequence[LoadTime], flat: Sequence[Plateau]) -> int:
    """Additional cycles of a load that misses level 2, at most the default of the probe."""
    end = ends(steps, flat, 1)
    most_cycles = int(core.fallback(CONFLICTS, "miss"))
    return min(most_cycles, round(end.miss_cycles)) if end and end.miss_cycles else most_cycles


def conflict_bytes(plateau_last_bytes: int) -> int:
    """Memory with more pages in each set than a cache holds whose plateau ends at this size."""
    return max(8 << 20, 4 * plateau_last_bytes)


def _hits(core: CoreProbe, limit_cycles: float, nodes: int, stride: int, shift: int) -> bool:
    """Whether all nodes hit, in the less disturbed of two trials."""
    for seed in (1, 2):
        reading = core.ask(CHASE, nodes * stride, stride=stride, shift=shift, seed=seed)
        if reading and reading.least_cycles < limit_cycles:
            return True
    return False


PROGRAM = "node-probe"
TIMEOUT_S = 60.0
PLACEMENT = "cores"


def node_subject() -> Subject:
    """The probe of one core; raises MissingError if it was not built."""
    command = [str(native_files.executable(PROGRAM))]
    return Subject(TRANSPORT, tuple(command), describe(command))


@dataclass
class CoreProbe:
    """One launch of the probe on one core; `readings` are all answers so far."""

    processes: Processes
    subject: Subject
    records: Records
    launch: int
    readings: list[Reading] = field(default_factory=list)
    _reading_by_point: dict[str, Reading] = field(default_factory=dict)

    def ask(self, pattern: str, size_bytes: int, **axes: object) -> Reading | None:
        """Measure a point unless it was measured before; None if it cannot be measured."""
        texts = {
            name: str(value)
            for name, value in axes.items()
            if str(value) != self.fallback(pattern, name)
        }
        key = f"{pattern} {size_bytes} {axes_text(texts)}"
        if key in self._reading_by_point:
            return self._reading_by_point[key]
        point = Point(pattern, 1, size_bytes, PLACEMENT, axes_text(texts))
        position = len(self.readings)
        answer = answer_of(self.processes, position, point, TIMEOUT_S)
        self.records.point(self.subject, self.launch, ProbeAnswer(position, point, answer), [])
        if answer.get("nhalf") != "point" or not answer["verified"]:
            return None
        values: dict[str, Any] = answer["values"]
        point_reading = reading(
            pattern, size_bytes, texts, self.launch, answer["samples_s"], values
        )
        self._reading_by_point[key] = point_reading
        self.readings.append(point_reading)
        return point_reading

    def fallback(self, pattern: str, axis: str) -> str:
        """The value with which an axis is left out of a point, as the probe describes it."""
        axes = self.subject.infos[pattern].axes
        return next(info.fallback for info in axes if info.name == axis)


def answer_of(
    processes: Processes, position: int, point: Point, timeout_s: float
) -> dict[str, Any]:
    """The answer of a program without ranks to a point; raises LaunchError if it does not come."""
    axes = "".join(f" axis.{part}" for part in point.axes.split(",") if part)
    identity = str(position)
    processes.send(f"id={identity} pattern={point.pattern} bytes={point.size_bytes}{axes}")
    return processes.receive(timeout_s, identity=identity)

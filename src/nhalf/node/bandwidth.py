# SPDX-License-Identifier: Apache-2.0
"""STREAM in each level of the hierarchy, on one core up to all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nhalf.measure.loop.question import line
from nhalf.measure.loop.records import Answer, Records
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import Subject, plain_subject
from nhalf.node.plateaus import Plateau

TRANSPORT = "threads"
KERNELS = ("copy", "scale", "add", "triad")
ARRAYS = 3
SLICE_S = 0.05
PRECISION = 0.02
TIMEOUT_S = 60.0
PLACEMENT = "cores"
MEMORY = "memory"
STREAMING_AXES = "stores=streaming"
"""Memory is also measured with non-temporal stores, if the processor has them."""
STREAMING = "memory, streaming stores"
MEMORY_BYTES = 96 << 20
"""Least size of all arrays of a core together, to lie in memory."""
CORES_MAX = 64


@dataclass(frozen=True)
class Spot:
    """Arrays of one core that lie in one level of the hierarchy, together `size_bytes`."""

    level: str
    size_bytes: int


def spots(flat: Sequence[Plateau]) -> list[Spot]:
    """Sizes well inside each private level, and one that only memory holds."""
    inside = [
        Spot(f"L{place}", int((plateau.first_bytes * plateau.last_bytes) ** 0.5))
        for place, plateau in enumerate(flat[:2], 1)
    ]
    largest = max((plateau.first_bytes for plateau in flat), default=0)
    return [*inside, Spot(MEMORY, max(MEMORY_BYTES, 4 * largest))]


def core_counts(cores: int) -> list[int]:
    """The numbers of cores to measure: 1, 2, 4 … and all."""
    counts = [2**k for k in range(cores.bit_length()) if 2**k < cores]
    return [*counts, cores]


def ask_bandwidth(records: Records, flat: Sequence[Plateau]) -> None:
    """Measure every kernel in every level on 1, 2, 4 … cores; in memory with both stores."""
    subject = plain_subject(TRANSPORT)
    for cores in core_counts(min(CORES_MAX, len(os.sched_getaffinity(0)))):
        tokens, variables = subject.launch(cores, PLACEMENT, "")
        with Probe(tokens, variables, TIMEOUT_S) as processes:
            records.launch(Start(subject.key, cores, PLACEMENT), 0, processes.launch, [])
            for position, point in enumerate(_points(flat, cores)):
                answer = _answer(processes, subject, position, point)
                records.point(subject, 0, Answer(position, point, answer), [])


def _points(flat: Sequence[Plateau], cores: int) -> Iterator[Point]:
    for spot in spots(flat):
        array_bytes = cores * spot.size_bytes // ARRAYS // 64 * 64
        for axes in ("", STREAMING_AXES) if spot.level == MEMORY else ("",):
            for kernel in KERNELS:
                yield Point(f"memory-{kernel}", cores, array_bytes, PLACEMENT, axes)


def _answer(processes: Probe, subject: Subject, position: int, point: Point) -> dict[str, object]:
    timing = subject.infos[point.pattern].timing
    processes.send(line(str(position), point, SLICE_S, PRECISION, timing))
    return processes.receive(TIMEOUT_S, identity=str(position))

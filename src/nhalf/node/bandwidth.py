"""STREAM in each level of the hierarchy, on one core up to all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from nhalf.measure.loop.records import ProbeAnswer, Records, line
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import Processes, Subject, plain_subject
from nhalf.node.levels import SHARED_PLACE, ends
from nhalf.node.plateaus import LoadTime, Plateau

TRANSPORT = "threads"
KERNELS = ("copy", "scale", "add", "triad")
ARRAYS = 3
SLICE_S = 0.05
LAUNCHES = 5
"""Launches with each number of cores, so that rates have intervals."""
ENOUGH_S = 30.0
"""After this time no further launch begins, as on a busy machine."""
TRIES = 3
"""A point during which others had the cores is asked for so often; the least disturbed counts."""
CALM_SHARE = 0.02
"""Others had the cores where threads waited for a larger share of the time than this."""
WAITED = "waited_share"
"""The value of a point: the share of the time that its threads waited for their cores."""
PRECISION = 0.02
TIMEOUT_S = 60.0
POSITIONS_MAX = 1000
"""More than a launch has points: trials of one point have different identities."""
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


def spots(steps: Sequence[LoadTime], flat: Sequence[Plateau], cores: int) -> list[Spot]:
    """Sizes well inside each level, as each of several cores has them, and one in memory alone."""
    inside = [
        Spot(level_name(place), int((plateau.first_bytes * plateau.last_bytes) ** 0.5))
        for place, plateau in enumerate(flat[:SHARED_PLACE])
    ]
    largest = max((plateau.first_bytes for plateau in flat), default=0)
    size_bytes = max(MEMORY_BYTES, 4 * largest)
    return [*inside, *_shared_spots(steps, flat, cores), Spot(MEMORY, size_bytes)]


def level_name(place: int) -> str:
    """The name of the level at a place from 0 on."""
    return f"L{place + 1}"


def level_of(flat: Sequence[Plateau], each_bytes: float) -> str:
    """The level that holds the arrays of a core, as `spots` chose them."""
    caches = flat[: SHARED_PLACE + has_shared(flat)]
    return next(
        (level_name(k) for k, level in enumerate(caches) if each_bytes <= level.last_bytes), MEMORY
    )


def has_shared(flat: Sequence[Plateau]) -> bool:
    """Whether a level was seen between the private ones and memory."""
    return len(flat) > SHARED_PLACE + 1


def _shared_spots(steps: Sequence[LoadTime], flat: Sequence[Plateau], cores: int) -> list[Spot]:
    """Arrays that miss the private levels and together fit into the shared one; none if none do."""
    if not has_shared(flat):
        return []
    near, shared = (ends(steps, flat, place) for place in (SHARED_PLACE - 1, SHARED_PLACE))
    if near is None or shared is None or cores * near.misses_bytes > shared.fits_bytes:
        return []
    each_bytes = int((near.misses_bytes * shared.fits_bytes / cores) ** 0.5)
    return [Spot(level_name(SHARED_PLACE), each_bytes)]


def core_counts(cores: int) -> list[int]:
    """The numbers of cores to measure: 1, 2, 4 … and all."""
    counts = [2**k for k in range(cores.bit_length()) if 2**k < cores]
    return [*counts, cores]


def ask_bandwidth(records: Records, steps: Sequence[LoadTime], flat: Sequence[Plateau]) -> None:
    """Measure every kernel in every level on 1, 2, 4 … cores; in memory with both stores."""
    subject = plain_subject(TRANSPORT)
    began_s = time.monotonic()
    for launch in range(LAUNCHES):
        for cores in core_counts(min(CORES_MAX, len(os.sched_getaffinity(0)))):
            if launch and time.monotonic() - began_s > ENOUGH_S:
                return
            tokens, variables = subject.launch(cores, PLACEMENT, "")
            with Probe(tokens, variables, TIMEOUT_S) as processes:
                start = Start(subject.key, cores, PLACEMENT)
                records.launch(start, launch, processes.launch, [])
                for position, point in enumerate(_points(steps, flat, cores)):
                    answer = _least_disturbed(processes, subject, position, point)
                    records.point(subject, launch, ProbeAnswer(position, point, answer), [])


def _points(steps: Sequence[LoadTime], flat: Sequence[Plateau], cores: int) -> Iterator[Point]:
    for spot in spots(steps, flat, cores):
        array_bytes = cores * spot.size_bytes // ARRAYS // 64 * 64
        for axes in ("", STREAMING_AXES) if spot.level == MEMORY else ("",):
            for kernel in KERNELS:
                yield Point(f"memory-{kernel}", cores, array_bytes, PLACEMENT, axes)


def _least_disturbed(
    processes: Processes, subject: Subject, position: int, point: Point
) -> dict[str, Any]:
    """The answer during which threads waited least for their cores, of a few at most."""
    answers = []
    for trial in range(TRIES):
        answers.append(_answer(processes, subject, position + POSITIONS_MAX * trial, point))
        if _waited_share(answers[-1]) <= CALM_SHARE:
            break
    return min(answers, key=_waited_share)


def _waited_share(answer: Mapping[str, Any]) -> float:
    return float(answer.get("values", {}).get(WAITED, 0.0))


def _answer(processes: Processes, subject: Subject, identity: int, point: Point) -> dict[str, Any]:
    """The answer for a point, and the share of its time that others had the cores, if known."""
    timing = subject.infos[point.pattern].timing
    process = _process(processes.launch.get("placement", []))
    before = waited(process)
    processes.send(line(str(identity), point, SLICE_S, PRECISION, timing))
    answer = processes.receive(TIMEOUT_S, identity=str(identity))
    share = before.share_until(waited(process))
    if share is not None and answer.get("nhalf") == "point":
        answer.setdefault("values", {})[WAITED] = share
    return answer


def _process(placement: Sequence[Mapping[str, Any]]) -> int:
    """The process of all ranks, which are its threads; 0 if it is not reported."""
    return int(placement[0].get("pid") or 0) if placement else 0


PROC = Path("/proc")


@dataclass(frozen=True)
class Waited:
    """Nanoseconds that threads ran so far, and waited for a core to run on."""

    ran_ns: int = 0
    waited_ns: int = 0

    def share_until(self, later: Waited) -> float | None:
        """The share of the time until `later` that threads waited; None if neither is known."""
        ran_ns, waited_ns = later.ran_ns - self.ran_ns, later.waited_ns - self.waited_ns
        total_ns = ran_ns + waited_ns
        return waited_ns / total_ns if total_ns > 0 and waited_ns >= 0 else None


def waited(process: int, proc: Path = PROC) -> Waited:
    """What the system reports of a process; zeros if it does not count, or there is none."""
    threads = waited_by_thread(process, proc).values()
    return Waited(*(sum(column) for column in zip(*map(astuple, threads), strict=True)))


def waited_by_thread(process: int, proc: Path = PROC) -> dict[int, Waited]:
    """What the system reports of each thread, by its number; what it does not count is left out."""
    threads = {}
    for file in sorted((proc / str(process) / "task").glob("*/schedstat")):
        try:
            ran, waiting, _ = map(int, file.read_text("utf-8").split())
        except (OSError, ValueError):
            continue
        threads[int(file.parent.name)] = Waited(ran, waiting)
    return threads

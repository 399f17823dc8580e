"""All cores of this node at once: what fixed work takes on each, memory, and messages between them.

Cores work together, so that they are as warm as in a program. A look takes less than a second.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from nhalf.base.compiled import without_compiling
from nhalf.base.errors import FailedError, MissingError
from nhalf.base.files import text_in
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Processes, plain_subject
from nhalf.node.bandwidth import CALM_SHARE, PLACEMENT, PROC, TRANSPORT, Waited, waited_by_thread

TIMEOUT_S = 30.0
WORK, MEMORY, MESSAGES = "memory-triad", "memory-copy", "pairs-latency"
WORK_BYTES = 4 << 10
"""An array of a core: three of them lie in the nearest cache, so that the core alone counts."""
MEMORY_BYTES = 8 << 20
"""An array of a core that lies in memory: those of all cores fill no cache that they share."""
MESSAGE_BYTES = 8
SAMPLES = 3
"""Batches, of which the median counts; long ones, so that each has what a core loses to others."""
WORK_S, MEMORY_S, MESSAGES_S = 0.15, 0.12, 0.06
STOLEN_FIELD = 8
"""The place of stolen ticks in a line of /proc/stat: a virtual machine's core had none then."""


@dataclass(frozen=True)
class Look:
    """Seconds by what was timed ('core 5'), and how much of a core others had meanwhile.

    `taken_share` is that of the core of which they had most; `taken_core` its number.
    """

    times_s: Mapping[str, float]
    taken_share: float = 0.0
    taken_core: int = 0

    @property
    def is_calm(self) -> bool:
        """Whether others left the cores alone."""
        return self.taken_share <= CALM_SHARE


class Asked:
    """Points asked of a probe, with as many batches each, of which the median counts."""

    def __init__(self, processes: Processes, timeout_s: float, samples: int = SAMPLES) -> None:
        """Every answer may take `timeout_s` seconds."""
        self._processes, self._timeout_s, self._number = processes, timeout_s, 0
        self._samples = samples

    def point(
        self, pattern: str, size_bytes: int, slice_s: float, axes: str = ""
    ) -> dict[str, Any]:
        """The answer; raises FailedError for wrong data, MissingError if there is no time."""
        self._number += 1
        samples = f"precision=0 samples_min={self._samples} samples_max={self._samples}"
        point = f"id={self._number} pattern={pattern} bytes={size_bytes} slice_s={slice_s}"
        self._processes.send(f"{point} {samples}{axes}")
        answer = self._processes.receive(self._timeout_s, identity=str(self._number))
        if answer.get("nhalf") != "point":
            raise MissingError(f"{pattern} cannot be timed: {answer.get('message', '')}")
        if not answer["verified"]:
            raise FailedError(f"{pattern} had wrong data")
        return answer

    def times_s(self, *point: Any) -> list[float]:
        """The time of each rank."""
        return [float(time_s) for time_s in self.point(*point)["rank_s"]]


class AllCores:
    """Looks at all cores through a probe that has a thread on each of them."""

    def __init__(self, processes: Processes) -> None:
        self._asked = Asked(processes, TIMEOUT_S)
        places = processes.launch["placement"]
        self._cpus = [int(place["cpu"]) for place in places]
        self._domains = [int(place.get("numa", 0)) for place in places]
        self.process = int(places[0].get("pid") or 0)

    def look(self) -> Look:
        """Time everything once.

        Raises FailedError for wrong data, MissingError if something cannot be timed (no memory),
        and LaunchError.

        Quantities are 'core N' for the system's number of a core, 'memory N' for that of a memory
        domain, and 'messages'.
        """
        cores = len(self._cpus)
        before, began_s = self._usage(), time.monotonic()
        work_s = self._asked.times_s(WORK, cores * WORK_BYTES, WORK_S)
        times_s = {f"core {cpu}": time_s for cpu, time_s in zip(self._cpus, work_s, strict=True)}
        memory_s = self._asked.times_s(MEMORY, cores * MEMORY_BYTES, MEMORY_S)
        for domain in sorted(set(self._domains)):
            its = [memory_s[rank] for rank in range(cores) if self._domains[rank] == domain]
            times_s[f"memory {domain}"] = fmean(its)
        if cores > 1:
            pairs = f" axis.pairs={cores // 2}"
            times_s["messages"] = median(
                self._asked.times_s(MESSAGES, MESSAGE_BYTES, MESSAGES_S, pairs)
            )
        spent_s, after = time.monotonic() - began_s, self._usage()
        share, core = max(
            (taken_share(before[cpu], after[cpu], spent_s), cpu) for cpu in self._cpus
        )
        return Look(times_s, share, core)

    def _usage(self) -> dict[int, CoreUsage]:
        """What the thread on each core had of it so far."""
        stolen_s = stolen()
        usage = {cpu: CoreUsage(Waited(), stolen_s.get(cpu, 0.0)) for cpu in self._cpus}
        for thread, waited in waited_by_thread(self.process).items():
            with suppress(OSError):
                cpus = os.sched_getaffinity(thread)
                if len(cpus) == 1 and (cpu := min(cpus)) in usage:
                    usage[cpu] = CoreUsage(waited, usage[cpu].stolen_s)
        return usage


@contextmanager
def all_cores() -> Iterator[AllCores]:
    """A probe on all cores that this process may use.

    Raises MissingError if it was not built, which would take longer than a gate, or does not start.
    """
    with without_compiling():
        subject = plain_subject(TRANSPORT)
    if not os.path.exists(subject.command[0]):
        raise MissingError(
            "the probe of threads was not built yet", "build it once: nhalf doctor --build"
        )
    tokens, variables = subject.launch(len(os.sched_getaffinity(0)), PLACEMENT, "")
    try:
        with Probe(tokens, variables, TIMEOUT_S) as processes:
            yield AllCores(processes)
    except LaunchError as error:
        raise MissingError(f"the cores cannot be timed: {error}") from error


@dataclass(frozen=True)
class CoreUsage:
    """How long the thread on a core ran and waited, and how long the core itself was away."""

    thread: Waited
    stolen_s: float


def taken_share(before: CoreUsage, after: CoreUsage, spent_s: float) -> float:
    """The share of a core that others had: other programs, or other virtual machines.

    Of what was stolen, a tick is left out: less is not counted.
    """
    waited = before.thread.share_until(after.thread) or 0.0
    stolen_s = after.stolen_s - before.stolen_s - 1 / ticks_per_s()
    return max(waited, stolen_s / spent_s, 0.0)


def ticks_per_s() -> int:
    """The unit of /proc/stat."""
    return os.sysconf("SC_CLK_TCK")


def stolen(proc: Path = PROC) -> dict[int, float]:
    """Seconds that each core of a virtual machine had no core so far."""
    stolen_s = {}
    for line in text_in(proc / "stat").splitlines():
        name, *fields = line.split()
        number = name.removeprefix("cpu")
        if number.isdecimal() and len(fields) >= STOLEN_FIELD:
            stolen_s[int(number)] = int(fields[STOLEN_FIELD - 1]) / ticks_per_s()
    return stolen_s

"""The GPUs of this node, one after the other: launches, copies either way, and device memory.

Each GPU has its own probe, which keeps its context, so that a look takes a tenth of a second.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

from nhalf.base.errors import FailedError, MissingError
from nhalf.base.printable import say
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Processes
from nhalf.mpi.gpu import DRIVER_VARIABLE, gpu_probe
from nhalf.node.all_cores import Asked, Look
from nhalf.node.gpu import COPY, LAUNCH

START_S, ANSWER_S = 30.0, 10.0
VISIBLE, ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"
DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""Where a driver of NVIDIA is loaded, one of these is there."""
COPIED_BYTES = 16 << 20
WITHIN_BYTES = 64 << 20
"""Twice this is more than the caches of a GPU hold."""
COPIES, LAUNCHES = 15, 101
SLICE_S = 1.0


class AllGpus:
    """Looks at GPUs through a probe for each; `numbers` are those that the system gives them."""

    def __init__(self, numbers: Sequence[str], processes: Sequence[Processes]) -> None:
        self._gpus = [
            (number, Asked(its, ANSWER_S, LAUNCHES), Asked(its, ANSWER_S, COPIES))
            for number, its in zip(numbers, processes, strict=True)
        ]

    def beside(self, look: Look) -> Look:
        """The look with the times of all GPUs, such as 'GPU 0: copies to the device'.

        Raises FailedError for wrong data, MissingError if something cannot be timed or a GPU stops
        answering; both name the GPU.
        """
        times_s = dict(look.times_s)
        for number, launches, copies in self._gpus:
            for quantity, probe, pattern, size_bytes, axes in (
                ("kernel launches", launches, LAUNCH, 0, ""),
                ("copies to the device", copies, COPY, COPIED_BYTES, ""),
                ("copies from the device", copies, COPY, COPIED_BYTES, "device-pinned"),
                ("device memory", copies, COPY, WITHIN_BYTES, "device"),
            ):
                memory = f" axis.memory={axes}" if axes else ""
                try:
                    answer = probe.point(pattern, size_bytes, SLICE_S, memory)
                except (FailedError, MissingError) as error:
                    raise type(error)(f"GPU {number}: {error.message}", error.remedy) from error
                except LaunchError as error:
                    raise MissingError(f"GPU {number} cannot be timed: {error}") from error
                times_s[f"GPU {number}: {quantity}"] = median(answer["samples_s"])
        return replace(look, times_s=times_s)


@contextmanager
def all_gpus() -> Iterator[AllGpus]:
    """Probes of all GPUs that this process may use; none, at no cost, where no driver is loaded.

    A driver that gives no GPU is told on standard error.
    """
    with ExitStack() as stack:
        try:
            has_driver = os.environ.get(DRIVER_VARIABLE) or any(map(Path.exists, DEVICES))
            probes = _started(stack) if has_driver else []
        except (LaunchError, MissingError) as error:
            say(f"GPUs are left out: {error}")
            probes = []
        yield AllGpus(_numbers(len(probes)), probes)


def _started(stack: ExitStack) -> list[Probe]:
    """A probe for each GPU, which it alone can see."""
    command = [gpu_probe()]
    order = {ORDER: os.environ.get(ORDER, "PCI_BUS_ID")}
    first = stack.enter_context(Probe(command, order, START_S))
    probes = [first]
    for entry in _entries(first.launch["gpu"]["gpus"])[1:]:
        probes.append(stack.enter_context(Probe(command, {**order, VISIBLE: entry}, START_S)))
    return probes


def _entries(count: int) -> list[str]:
    """By what the driver shows each of this process's GPUs alone."""
    chosen = os.environ.get(VISIBLE, "")
    return chosen.split(",")[:count] if chosen else [str(number) for number in range(count)]


def _numbers(count: int) -> list[str]:
    """The system's numbers of GPUs; places where they are chosen by other names."""
    entries = _entries(count)
    if all(entry.strip().isdecimal() for entry in entries):
        return [entry.strip() for entry in entries]
    return [str(number) for number in range(count)]

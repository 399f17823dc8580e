"""Buffers in the memory of NVIDIA's GPUs: what libraries need to take them, and where it is."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.folders import data_folder
from nhalf.mpi import Library
from nhalf.mpi.probe import local_executable
from nhalf.mpi.transport_files import TransportFile
from nhalf.mpi.vendors import Wheel, vendor_of
from nhalf.store.keys import parse_axes

AXIS = "memory"
DEVICE = "device"
UCX = Wheel("libucx-cu13", "1.22.0")
"""UCX with CUDA: its own wheel, since those of MPI libraries hold a UCX without."""
DRIVER = "libcuda.so.1"
DRIVER_VARIABLE = "NHALF_CUDA_LIBRARY"
"""The variable that names another file than DRIVER."""
UCX_FILES = "**/libucx/lib/libucp.so.0"


def is_in_device_memory(axes: str) -> bool:
    """Whether a point with these axes has buffers that the host cannot reach."""
    return DEVICE in parse_axes(axes).get(AXIS, "").split("-")


def asks_for_gpu(axis_texts: Iterable[str]) -> bool:
    """Whether requested values, such as 'host,device', are of memory of a GPU's driver."""
    words = {word for text in axis_texts for part in text.split(",") for word in part.split("-")}
    return not words <= {"", "host"}


PROBE = "gpu-probe"


def gpu_probe() -> str:
    """The program that measures one GPU; raises MissingError if it cannot be compiled either."""
    return str(local_executable(TransportFile(PROBE, source="node/gpu_probe.cpp")))


def gpu_folder() -> Path:
    """Where `nhalf mpi install --gpu` puts what libraries need. Raises MissingError."""
    return data_folder() / "gpu"


def ucx_folder() -> Path | None:
    """The folder of the installed UCX with CUDA; None without one."""
    with suppress(MissingError):
        files = sorted(gpu_folder().glob(f"libucx-*/{UCX_FILES}"))
        return files[-1].parent if files else None
    return None


def for_gpu(library: Library) -> Library:
    """A library with the variables with which it takes buffers in GPU memory.

    The user's own values of these variables stay. Libraries from wheels get the installed UCX with
    CUDA instead of theirs; those of sites are taken as they are.
    """
    vendor = vendor_of(library)
    settings = dict(vendor.gpu_settings)
    if vendor.gpu_over_ucx:
        folder = ucx_folder() if library.origin == "wheel" else None
        if folder is None:
            return library
        path = library.environment.get("LD_LIBRARY_PATH", "")
        settings["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [str(folder), path]))
    own = {name for name in settings if name in os.environ and name != "LD_LIBRARY_PATH"}
    settings = {name: value for name, value in settings.items() if name not in own}
    return replace(library, environment={**library.environment, **settings})


def how_to_take_gpu_memory(library: Library | None) -> str:
    """What to do so that a library takes buffers in GPU memory."""
    if library is None:
        return "choose transport mpi"
    vendor = vendor_of(library)
    if vendor.gpu_over_ucx and library.origin == "wheel" and ucx_folder() is None:
        return f"install UCX with CUDA beside it: nhalf mpi install {library.vendor} --gpu"
    return "take a library that was built with CUDA, or memory=pinned"

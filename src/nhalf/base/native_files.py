"""Paths of the compiled probes and the C++ headers."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

from nhalf.base.errors import MissingError

VARIABLE = "NHALF_NATIVE_DIR"
REMEDY = f"build it with `make setup`, or set {VARIABLE} to the folder that holds bin and include"


def native_folder() -> Path:
    """The folder with bin/ and include/: NHALF_NATIVE_DIR, or else the one in the package.

    Raises MissingError if it is not there.
    """
    override = os.environ.get(VARIABLE)
    folder = (
        Path(os.path.realpath(os.path.expanduser(override)))
        if override
        else Path(__file__).parents[1] / "_native"
    )
    if not os.path.isdir(folder):
        raise MissingError(f"the compiled part of nhalf is not at {folder}", REMEDY)
    return folder


def executable(name: str) -> Path:
    """A compiled program such as 'probe-model'.

    Raises MissingError if it was not built.
    """
    path = native_folder() / "bin" / name
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        raise MissingError(f"{name} was not built: {path} is not an executable file", REMEDY)
    return path


@functools.cache
def library(name: str) -> ctypes.CDLL:
    """A compiled library such as 'libnhalf_network.so', loaded into this process once.

    Raises MissingError if it was not built, or is another processor's.
    """
    path = native_folder() / "lib" / name
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise MissingError(f"{name} cannot be loaded: {error}", REMEDY) from error


def include_folder() -> Path:
    """The folder of the C++ headers: contract/, probe/, transports/, patterns/.

    Raises MissingError if it is not there.
    """
    folder = native_folder() / "include"
    if not folder.is_dir():
        raise MissingError(f"the headers of nhalf are not at {folder}", REMEDY)
    return folder

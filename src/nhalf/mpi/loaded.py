"""Libraries that a transport loads when it runs: where they are, and how they are installed."""

import ctypes.util
import os
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.transport_files import TransportFile


def with_loaded(library: Library, transport: TransportFile) -> Library:
    """An MPI library with the variable that says where a transport's own library is.

    It is the file that the user names, else that of its wheel beside nhalf, else what the system
    finds by its name. Raises MissingError if there is none.
    """
    if not transport.loads:
        return library
    name, variable, module, package = transport.loads
    chosen = os.environ.get(variable, "")
    if chosen and not Path(chosen).is_file():
        raise MissingError(f"{variable} names {chosen}, which is not a file", "name a library")
    file = chosen or _of_wheel(module, name)
    if file:
        return replace(library, environment={**library.environment, variable: file})
    if not _is_on_path(name):
        remedy = f"pip install {package}, or name its file in {variable}"
        raise MissingError(f"transport {transport.name} needs {name}, which is not here", remedy)
    return library


def _of_wheel(module: str, name: str) -> str:
    """The file in a wheel of this Python, '' without one."""
    with suppress(ModuleNotFoundError):
        spec = find_spec(module)
        for folder in (spec and spec.submodule_search_locations) or []:
            if (path := Path(folder) / "lib" / name).is_file():
                return str(path)
    return ""


def _is_on_path(name: str) -> bool:
    """Whether the system's loader has a file of this name."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    plain = name.removeprefix("lib").partition(".so")[0]
    return any((Path(folder) / name).is_file() for folder in folders if folder) or (
        ctypes.util.find_library(plain) == name
    )

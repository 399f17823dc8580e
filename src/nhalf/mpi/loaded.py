"""Libraries that a transport loads when it runs: where they are, and how they are installed."""

import ctypes.util
import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.mpi.transport_files import TransportFile


def loaded_variables(transport: TransportFile) -> dict[str, str]:
    """The variable that says where a transport's own library is; none where its name suffices.

    It is the file that the user names, else that of its wheel beside nhalf, else what the system
    finds by its name. Raises MissingError if there is none.
    """
    if not transport.loads:
        return {}
    name, variable, module, package = transport.loads
    chosen = os.environ.get(variable, "")
    if chosen and not Path(chosen).is_file():
        message = f"{variable} names {chosen}, which is not a file"
        raise MissingError(message, f"name the file of {name}, or unset {variable}")
    if path := chosen or _of_wheel(module, name):
        return {variable: path}
    if not _is_on_path(name):
        remedy = f"pip install {package}, or name its file in {variable}"
        raise MissingError(f"transport {transport.name} needs {name}, which is not here", remedy)
    return {}


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
    folders = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    plain = name.removeprefix("lib").partition(".so")[0]
    return any((Path(folder) / name).is_file() for folder in folders) or (
        ctypes.util.find_library(plain) == name
    )

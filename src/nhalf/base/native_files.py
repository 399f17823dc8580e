"""nhalf's own compiled programs: where they and C++ headers are, and what they say of themselves.

Nothing else runs and checks `--describe`.
"""

import ctypes
import functools
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from nhalf.base.errors import MissingError
from nhalf.base.processes import run

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


def library(name: str) -> ctypes.CDLL:
    """A compiled library such as 'libnhalf_network.so', loaded into this process once.

    Raises MissingError if it was not built, or is another processor's.
    """
    return _loaded(name, os.environ.get(VARIABLE))


@functools.cache
def _loaded(name: str, override: str | None) -> ctypes.CDLL:
    """A library, looked for once: it is asked often. Its functions keep their declared types."""
    try:
        return ctypes.CDLL(str(native_folder() / "lib" / name))
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


TIMEOUT_S = 30.0
DESCRIPTION_REMEDY = "nhalf doctor shows what is wrong and how to fix it"


def describe(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The description that a program prints: one line with a JSON object that has its patterns.

    `environment` is added to the current one. Each program is run once per process. Raises
    MissingError, with the program's own message, if it fails or prints no description.
    """
    description, reason = _description(tuple(command), tuple(sorted((environment or {}).items())))
    if reason:
        raise MissingError(reason, DESCRIPTION_REMEDY)
    return description


def why_not_described(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Why a program does not describe itself, '' if it does."""
    return _description(tuple(command), tuple(sorted((environment or {}).items())))[1]


@functools.cache
def _description(
    command: tuple[str, ...], variables: tuple[tuple[str, str], ...]
) -> tuple[dict[str, Any], str]:
    """The description of a program, and the reason if there is none, else ''."""
    outcome = run([*command, "--describe"], TIMEOUT_S, dict(variables))
    name = Path(command[0]).name
    if not outcome.succeeded:
        return {}, f"{name} --describe: {outcome.reason}"
    for line in outcome.stdout.splitlines():
        with suppress(ValueError):
            description = json.loads(line)
            if isinstance(description, dict) and "patterns" in description:
                return description, ""
    return {}, f"{name} --describe does not answer with a description"

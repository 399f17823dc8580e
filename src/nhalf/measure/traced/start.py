"""Start a command whose MPI calls are counted."""

from __future__ import annotations

import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from nhalf.base.errors import InputError, MissingError, Terminated
from nhalf.base.files import write_bytes
from nhalf.base.launch.launch import Launch, unheard_mark
from nhalf.measure.traced.injection import VARIABLE as INJECTED
from nhalf.measure.traced.injection import Injection
from nhalf.measure.traced.preloaded import tracing_libraries
from nhalf.measure.traced.tables import DESCRIPTION
from nhalf.measure.traced.virtual_machine import refuse_inside
from nhalf.mpi.sanitizers import sanitizer_variables

RANKS = "ranks"
"""The folder for the files of ranks, below that of the trace."""
STARTED = "started.json"
DETAILS = ("counts", "timeline")
PRELOAD = "LD_PRELOAD"
TERMINATED_S = 30.0
"""How long a command may take to write what it has when it is to end, as in a job under Slurm."""
REMEDY = "give the command after --"
NOTHING = Injection()
_OPTIONS = ("-env", "-genv", "--env")


class StartedCommand(msgspec.Struct):
    """The started command, recorded before it runs.

    `lacking` lists which programs could not be traced, and why.
    """

    command: list[str]
    library: str
    detail: str
    begin_ns: int
    lacking: list[str] = []


def start(command: Sequence[str], folder: Path, detail: str, injection: Injection = NOTHING) -> int:
    """Run a command with its ranks writing below a folder; return its exit code. What is injected
    makes it slower.

    Raises InputError for a folder that already holds a trace or a command that does not exist,
    MissingError if no library can trace it or the folder cannot be made.
    """
    if detail not in DETAILS:
        raise InputError(f"there is no detail {detail!r}", f"give one of {', '.join(DETAILS)}")
    refuse_inside()
    # Preparing a library may take a minute: check first what can be checked at once.
    if shutil.which(command[0]) is None:
        raise InputError(f"cannot start {command[0]}: there is no such program", REMEDY)
    ranks = _made(folder)
    tracing = tracing_libraries(command)
    for line in tracing.lacking:
        sys.stderr.write(f"nhalf: {line}\n")
    began = StartedCommand(list(command), tracing.names, detail, time.time_ns(), tracing.lacking)
    write_bytes(folder / STARTED, msgspec.json.encode(began))
    loaded = ":".join(map(str, tracing.libraries))
    variables = {
        PRELOAD: _before(loaded, os.environ.get(PRELOAD, "")),
        **sanitizer_variables(os.environ),
        "NHALF_TRACE_FOLDER": str(ranks.resolve()),
        "NHALF_TRACE_DETAIL": detail,
        "NHALF_TRACE_BEGIN_NS": str(began.begin_ns),
    }
    if injection.added:
        variables[INJECTED] = injection.variable()
    return _run(with_preload(command, loaded), variables)


def with_preload(command: Sequence[str], loaded: str) -> list[str]:
    """Return the command with the libraries put first wherever it sets LD_PRELOAD itself."""
    words = list(command)
    for name, first in ((PRELOAD, loaded), *sanitizer_variables({}).items()):
        for at, word in enumerate(words):
            if word.startswith(f"{name}="):
                words[at] = f"{name}={_before(first, word.partition('=')[2])}"
            elif word == name and at > 0 and words[at - 1] in _OPTIONS and at + 1 < len(words):
                words[at + 1] = _before(first, words[at + 1])
    return words


def _before(loaded: str, present: str) -> str:
    return f"{loaded}:{present}" if present else loaded


def _made(folder: Path) -> Path:
    """Make the folder for ranks."""
    ranks = folder / RANKS
    if ranks.exists() or (folder / DESCRIPTION).exists():
        raise InputError(f"{folder} holds a trace already", "choose another --out")
    try:
        ranks.mkdir(parents=True)
    except OSError as error:
        raise MissingError(
            f"the trace cannot be kept in {folder}: {error.strerror}",
            "choose another folder with --out",
        ) from error
    return ranks


def _run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run a command; return its exit code as shells do: 128 plus the signal if it was killed."""
    surroundings = {**os.environ, **variables}
    try:
        launch = Launch(command, surroundings, mark=unheard_mark(), keeps_terminal=True)
    except OSError as error:
        raise InputError(f"cannot start {command[0]}: {error.strerror}", REMEDY) from error
    with launch:
        try:
            launch.wait()
        except KeyboardInterrupt as error:
            # The command is interrupted as well and may still write its results; a further Ctrl-C
            # ends it.
            launch.send_signal(signal.SIGTERM)
            launch.wait(TERMINATED_S if isinstance(error, Terminated) else math.inf)
    return launch.exit_code

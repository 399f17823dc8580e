"""What a module file does, whichever language it is written in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from nhalf.experiment.improve.winner import Winner
from nhalf.mpi.launch_settings import FOR_RANKS

PATHS = ("LD_LIBRARY_PATH", "PATH")
"""Variables to which a module adds folders; what others have in them stays."""
SEPARATOR = ":"


class ModuleLine(NamedTuple):
    """One thing that a module does: sets a variable, takes it away, or puts folders before it."""

    action: Literal["setenv", "unsetenv", "prepend"]
    name: str
    value: str = ""


def module_problem(winner: Winner) -> str:
    """Why a module cannot switch a winner on, '' if it can: it sets variables for the whole shell.

    The plain command has to be the one that is proven, but for a launcher that is found by PATH.
    """
    plain, improved = winner.plain, winner.improved
    inside = [name for name in FOR_RANKS if any(w.startswith(f"{name}=") for w in improved.inside)]
    if inside and plain.inside != improved.inside:
        return f"a module would set {inside[0]} for every program, not for this one alone"
    before = (plain.before, plain.options, plain.inside)
    if before != (improved.before, improved.options, improved.inside):
        return "a module does not change the options of the command"
    if plain.launcher != improved.launcher and not _is_found(winner):
        return "a module does not change which launcher the command names"
    return ""


def module_lines(winner: Winner) -> Iterator[ModuleLine]:
    """What a module does, in order."""
    for name in winner.gone:
        yield ModuleLine("unsetenv", name)
    if winner.plain.launcher != winner.improved.launcher:
        yield ModuleLine("prepend", "PATH", str(Path(winner.improved.launcher[0]).parent))
    for name, value in winner.exported.items():
        if name in PATHS:
            yield ModuleLine("prepend", name, _before(value, winner.plain.environment.get(name)))
        else:
            yield ModuleLine("setenv", name, value)


def _is_found(winner: Winner) -> bool:
    """Whether the improved launcher takes the plain one's place when its folder is in PATH."""
    plain, improved = winner.plain.launcher, winner.improved.launcher
    is_one = len(plain) == len(improved) == 1
    return is_one and plain[0] == Path(plain[0]).name == Path(improved[0]).name


def _before(value: str, end: str | None) -> str:
    """The folders of a path without those that it ends with."""
    return value.removesuffix(f"{SEPARATOR}{end}") if end else value

"""Two sides that are commands, as a user names them: scripts, traces or command lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.experiment.why.sides.commands import pair, started
from nhalf.experiment.why.sides.launching import (
    MixtureLauncher,
    limits,
    runs_virtually,
    takes_the_same,
)
from nhalf.experiment.why.switch import SettableDifference
from nhalf.experiment.why.ways import Ways
from nhalf.measure.launches.printed_time import printed_time
from nhalf.measure.traced.tables import Trace, is_trace, open_trace
from nhalf.mpi import Library
from nhalf.mpi.launch_script import LaunchScript, read_script

WALL, PRINTED, VIRTUAL = "wall clock", "printed time", "virtual time"


@dataclass(frozen=True)
class CommandTiming:
    """How launches of commands are timed: `seconds` is a pattern of the output, '' without one."""

    seconds: str
    timeout_s: float


def command_ways(
    a: LaunchScript, b: LaunchScript, timing: CommandTiming, installed: Sequence[Library]
) -> Ways:
    """Two commands, ready for the search. Raises InputError for a pattern that is none."""
    commands = pair(started(a, installed), started(b, installed))
    printed = printed_time(timing.seconds)
    timed = PRINTED if printed else VIRTUAL if runs_virtually(commands) else WALL
    launching = MixtureLauncher(commands, printed)
    is_exact = printed is None and takes_the_same(commands)
    return Ways(
        commands.switches, launching, timed, are_exact=is_exact, limits=limits(timing.timeout_s)
    )


def script_of(place: Path) -> LaunchScript:
    """The command of a script or of a trace. Raises InputError for anything else."""
    if is_trace(place):
        command = tuple(open_trace(place).trace.command)
        return LaunchScript(command, dict(os.environ), Path.cwd())
    return read_script(place)


def recorded_differences(a: Trace, b: Trace) -> list[SettableDifference]:
    """What two traces say of their surroundings, which no launch can switch."""
    sides = [(trace.library, ", ".join(_hosts(trace))) for trace in (a, b)]
    names = ("library", "hosts")
    return [
        SettableDifference(name, was, became)
        for name, was, became in zip(names, *sides, strict=True)
        if was != became
    ]


def _hosts(trace: Trace) -> list[str]:
    return sorted({rank.host for rank in trace.ranks})

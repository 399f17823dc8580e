"""Launches of commands, timed: by the wall clock, by what they print, or in virtual time."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.base.errors import NhalfError
from nhalf.base.launch.survivor import Survivor
from nhalf.experiment.turns import LaunchFailed, LaunchStopped, Limits
from nhalf.experiment.why.sides.commands import CommandPair, SideCommand
from nhalf.experiment.why.switch import Mixture
from nhalf.measure.launches.printed_time import PrintedTime, counted_s
from nhalf.measure.launches.timed import run_timed
from nhalf.mpi.launch_options import launcher_options, option_value
from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.mpi.launch_words import TRIAL
from nhalf.mpi.trial_noise import with_new_noise

FACTOR_MOST = 20.0
"""A mixture that takes this much longer than the longest launch so far is stopped."""
LEAST_S = 20.0
"""No launch is stopped before, unless `timeout_s` says so."""


@dataclass
class MixtureLauncher:
    """Launches mixtures of two commands; without a printed time the clock's counts."""

    commands: CommandPair
    printed_time: PrintedTime | None
    finished: int = field(default=0, init=False)

    def __call__(self, mixture: Mixture, limit_s: float) -> float:
        """The time of one launch, seconds; raises LaunchFailed without one."""
        with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-why-")) as folder:
            try:
                started = self.commands.mixed(mixture)
                launch = with_new_noise(in_folder(started), self.finished + 1)
                timed = run_timed(launch, Path(folder, "launch"), limit_s)
                if timed.problem:
                    raise (LaunchStopped if timed.stopped else LaunchFailed)(timed.problem)
                time_s = counted_s(timed, self.printed_time)
            except LaunchFailed:
                raise
            except NhalfError as error:
                raise LaunchFailed(str(error)) from error
        self.finished += 1
        return time_s


def limits(timeout_s: float) -> Limits:
    """When launches are ended: the first two, which are those of A and B, after a timeout."""
    return Limits(FACTOR_MOST, least_s=LEAST_S, most_s=timeout_s, first_launches=2)


def runs_virtually(commands: CommandPair) -> bool:
    """Whether both commands run in virtual time."""
    return all(side.launch.family == TRIAL for side in (commands.a, commands.b))


def takes_the_same(commands: CommandPair) -> bool:
    """Whether all launches of either side take the same virtual time.

    They do not with noise, and where computing counts.
    """
    options = [launcher_options(side.launch) for side in (commands.a, commands.b)]
    varies = any("noise" in side or _computes(side) for side in options)
    return runs_virtually(commands) and not varies


def _computes(options: Mapping[str, Sequence[str]]) -> bool:
    return option_value(options.get("computing", ("none",))) != "none"


def in_folder(started: SideCommand) -> LaunchCommand:
    """The launch in its folder."""
    if started.folder == Path.cwd():
        return started.launch
    before = ("env", "-C", str(started.folder), *started.launch.before)
    return replace(started.launch, before=before)

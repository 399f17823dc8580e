"""Real launches of a program for a search: timed, and compared with the plain one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import FailedError, InputError
from nhalf.experiment.improve.candidate import PLAIN, Setting
from nhalf.experiment.improve.change import applied
from nhalf.experiment.improve.same_output import SameOutput
from nhalf.experiment.turns import LaunchFailed, LaunchStopped
from nhalf.measure.launches.printed_time import PrintedTime, counted_s
from nhalf.measure.launches.timed import TimedLaunch, run_timed
from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.mpi.trial_noise import with_new_noise


@dataclass
class ProgramBench:
    """Runs a launch with any setting; outputs go below a folder, where the first plain one stays.

    The time of a launch whose output differs from the plain one's does not count. Without a
    printed time the clock's counts.
    """

    launch: LaunchCommand
    same_output: SameOutput
    folder: Path
    printed_time: PrintedTime | None = None
    plain: TimedLaunch | None = None
    launches: int = 0

    def __call__(self, setting: Setting, limit_s: float) -> float:
        """The time of one launch of a setting, seconds; raises LaunchFailed without one.

        Raises InputError if two plain launches differ in what must be the same.
        """
        self.launches += 1
        folder = self.folder / str(self.launches)
        tuning = self.folder / f"{self.launches}-rules" / "rules"
        changed = applied((candidate.change for candidate in setting), self.launch, tuning)
        launched = run_timed(with_new_noise(changed, self.launches), folder, limit_s)
        shutil.rmtree(tuning.parent, ignore_errors=True)
        if self.plain is None and setting == PLAIN:
            self.plain = launched
        problem = launched.problem or self._difference(launched)
        if problem and setting == PLAIN and not launched.problem:
            raise InputError(
                "two launches of the plain program differ in their output",
                "name a command that compares what matters: --same-output COMMAND",
            )
        try:
            if problem:
                raise (LaunchStopped if launched.stopped else LaunchFailed)(problem)
            return counted_s(launched, self.printed_time)
        except FailedError as error:
            if setting == PLAIN or isinstance(error, LaunchFailed):
                raise
            raise LaunchFailed(str(error)) from error
        finally:
            if launched is not self.plain:
                shutil.rmtree(launched.folder, ignore_errors=True)

    def _difference(self, launched: TimedLaunch) -> str:
        if self.plain in (None, launched):
            return ""
        return self.same_output.difference(self.plain.stdout, launched.stdout)

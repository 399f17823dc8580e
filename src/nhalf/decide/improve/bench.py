# SPDX-License-Identifier: Apache-2.0
"""Real launches of a program for a search: timed, and compared with the plain one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.decide.improve.candidate import PLAIN, Setting
from nhalf.decide.improve.change import applied
from nhalf.decide.improve.same_output import SameOutput
from nhalf.decide.improve.turns import Launched
from nhalf.measure.launches.timed import TimedLaunch, run_timed
from nhalf.mpi.launch_settings import LaunchCommand


@dataclass
class Bench:
    """Runs a launch with any setting; outputs go below a folder, where the first plain one stays.

    The time of a launch whose output differs from the plain one's does not count.
    """

    launch: LaunchCommand
    same_output: SameOutput
    folder: Path
    plain: TimedLaunch | None = None
    launches: int = 0

    def __call__(self, setting: Setting, limit_s: float) -> Launched:
        """Launch a setting once.

        Raises InputError if two plain launches differ in what must be the same.
        """
        self.launches += 1
        folder = self.folder / str(self.launches)
        tuning = self.folder / f"{self.launches}-rules" / "rules"
        changed = applied((candidate.change for candidate in setting), self.launch, tuning)
        launched = run_timed(changed, folder, limit_s)
        shutil.rmtree(tuning.parent, ignore_errors=True)
        if self.plain is None and setting == PLAIN:
            self.plain = launched
            return Launched(launched.time_s, launched.problem)
        problem = launched.problem or self._difference(launched)
        if problem and setting == PLAIN and not launched.problem:
            raise InputError(
                "two launches of the plain program differ in their output",
                "name a command that compares what matters: --same-output COMMAND",
            )
        shutil.rmtree(launched.folder, ignore_errors=True)
        return Launched(launched.time_s, problem, is_stopped=bool(launched.stopped))

    def _difference(self, launched: TimedLaunch) -> str:
        if self.plain is None:
            return ""
        return self.same_output.difference(self.plain.stdout, launched.stdout)

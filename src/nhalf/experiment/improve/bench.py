"""Real launches of a program for a search: timed, and their output compared with the first's."""

import filecmp
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import FailedError, InputError
from nhalf.base.processes import run
from nhalf.experiment.improve.change import PLAIN, Setting, applied
from nhalf.experiment.turns import LaunchFailed, LaunchStopped
from nhalf.measure.launches.timed import PrintedTime, TimedLaunch, counted_s, run_timed
from nhalf.mpi.launch_settings import LaunchCommand, with_new_noise

EXACT = "exact"
COMMAND_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class SameOutput:
    """How outputs are compared.

    `how` is '' if only the exit code counts, `exact` for equal standard output, or a command that
    gets two files, the plain program's standard output and the candidate's, and ends with 0 if
    they are the same.
    """

    how: str = ""

    def __post_init__(self) -> None:
        """Raises InputError for a command that cannot be read, or is not there."""
        if self.how in ("", EXACT):
            return
        words = self._words()
        if shutil.which(words[0]) is None:
            raise InputError(
                f"outputs cannot be compared: there is no command {words[0]}",
                "name a command that compares two files, or exact",
            )

    def difference(self, plain: Path, candidate: Path) -> str:
        """How two files of standard output differ; '' if they are the same."""
        if not self.how:
            return ""
        if self.how == EXACT:
            return "" if filecmp.cmp(plain, candidate, shallow=False) else "its output differs"
        command = [*self._words(), str(plain), str(candidate)]
        outcome = run(command, COMMAND_TIMEOUT_S)
        if outcome.exit_code is None:
            raise InputError(
                f"outputs cannot be compared: {self._words()[0]} {outcome.stopped}",
                "give a command that reads two files, or exact",
            )
        return "" if outcome.succeeded else f"its output differs ({outcome.reason})"

    def _words(self) -> list[str]:
        try:
            words = shlex.split(self.how)
        except ValueError as error:
            raise InputError(
                f"--same-output {self.how!r} cannot be read: {error}", "mind the quotes"
            ) from error
        return words if words or not self.how else [self.how]


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

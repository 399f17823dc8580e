"""Whether a candidate's launch gave the same results as the plain one, so that it may be used."""

from __future__ import annotations

import filecmp
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.processes import run

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

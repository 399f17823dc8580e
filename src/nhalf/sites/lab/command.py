"""Run a system command that has to succeed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nhalf.base.errors import FailedError
from nhalf.base.processes import ProgramOutcome, run

TIMEOUT_S = 30.0
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")


def system_path() -> str:
    """PATH with the folders of system commands, which `su` and `cron` leave out."""
    folders = os.environ.get("PATH", "").split(":")
    return ":".join([*folders, *(folder for folder in SYSTEM_FOLDERS if folder not in folders)])


def attempt(command: Sequence[str], text: str = "", timeout_s: float = TIMEOUT_S) -> ProgramOutcome:
    """Run a command, with `text` on its standard input; the caller handles its outcome."""
    return run(command, timeout_s, {"PATH": system_path(), "LC_ALL": "C"}, text)


def must(command: Sequence[str], text: str = "", timeout_s: float = TIMEOUT_S) -> str:
    """Run a command and return its output; raises FailedError with the reason if it fails."""
    outcome = attempt(command, text, timeout_s)
    if not outcome.succeeded:
        raise FailedError(f"{' '.join(command[:4])} did not succeed: {outcome.reason}")
    return outcome.stdout

"""The time that a program prints of itself, found in its output by a pattern."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

from nhalf.base.errors import FailedError, InputError
from nhalf.measure.launches.timed import TimedLaunch

OUTPUT_BYTES_MAX = 1 << 24
"""No more than this of the end of an output is searched."""


@dataclass(frozen=True)
class PrintedTime:
    """A pattern whose first group is the time in seconds."""

    pattern: re.Pattern[str]

    def of(self, launch: TimedLaunch) -> float:
        """The last time that a launch printed, seconds, in standard output before errors.

        Raises FailedError if it printed none.
        """
        for path in (launch.stdout, launch.stderr):
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - OUTPUT_BYTES_MAX))
                text = file.read().decode(errors="replace")
            matches = list(self.pattern.finditer(text))
            with suppress(IndexError, ValueError, TypeError):
                return float(matches[-1][1])
        raise FailedError(
            f"no number in the output matches {self.pattern.pattern!r}",
            "see what the program prints, and name its time by --seconds",
        )


def counted_s(launch: TimedLaunch, printed: PrintedTime | None) -> float:
    """The time of a launch that counts, seconds: the printed one if there is a pattern.

    Raises FailedError if it printed none.
    """
    return launch.time_s if printed is None else printed.of(launch)


def printed_time(text: str) -> PrintedTime | None:
    """The pattern of an option --seconds; None for ''. Raises InputError if it is no pattern."""
    if not text:
        return None
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise InputError(f"--seconds {text!r} is no pattern: {error}", "see Python's re") from error
    if pattern.groups == 0:
        raise InputError(
            f"--seconds {text!r} has no group for the number",
            "put it in parentheses: 'time = ([0-9.]+)'",
        )
    return PrintedTime(pattern)
